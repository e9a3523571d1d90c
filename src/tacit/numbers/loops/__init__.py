"""Compiled loops of Gaussians."""
