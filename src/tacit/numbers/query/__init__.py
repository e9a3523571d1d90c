"""Densities, means, quantiles and conditionals of numbers."""
