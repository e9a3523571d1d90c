"""Gaussians on trees, mixtures of Gaussians."""
