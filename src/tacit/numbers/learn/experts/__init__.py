"""Experts beside a tree: their EM, the candidates, and which of them are kept."""
