"""The four ids that every vocabulary of ours begins with; they never stand inside an encoded line."""

from __future__ import annotations

UNK, BOS, EOS, PAD = range(4)
