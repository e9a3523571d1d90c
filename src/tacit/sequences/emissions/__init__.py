"""What the states of hidden Markov models emit: a module for each kind, and the table of them.

A new kind has a module with a class that `protocol.Emission` describes, a line in `EMISSIONS`, a test, and a
paragraph in ``docs/models/hmm.rst``.
"""

from __future__ import annotations

from typing import Any

from tacit.core.arguments import check_choice
from tacit.sequences.data.number_sequences import holds_numbers
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
    """The kind of a name; of "auto" the usual one of numbers, or of symbols, whatever X holds."""
    check_choice("emissions", name, ("auto", *EMISSIONS))
    if name == "auto":
        name = "gaussian" if holds_numbers(X) else "categorical"
    return EMISSIONS[name]


def emission_of(parameters: Any) -> Emission:
    """The kind that the parameters of a fitted model are of."""
    return next(each for each in EMISSIONS.values() if isinstance(parameters, each.kinds))
