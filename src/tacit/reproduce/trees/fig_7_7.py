"""Thesis, figure 7.7: diagonally dominant tables on a tree of 4 children and depth 3."""

from tacit.reproduce.trees.fig_7_6 import diagonals

EXPERIMENT = diagonals("fig-7.7", "t43")
