"""The grammar and lexicon that write the embedded English-Galician corpus."""
