"""Translations against references: sacrebleu's scores with their signatures, and tests of whether systems differ."""
