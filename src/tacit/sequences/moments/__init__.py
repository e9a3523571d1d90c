"""Counts of windows, prefixes and substrings."""
