"""Batches -> logits: encoders, attention and decoders, which meet only in the values of `nmt.model.interface`."""
