"""Compiled loops of trees: counting, latent classes, distances, joining."""
