"""Moments of words of the same document."""
