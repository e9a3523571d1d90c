"""Sequences of symbols and of numbers, read from any supported input."""
