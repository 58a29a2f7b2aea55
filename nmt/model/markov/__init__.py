"""A translation model that is an aligner: hidden Markov alignments with neural word translation."""
