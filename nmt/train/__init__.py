"""Training: loss, schedules, the loop and its checkpoints."""
