"""Learning trees: structure, starts, spectral learning, EM, selection."""
