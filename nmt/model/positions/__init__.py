"""Positions: what tells a Transformer where a token stands. One protocol, four hooks that default to nothing."""
