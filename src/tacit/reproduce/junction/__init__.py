"""Experiments with latent junction trees (thesis, chapter 5)."""
