"""From a decoder's distributions to finished translations: greedy and beam search over any model."""
