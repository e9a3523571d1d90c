"""Moments of rows of numbers up to the third."""
