"""Counts of n-grams."""
