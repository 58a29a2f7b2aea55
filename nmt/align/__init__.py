"""From attention weights to what a person can read: matrix of words -> links -> AER -> files, heatmap, inspector."""
