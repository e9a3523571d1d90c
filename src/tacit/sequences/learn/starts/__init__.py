"""Starts for EM on sequences."""
