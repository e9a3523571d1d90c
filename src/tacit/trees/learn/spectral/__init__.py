"""Spectral learning of trees: observable operators and probability tables."""
