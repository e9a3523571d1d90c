"""Thesis, figure 7.7: diagonally dominant tables on a tree of 4 children and depth 3."""

from tacit.reproduce.trees.diagonals import experiment

EXPERIMENT = experiment("fig-7.7", "t43")
