"""Homogeneous chains and the features of their columns, as arrays and plain values, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.encoders import Encoder, encoder_from_arrays
from tacit.errors import FileFormatError, TacitError
from tacit.messages.network import Dense, Hadamard
from tacit.sequences.model.chains import ChainTables, Operators

Array = NDArray[np.float64]
Arrays = Mapping[str, NDArray[Any]]

_ROW_SUM = 1e-6  # how far from one the probabilities of a row may sum


def chain_arrays(parameters: ChainTables | Operators) -> dict[str, NDArray[Any]]:
    """What was learnt of a chain, by field: ``start``, ``moves``, ``emit.0``, ... of tables.

    Of operators ``start``, ``core`` (or ``table``), ``stop``, and ``emit.0``, ``total.0`` of each column.
    """
    arrays: dict[str, NDArray[Any]] = {"start": parameters.start}
    arrays |= {f"emit.{place}": each for place, each in enumerate(parameters.emit)}
    if isinstance(parameters, ChainTables):
        return arrays | {"moves": parameters.moves}
    arrays["stop"] = parameters.stop
    arrays |= {f"total.{place}": each for place, each in enumerate(parameters.total)}
    step = parameters.step
    return arrays | ({"core": step.core} if isinstance(step, Dense) else {"table": step.table})


def chain_from(arrays: Arrays, sizes: Sequence[int]) -> ChainTables | Operators:
    """The chain that `chain_arrays` wrote.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        Arrays of other names are left alone.
    sizes : sequence of int
        Features of each column.

    Raises
    ------
    FileFormatError
        Arrays are missing, do not fit each other, or are no probabilities where they must be.
    """
    start = _floats(arrays, "start", (None,))
    rank = len(start)
    if "moves" in arrays:
        moves = _floats(arrays, "moves", (rank, rank))
        emit = tuple(_floats(arrays, f"emit.{c}", (rank, size)) for c, size in enumerate(sizes))
        for table in (start, moves, *emit):
            if (table < 0).any() or (np.abs(table.sum(axis=-1) - 1) > _ROW_SUM).any():
                raise FileFormatError("tables are no probabilities: a row does not sum to one")
        return ChainTables(start, moves, emit)
    emit = tuple(_floats(arrays, f"emit.{c}", (size, None)) for c, size in enumerate(sizes))
    seen = emit[0].shape[1]
    total = tuple(_floats(arrays, f"total.{c}", (seen,)) for c in range(len(sizes)))
    stop = _floats(arrays, "stop", (rank,))
    step: Dense | Hadamard
    if "core" in arrays:
        step = Dense(_floats(arrays, "core", (seen, rank, rank)))
    else:
        step = Hadamard(_floats(arrays, "table", (rank, rank)))
    if any(each.shape[1] != seen for each in emit) or ("core" not in arrays and seen != rank):
        raise FileFormatError("the columns' messages are not of the length that the step takes")
    return Operators(start, step, stop, emit, total)


def encoder_arrays(
    encoders: Sequence[Encoder],
) -> tuple[dict[str, NDArray[Any]], list[dict[str, Any]]]:
    """The features of all columns: arrays like ``features.0.centers``, and plain values of each."""
    arrays: dict[str, NDArray[Any]] = {}
    plain = []
    for place, encoder in enumerate(encoders):
        own, numbers = encoder.to_arrays()
        arrays |= {f"features.{place}.{name}": each for name, each in own.items()}
        plain.append(numbers)
    return arrays, plain


def encoders_from(arrays: Arrays, plain: Sequence[Mapping[str, Any]]) -> tuple[Encoder, ...]:
    """The features that `encoder_arrays` wrote."""
    found = []
    for place, numbers in enumerate(plain):
        prefix = f"features.{place}."
        own = {
            name.removeprefix(prefix): _floats(arrays, name, (None,) * arrays[name].ndim)
            for name in arrays
            if name.startswith(prefix)
        }
        try:
            found.append(encoder_from_arrays(own, numbers))
        except FileFormatError:
            raise
        except (TacitError, AttributeError, IndexError) as error:
            raise FileFormatError(f"the features of column {place} are none: {error}") from error
    return tuple(found)


def _floats(arrays: Arrays, name: str, shape: tuple[int | None, ...]) -> Array:
    if name not in arrays:
        raise FileFormatError(f"the array {name!r} is missing")
    array = arrays[name]
    fits = array.ndim == len(shape) and all(
        wanted in (None, size) for wanted, size in zip(shape, array.shape, strict=True)
    )
    if array.dtype != np.float64 or not fits:
        wanted = tuple("any" if size is None else size for size in shape)
        raise FileFormatError(
            f"the array {name!r} has type {array.dtype} and shape {array.shape}; expected float64 of shape "
            f"{wanted}"
        )
    if not np.isfinite(array).all():
        raise FileFormatError(f"the array {name!r} holds infinities or NaN")
    return array
