"""Plots: one function per picture; each takes `ax` and returns `Axes`."""

from tacit.plot.chains import transitions
from tacit.plot.densities import conditional_density
from tacit.plot.forecasts import forecast
from tacit.plot.parse_trees import parse
from tacit.plot.posteriors import posterior
from tacit.plot.spectra import singular_values
from tacit.plot.states import states
from tacit.plot.topic_weights import topics
from tacit.plot.trees import tree

__all__ = [
    "conditional_density",
    "forecast",
    "parse",
    "posterior",
    "singular_values",
    "states",
    "topics",
    "transitions",
    "tree",
]
