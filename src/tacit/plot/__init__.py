"""How it looks: one function per picture; each takes `ax` and returns `Axes`."""

from tacit.plot.spectra import singular_values
from tacit.plot.trees import tree

__all__ = ["singular_values", "tree"]
