"""Experiments with automata (survey)."""
