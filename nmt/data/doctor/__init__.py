"""The doctor of parallel corpora: what is wrong with their lines and pairs, where, and the same text mended."""
