"""Fitted automata to files and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.header import check_header, common_header, made_from
from tacit.core.files.model_files import write_model
from tacit.errors import FileFormatError, TacitError
from tacit.sequences.files.symbols import symbols_from_json, symbols_to_json
from tacit.sequences.model.automata import Automaton, AutomatonTables
from tacit.sequences.model.interpolated_ngrams import Ngrams
from tacit.sequences.query.automata import MixedAutomaton
from tacit.sequences.query.mean_automata import MeanAutomaton

if TYPE_CHECKING:
    from tacit.sequences.automaton_queries import AutomatonQueries

Arrays = Mapping[str, NDArray[Any]]

_ROW_SUM = 1e-6  # how far from one the probabilities of a row may sum
_WEIGHTED = ("start", "steps", "stop", "total", "past")


def save_automaton(model: AutomatonQueries, path: str | os.PathLike[str]) -> None:
    """Write a fitted automaton to one file, whole or not at all."""
    learnt = model.predictor_
    plain: dict[str, Any] = {"symbols": symbols_to_json(model.symbols_)}
    arrays: dict[str, NDArray[Any]]
    if isinstance(learnt, MixedAutomaton):
        plain |= {"kind": "weighted", "mixing": learnt.mixing, "order": learnt.ngrams.order}
        arrays = {name: getattr(learnt.automaton, name) for name in _WEIGHTED}
        arrays |= {
            "ngrams": learnt.ngrams.tables,
            "singular_values": np.asarray(getattr(model, "singular_values_", np.zeros(0))),
        }
    else:
        plain |= {"kind": "probabilistic", "n_parts": len(learnt.parts)}
        arrays = {"weights": learnt.weights}
        for place, part in enumerate(learnt.parts):
            arrays |= {f"start.{place}": part.start, f"emit.{place}": part.emit}
            arrays[f"moves.{place}"] = part.moves
    header = {**common_header(model), "n_features": model.n_features_in_, "automaton": plain}
    write_model(path, header, {name: np.ascontiguousarray(each) for name, each in arrays.items()})


def load_automaton(
    kind: type[AutomatonQueries],
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Arrays,
) -> AutomatonQueries:
    """The fitted automaton whose header and arrays a file holds.

    Raises
    ------
    FileFormatError
        Something is missing, or does not fit the rest.
    """
    check_header(path, header, {"automaton": dict, "n_features": int})
    model: Any = made_from(kind, header)
    plain = header["automaton"]
    try:
        model.symbols_ = symbols_from_json(plain["symbols"])
        n_symbols = len(model.symbols_)
        if plain["kind"] == "weighted":
            model.predictor_ = _weighted(plain, arrays, n_symbols)
            model.singular_values_ = _floats(arrays, "singular_values", (None,))
        else:
            model.predictor_ = _mean(plain, arrays, n_symbols)
    except FileFormatError:
        raise
    except (KeyError, TypeError, ValueError, TacitError) as error:
        raise FileFormatError(f"the header of {str(path)!r} is damaged: {error!r}") from error
    model.n_features_in_ = int(header["n_features"])
    model.diagnostics_ = dict(header["diagnostics"])
    return model  # type: ignore[no-any-return]


def _weighted(plain: Mapping[str, Any], arrays: Arrays, n_symbols: int) -> MixedAutomaton:
    rank, order, mixing = len(arrays["start"]), int(plain["order"]), float(plain["mixing"])
    if not 0 <= mixing <= 1 or order not in (1, 2, 3):
        raise FileFormatError("the header is damaged: mixing or order are none")
    shapes = {"steps": (n_symbols, rank, rank)}
    automaton = Automaton(*(_floats(arrays, name, shapes.get(name, (rank,))) for name in _WEIGHTED))
    tables = _probabilities(arrays, "ngrams", ((n_symbols + 2) ** (order - 1), n_symbols + 1))
    return MixedAutomaton(automaton, Ngrams(tables, order, n_symbols), mixing)


def _mean(plain: Mapping[str, Any], arrays: Arrays, n_symbols: int) -> MeanAutomaton:
    parts = []
    for place in range(int(plain["n_parts"])):
        start = _probabilities(arrays, f"start.{place}", (None,))
        k = len(start)
        emit = _probabilities(arrays, f"emit.{place}", (k, n_symbols + 1))
        moves = _probabilities(arrays, f"moves.{place}", (None, k, k))
        if len(moves) not in (1, n_symbols):
            raise FileFormatError(f"the array 'moves.{place}' has {len(moves)} tables")
        parts.append(AutomatonTables(start, emit, moves))
    if not parts:
        raise FileFormatError("the file holds no automaton")
    return MeanAutomaton(tuple(parts), _probabilities(arrays, "weights", (len(parts),)))


def _probabilities(arrays: Arrays, name: str, shape: tuple[int | None, ...]) -> NDArray[np.float64]:
    table = _floats(arrays, name, shape)
    if (table < 0).any() or (np.abs(table.sum(axis=-1) - 1) > _ROW_SUM).any():
        raise FileFormatError(f"the array {name!r} holds no probabilities")
    return table


def _floats(arrays: Arrays, name: str, shape: tuple[int | None, ...]) -> NDArray[np.float64]:
    if name not in arrays:
        raise FileFormatError(f"the array {name!r} is missing")
    array = arrays[name]
    fits = array.ndim == len(shape) and all(
        wanted in (None, size) for wanted, size in zip(shape, array.shape, strict=True)
    )
    if array.dtype != np.float64 or not fits or not np.isfinite(array).all():
        raise FileFormatError(
            f"the array {name!r} has type {array.dtype} and shape {array.shape}, or is not finite; expected "
            f"float64 of shape {shape}"
        )
    return array
