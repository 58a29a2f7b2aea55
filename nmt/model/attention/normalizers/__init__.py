"""Normalizers: energies -> weights."""
