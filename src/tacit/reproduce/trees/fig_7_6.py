"""Thesis, figure 7.6: diagonally dominant tables on a tree of 3 children and depth 3."""

from tacit.reproduce.trees.diagonals import experiment

EXPERIMENT = experiment("fig-7.6", "t33")
