"""Compiled loops of experiments: alignment of words, phrases, and beam search."""
