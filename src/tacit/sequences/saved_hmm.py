"""Fitted hidden Markov models to files and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.header import check_header, common_header, made_from
from tacit.core.files.model_files import write_model
from tacit.errors import FileFormatError, TacitError
from tacit.sequences.files.chain_arrays import chain_arrays, chain_from
from tacit.sequences.files.symbols import symbols_from_json, symbols_to_json
from tacit.sequences.model.chains import ChainTables, Operators
from tacit.sequences.model.gaussian_hmm import GaussianChain
from tacit.sequences.query.proper_operators import ProperOperators

if TYPE_CHECKING:
    from tacit.sequences.hmm import HMM

Arrays = Mapping[str, NDArray[Any]]


def save_hmm(model: HMM, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to one file, whole or not at all; the counts it came from are not kept."""
    learnt = model.parameters_
    plain: dict[str, Any] = {
        "symbols": symbols_to_json(model.symbols_),
        "names": list(model.names_),
    }
    if isinstance(learnt, GaussianChain):
        plain["kind"] = "gaussian"
        arrays: dict[str, NDArray[Any]] = {
            "start": learnt.start,
            "moves": learnt.moves,
            "means": learnt.means,
            "covariances": learnt.covariances,
        }
        plain["diagonal"] = learnt.diagonal
    elif isinstance(learnt, ChainTables):
        plain["kind"], arrays = "tables", chain_arrays(learnt)
    else:
        plain["kind"], plain["fallback"] = "operators", learnt.fallback
        arrays = {**chain_arrays(learnt.operators), "shares": learnt.shares}
    write_model(
        path, {**common_header(model), "n_features": model.n_features_in_, "hmm": plain}, arrays
    )


def load_hmm(
    kind: type[HMM], path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Arrays
) -> HMM:
    """The fitted model whose header and arrays a file holds.

    Raises
    ------
    FileFormatError
        Something is missing, or does not fit the rest.
    """
    check_header(path, header, {"hmm": dict, "n_features": int})
    model: HMM = made_from(kind, header)
    plain = header["hmm"]
    try:
        model.symbols_ = symbols_from_json(plain["symbols"])
        model.names_ = tuple(str(name) for name in plain["names"])
        model.parameters_ = _parameters(plain, arrays, len(model.symbols_), len(model.names_))
    except FileFormatError:
        raise
    except (KeyError, TypeError, ValueError, TacitError) as error:
        raise FileFormatError(f"the header of {str(path)!r} is damaged: {error!r}") from error
    model.n_features_in_ = int(header["n_features"])
    model.diagnostics_ = dict(header["diagnostics"])
    return model


def _parameters(
    plain: Mapping[str, Any], arrays: Arrays, n_symbols: int, n_columns: int
) -> ChainTables | GaussianChain | ProperOperators:
    if plain["kind"] == "gaussian":
        return _gaussian(arrays, n_columns, diagonal=bool(plain["diagonal"]))
    found = chain_from(arrays, [n_symbols])
    if plain["kind"] not in ("tables", "operators"):
        raise FileFormatError(f"a model of the kind {plain['kind']!r}, which is not known")
    if plain["kind"] == "tables" and isinstance(found, ChainTables):
        return found
    shares, fallback = arrays.get("shares"), float(plain["fallback"])
    if not isinstance(found, Operators) or not 0 <= fallback <= 1:
        raise FileFormatError("the arrays are not those of operators")
    if shares is None or shares.shape != (n_symbols,) or not np.isfinite(shares).all():
        raise FileFormatError("the array 'shares' does not hold a number for each symbol")
    return ProperOperators(found, np.asarray(shares, dtype=np.float64), fallback)


def _gaussian(arrays: Arrays, n_columns: int, *, diagonal: bool) -> GaussianChain:
    means = arrays["means"]
    k = len(means)
    tables = chain_from({"start": arrays["start"], "moves": arrays["moves"]}, [])
    covariances = arrays["covariances"]
    shapes = means.shape == (k, n_columns), covariances.shape == (k, n_columns, n_columns)
    if not all(shapes) or not isinstance(tables, ChainTables) or tables.n_states != k:
        raise FileFormatError("the arrays 'means' and 'covariances' do not fit the columns")
    found = GaussianChain(tables.start, tables.moves, means, covariances, diagonal)
    try:
        finite = bool(np.isfinite(means).all() and np.isfinite(found.factors).all())
    except np.linalg.LinAlgError:
        finite = False
    if not finite:
        raise FileFormatError("the array 'covariances' holds what are none")
    return found
