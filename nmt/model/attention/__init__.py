"""Attention = score + window + normalizer, three axes that combine freely; a paper's name is a preset in configs/."""
