"""Hidden Markov models to hmmlearn and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import ArgumentTypeError, DataError, DependencyError, NotAvailableError

if TYPE_CHECKING:
    from tacit.sequences.emissions.protocol import Emission


def hmmlearn_model(emission: Emission, learnt: Any) -> Any:
    """The same model as one of hmmlearn, ready to score or to fit on; symbols become their places."""
    arguments = {"n_components": learnt.n_states, "init_params": "", "random_state": 0}
    try:
        out = emission.to_hmmlearn(learnt, **arguments)
    except ImportError as error:
        raise DependencyError(
            "to_hmmlearn needs hmmlearn; install it with pip install hmmlearn"
        ) from error
    if out is None:
        raise NotAvailableError(f"hmmlearn has no model with emissions={emission.name!r}")
    out.startprob_, out.transmat_ = learnt.initial.copy(), learnt.transitions.copy()
    return out


def parameters_from_hmmlearn(model: Any, emissions: Sequence[Emission]) -> Any:
    """What a fitted model of hmmlearn has learnt.

    Raises
    ------
    ArgumentTypeError
        It is no model of symbols or of normal numbers.
    DataError
        It was not fitted, or holds what are no probabilities.
    """
    missing = [name for name in ("startprob_", "transmat_") if not hasattr(model, name)]
    if missing and (type(model).__module__ or "").startswith("hmmlearn"):
        raise DataError(f"this {type(model).__name__} of hmmlearn was not fitted: no {missing[0]}")
    if not missing:
        initial = probability_rows(model.startprob_, "startprob_")
        transitions = probability_rows(model.transmat_, "transmat_")
        for emission in emissions:
            learnt = emission.from_hmmlearn(model, initial, transitions)
            if learnt is not None:
                return learnt
    raise ArgumentTypeError(
        f"a {type(model).__name__} cannot be taken over; give a fitted CategoricalHMM or GaussianHMM of "
        f"hmmlearn"
    )


def probability_rows(table: Any, name: str) -> Any:
    """Rows that sum to one, of an array of that name."""
    found = np.array(table, dtype=np.float64)
    if not np.isfinite(found).all() or (found < 0).any():
        raise DataError(f"{name} holds what are no probabilities; fit the model on more data")
    sums = found.sum(axis=-1, keepdims=True)
    wrong = sums[np.abs(sums - 1) > 1e-3]
    if len(wrong):
        raise DataError(
            f"a row of {name} sums to {float(wrong[0]):.3g}: a state that was never visited? Fit the model "
            f"on more data, or with fewer states"
        )
    return found / sums
