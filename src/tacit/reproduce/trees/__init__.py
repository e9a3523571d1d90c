"""Experiments with latent trees (thesis, chapters 4 and 7; Song et al.)."""
