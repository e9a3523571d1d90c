"""Experiments with kernel trees (thesis, chapter 6)."""
