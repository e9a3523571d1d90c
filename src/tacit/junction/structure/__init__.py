"""Graphs, and the junction trees made of them."""
