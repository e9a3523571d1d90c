"""Sequences of symbols and of numbers, read from whatever holds them."""
