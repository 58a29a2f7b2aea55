"""The Transformer: layers, encoder and decoder (Vaswani 2017)."""
