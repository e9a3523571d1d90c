"""Matrices to factors: singular vectors, linear systems, moment decompositions."""
