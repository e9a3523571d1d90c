"""Hidden Markov models to hmmlearn and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import ArgumentError, ArgumentTypeError, DataError, DependencyError
from tacit.sequences.model.chains import ChainTables
from tacit.sequences.model.gaussian_hmm import GaussianChain

if TYPE_CHECKING:
    from tacit.sequences.hmm_queries import HMMQueries


def hmmlearn_model(model: HMMQueries) -> Any:
    """The same model as a ``CategoricalHMM`` or ``GaussianHMM`` of hmmlearn, ready to score or to fit on.

    Symbols become their places in `symbols_`.
    """
    try:
        from hmmlearn import hmm
    except ImportError as error:
        raise DependencyError(
            "to_hmmlearn needs hmmlearn; install it with pip install hmmlearn"
        ) from error
    learnt = model._tables("to_hmmlearn")  # noqa: SLF001  the same room
    k = learnt.n_states
    arguments = {"n_components": k, "init_params": "", "random_state": 0}
    if isinstance(learnt, GaussianChain):
        kind = "diag" if learnt.diagonal else "full"
        out = hmm.GaussianHMM(covariance_type=kind, **arguments)
        out.n_features = learnt.n_columns
        out.means_ = learnt.means.copy()
        spread = learnt.covariances
        # hmmlearn takes and gives different shapes of diagonal covariances
        out.covars_ = np.diagonal(spread, axis1=1, axis2=2).copy() if learnt.diagonal else spread
    else:
        out = hmm.CategoricalHMM(n_features=learnt.emit[0].shape[1], **arguments)
        out.emissionprob_ = learnt.emit[0].copy()
    out.startprob_, out.transmat_ = learnt.initial.copy(), learnt.transitions.copy()
    return out


def parameters_from_hmmlearn(model: Any) -> ChainTables | GaussianChain:
    """What a fitted model of hmmlearn has learnt.

    Raises
    ------
    ArgumentTypeError
        It is no model of symbols or of normal numbers.
    DataError
        It was not fitted, or holds what are no probabilities.
    """
    missing = [name for name in ("startprob_", "transmat_") if not hasattr(model, name)]
    has_symbols, has_numbers = hasattr(model, "emissionprob_"), hasattr(model, "means_")
    if missing and (type(model).__module__ or "").startswith("hmmlearn"):
        raise DataError(f"this {type(model).__name__} of hmmlearn was not fitted: no {missing[0]}")
    if missing or not (has_symbols or has_numbers) or hasattr(model, "weights_"):
        raise ArgumentTypeError(
            f"a {type(model).__name__} cannot be taken over; give a fitted CategoricalHMM or GaussianHMM of "
            f"hmmlearn"
        )
    initial, transitions = (
        _rows(model.startprob_, "startprob_"),
        _rows(model.transmat_, "transmat_"),
    )
    if has_symbols:
        return ChainTables(initial, transitions, (_rows(model.emissionprob_, "emissionprob_"),))
    means = np.array(model.means_, dtype=np.float64)
    d = means.shape[1]
    # whatever the type is there, this gives (state, column, column), except diagonals of old versions
    spread = np.array(model.covars_, dtype=np.float64)
    if spread.ndim == 2:
        spread = spread[:, :, None] * np.eye(d)
    if len(spread) == d * len(means):
        spread = spread[::d]  # fitted spherical ones stand there once for each column
    diagonal = getattr(model, "covariance_type", "full") in ("diag", "spherical")
    return GaussianChain(
        initial, transitions, means, np.broadcast_to(spread, (len(means), d, d)).copy(), diagonal
    )


def taken_over(kind: type[Any], model: Any, symbols: Any) -> Any:
    """An estimator of a kind with what a model of hmmlearn has learnt."""
    from tacit.core.input.columns import positional_names
    from tacit.sequences.data.symbols import known_symbols

    learnt = parameters_from_hmmlearn(model)
    if isinstance(learnt, GaussianChain):
        covariance = "diagonal" if learnt.diagonal else "full"
        made = kind(learnt.n_states, emissions="gaussian", covariance=covariance)
        made.names_, made.symbols_ = positional_names(learnt.n_columns), ()
        made.n_features_in_ = learnt.n_columns
    else:
        n_symbols = learnt.emit[0].shape[1]
        known = known_symbols(range(n_symbols) if symbols is None else symbols)
        if len(known) != n_symbols:
            raise ArgumentError(f"{len(known)} symbols for a model of {n_symbols}; name each")
        made = kind(learnt.n_states)
        made.names_, made.symbols_ = (), known
        made.n_features_in_ = 1
    made.parameters_ = learnt
    made.diagnostics_ = {"learn": "hmmlearn", "n_states": learnt.n_states}
    return made


def _rows(table: Any, name: str) -> Any:
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
