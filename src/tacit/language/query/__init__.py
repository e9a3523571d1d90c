"""Probabilities of words and lines."""
