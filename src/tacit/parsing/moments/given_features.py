"""Inside and outside features of nodes that a user gives as functions of trees."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.limits import shown
from tacit.errors import ArgumentError, ArgumentTypeError
from tacit.parsing.data.outside_trees import inside_trees, outside_trees
from tacit.parsing.moments.inside_outside import KINDS, Indicators, NodeFeatures

if TYPE_CHECKING:
    from tacit.parsing.data.treebank import CodedTrees, GrammarSymbols

Array = NDArray[np.float64]


def check_functions(features: Any) -> None:
    """Raise unless features are None or two functions."""
    if features is None:
        return
    two = isinstance(features, Sequence) and len(features) == 2 and all(map(callable, features))
    if not two:
        raise ArgumentTypeError(
            f"features={shown(features)}; give a pair of functions, of an inside tree and of an outside tree"
        )


def given_features(
    trees: CodedTrees, symbols: GrammarSymbols, functions: Sequence[Callable[[Any], Any]]
) -> NodeFeatures:
    """Features of all nodes of a treebank by two functions, of inside and of outside trees.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        A function gives something else than features, or none to any node of a label.
    """
    inside = inside_trees(trees, symbols)
    outside = outside_trees(trees, inside)
    order = np.argsort(trees.label, kind="stable").astype(np.int64)
    label, weight = trees.label[order].astype(np.int64), trees.node_weight[order]
    names = [str(name) for name in symbols.labels]
    phi, psi = functions
    n_labels, rows = len(names), order.tolist()
    return NodeFeatures(
        order,
        np.searchsorted(label, np.arange(n_labels + 1)),
        np.bincount(label, weight, n_labels).astype(np.float64),
        _indicators((inside[node] for node in rows), phi, label, weight, names),
        _indicators((outside[node] for node in rows), psi, label, weight, names),
    )


def _indicators(
    nodes: Iterable[Any],
    function: Callable[[Any], Any],
    label: NDArray[np.int64],
    weight: Array,
    names: Sequence[str],
) -> Indicators:
    """The features of nodes, sorted by label; those of different labels are different."""
    from scipy.sparse import csr_array

    number: dict[tuple[int, Hashable], int] = {}
    columns, values, begins = list[int](), list[float](), [0]
    for code, node in zip(label.tolist(), nodes, strict=True):
        for name, value in _features(function(node), function).items():
            if value:
                columns.append(number.setdefault((code, name), len(number)))
                values.append(value)
        begins.append(len(columns))
    of_label = np.array([code for code, _ in number], dtype=np.int64)
    if len(without := np.setdiff1d(label, of_label)):
        raise ArgumentError(
            f"{_name(function)} gave no feature to any node of the label {names[without[0]]!r}; give one at "
            f"least, such as the label itself"
        )
    rows = csr_array(
        (np.array(values), np.array(columns, dtype=np.int64), np.array(begins)),
        shape=(len(label), len(number)),
    )
    squares = np.repeat(weight, np.diff(begins)) * rows.data**2
    counts = np.bincount(rows.indices, squares, len(number)).astype(np.float64)
    return Indicators(KINDS * of_label, np.arange(len(number)), counts, rows)


def _features(result: Any, function: Callable[[Any], Any]) -> Mapping[Hashable, float]:
    """What a function gave, as numbers by feature."""
    if isinstance(result, np.ndarray) and result.ndim == 1:
        result = dict(enumerate(result.tolist()))
    if isinstance(result, Mapping):
        for name, value in result.items():
            if not isinstance(value, Real) or not np.isfinite(float(value)):
                raise ArgumentTypeError(
                    f"{_name(function)} gave {value!r} for the feature {name!r}; give a finite number"
                )
        return {name: float(value) for name, value in result.items()}
    if isinstance(result, str) or not isinstance(result, Iterable):
        raise ArgumentTypeError(
            f"{_name(function)} gave {result!r}; return a list of features, a dict of feature to number, "
            f"or an array of numbers"
        )
    try:
        return dict.fromkeys(result, 1.0)
    except TypeError as error:
        raise ArgumentTypeError(f"{_name(function)} gave a feature that is not hashable") from error


def _name(function: Callable[[Any], Any]) -> str:
    return f"{getattr(function, '__name__', type(function).__name__)}()"
