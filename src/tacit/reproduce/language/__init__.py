"""Experiments with language models (thesis, chapter 9)."""
