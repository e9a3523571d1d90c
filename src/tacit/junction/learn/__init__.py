"""Learning junction trees: plan, start, spectral, EM."""
