"""What the states of hidden Markov models emit: a module for each kind, and the table of them.

A new kind has a module with a class that `protocol.SymbolEmission` or `protocol.NumberEmission` describes, a
line in `EMISSIONS`, a test, and a paragraph in ``docs/models/hmm.rst``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.core.arguments import check_choice
from tacit.core.files.fields import Array, Field, OneOf, Record
from tacit.core.files.ranges import probabilities
from tacit.sequences.emissions.categorical import Categorical
from tacit.sequences.emissions.density_emission import DensityEmission
from tacit.sequences.emissions.gaussian import Gaussian
from tacit.sequences.emissions.gaussian_mixture import GaussianMixture
from tacit.sequences.emissions.mixed import Mixed
from tacit.sequences.emissions.mixed_density import MIXED_DENSITY, MixedDensity
from tacit.sequences.emissions.multinomial import Multinomial
from tacit.sequences.emissions.negative_binomial import NegativeBinomial
from tacit.sequences.emissions.poisson import Poisson
from tacit.sequences.emissions.protocol import Emission
from tacit.sequences.emissions.shape_files import DURATIONS, SHAPE
from tacit.sequences.emissions.von_mises import VonMises
from tacit.sequences.model.emission_chain import EmissionChain
from tacit.sequences.model.shapes import Shape

EMISSIONS: dict[str, Emission] = {
    "categorical": Categorical(),
    "gaussian": Gaussian(),
    "gaussian-mixture": GaussianMixture(),
    "poisson": Poisson(),
    "negative-binomial": NegativeBinomial(),
    "multinomial": Multinomial(),
    "von-mises": VonMises(),
}


def emission_for(name: str | Mapping[Any, Any], X: Any) -> Emission:
    """The emission of a name, or of columns with kinds; of "auto", the first that is the default for X."""
    if isinstance(name, Mapping):
        return Mixed.of(name)
    check_choice("emissions", name, ("auto", *EMISSIONS))
    if name == "auto":
        return next(kind for kind in EMISSIONS.values() if kind.is_default_for(X))
    return EMISSIONS[name]


def emission_of(parameters: Any, emissions: Any = None) -> Emission:
    """The emission that parameters of a fitted model belong to, with the roles that `emissions` names."""
    if isinstance(parameters, EmissionChain):
        if isinstance(parameters.density, MixedDensity):
            return Mixed.of_density(parameters.density, emissions)
        return EMISSIONS[parameters.density.kind]
    return next(
        emission for emission in EMISSIONS.values() if isinstance(parameters, emission.kinds)
    )


def _fits(
    density: Any, shape: Shape | None, transitions: Any, initial: Any, **_: Any
) -> str | None:
    n_states = len(initial)
    if density.n_states != (n_states if shape is None else shape.n_groups):
        return "emits in another number of states than it has"
    if shape is not None and (
        initial[~shape.initial].any() or transitions[~shape.transitions].any()
    ):
        return "has probabilities where its shape allows none"
    return None


EMISSION_CHAIN = Record(
    EmissionChain,
    Field("initial", Array("state", probabilities)),
    Field("transitions", Array("state state", probabilities)),
    Field(
        "density",
        OneOf(
            mixed=MIXED_DENSITY,
            **{
                emission.name: emission.density_record
                for emission in EMISSIONS.values()
                if isinstance(emission, DensityEmission)
            },
        ),
    ),
    Field("shape", SHAPE, optional=True),
    Field("durations", DURATIONS, optional=True),
    check=_fits,
)
