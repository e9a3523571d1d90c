"""Hidden Markov models to hmmlearn and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import ArgumentTypeError, DataError, DependencyError, NotAvailableError

if TYPE_CHECKING:
    from tacit.sequences.emissions.protocol import Emission


def hmmlearn_model(emission: Emission, parameters: Any) -> Any:
    """The same model as one of hmmlearn, ready to score or to fit further; symbols become their indices."""
    arguments = {"n_components": parameters.n_states, "init_params": "", "random_state": 0}
    try:
        model = emission.to_hmmlearn(parameters, **arguments)
    except ImportError as error:
        raise DependencyError(
            "to_hmmlearn needs hmmlearn; install it with pip install hmmlearn"
        ) from error
    if model is None:
        raise NotAvailableError(f"hmmlearn has no model with emissions={emission.name!r}")
    model.startprob_, model.transmat_ = parameters.initial.copy(), parameters.transitions.copy()
    return model


def parameters_from_hmmlearn(model: Any, emissions: Sequence[Emission]) -> Any:
    """The parameters of a fitted model of hmmlearn.

    Raises
    ------
    ArgumentTypeError
        It is no model of hmmlearn, or one of its variational ones.
    DataError
        It was not fitted, or its tables hold no probabilities.
    """
    missing = [name for name in ("startprob_", "transmat_") if not hasattr(model, name)]
    if missing and (type(model).__module__ or "").startswith("hmmlearn"):
        raise DataError(f"this {type(model).__name__} of hmmlearn was not fitted: no {missing[0]}")
    if not missing:
        initial = probability_rows(model.startprob_, "startprob_")
        transitions = probability_rows(model.transmat_, "transmat_")
        for emission in emissions:
            parameters = emission.from_hmmlearn(model, initial, transitions)
            if parameters is not None:
                return parameters
    raise ArgumentTypeError(
        f"a {type(model).__name__} cannot be taken over; give a fitted CategoricalHMM, GaussianHMM, "
        f"GMMHMM, PoissonHMM or MultinomialHMM of hmmlearn"
    )


def probability_rows(table: Any, name: str) -> Any:
    """Rows that sum to one, of an array of that name."""
    rows = np.array(table, dtype=np.float64)
    if not np.isfinite(rows).all() or (rows < 0).any():
        raise DataError(
            f"{name} holds values that are no probabilities; fit the model on more data"
        )
    sums = rows.sum(axis=-1, keepdims=True)
    wrong = sums[np.abs(sums - 1) > 1e-3]
    if len(wrong):
        raise DataError(
            f"a row of {name} sums to {float(wrong[0]):.3g}: a state that was never visited? Fit the model "
            f"on more data, or with fewer states"
        )
    return rows / sums
