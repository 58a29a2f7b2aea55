"""The recurrent encoder-decoder: encoder, stack of cells, bridge, wiring and decoder."""
