"""What the states of hidden Markov models emit: a module for each kind, and the table of them.

A new kind has a module with a class that `protocol.Emission` describes, a line in `EMISSIONS`, a test, and a
paragraph in ``docs/models/hmm.rst``.
"""

from __future__ import annotations

from typing import Any

from tacit.core.arguments import check_choice
from tacit.sequences.emissions.categorical import Categorical
from tacit.sequences.emissions.gaussian import Gaussian
from tacit.sequences.emissions.poisson import Poisson
from tacit.sequences.emissions.protocol import Emission

EMISSIONS: dict[str, Emission] = {
    "categorical": Categorical(),
    "gaussian": Gaussian(),
    "poisson": Poisson(),
}


def emission_for(name: str, X: Any) -> Emission:
    """The emission of a name; of "auto", the first that is the default for X."""
    check_choice("emissions", name, ("auto", *EMISSIONS))
    if name == "auto":
        return next(kind for kind in EMISSIONS.values() if kind.is_default_for(X))
    return EMISSIONS[name]


def emission_of(parameters: Any) -> Emission:
    """The emission that parameters of a fitted model belong to."""
    return next(
        emission for emission in EMISSIONS.values() if isinstance(parameters, emission.kinds)
    )
