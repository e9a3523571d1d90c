"""Moments of homogeneous chains."""
