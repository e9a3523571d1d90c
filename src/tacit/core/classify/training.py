"""Rows with their classes: checked, split into folds, and a model learnt of each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from tacit.errors import ArgumentError, ArgumentTypeError, DataError, TacitError

if TYPE_CHECKING:
    from tacit.core.input.examples import Examples
    from tacit.core.progress import Report

Array = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Training:
    """What the models of the classes are learnt from."""

    estimator: Any
    examples: Examples
    places: Places  # (row,)  of the class; -1 for rows of weight zero
    weights: Array | None  # (row,)
    classes: NDArray[Any]

    def fitted(self, used: NDArray[np.bool_], report: Report) -> tuple[Any, ...]:
        """A model of each class, learnt from its rows among those used."""
        models = []
        for place, name in enumerate(self.classes.tolist()):
            report(place / len(self.classes), f"learning class {name}")
            rows = np.flatnonzero((self.places == place) & used)
            weighting = {} if self.weights is None else {"sample_weight": self.weights[rows]}
            models.append(clone(self.estimator).fit(self.examples.take(rows), **weighting))
        return tuple(models)


def checked_labels(y: Any, n_rows: int) -> NDArray[Any]:
    """The class of each row, checked."""
    from sklearn.utils import column_or_1d
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import assert_all_finite

    if y is None:
        raise ArgumentError(
            "LikelihoodClassifier requires y to be passed, but the target y is None"
        )
    try:
        if np.asarray(y).ndim == 0:
            raise ArgumentTypeError(f"y={y!r}; give the class of each row, a list or a column")
        labels = column_or_1d(y, warn=True)
        _check_length("y", labels, n_rows)
        assert_all_finite(labels, input_name="y")
        if any(label is None for label in labels.tolist()):
            raise DataError("y contains None; leave rows without a class out")
        check_classification_targets(labels)
    except TacitError:
        raise
    except ValueError as error:
        raise DataError(f"y holds no classes; give text, integers or booleans. {error}") from error
    return np.asarray(labels)


def check_validation(validation: Any) -> None:
    """Raise an `ArgumentTypeError` unless held-out rows come with their classes."""
    if validation is None or (isinstance(validation, tuple | list) and len(validation) == 2):
        return
    raise ArgumentTypeError(
        "validation is not a pair; give (X, y), held-out rows and their classes"
    )


def _check_length(name: str, labels: NDArray[Any], n_rows: int) -> None:
    if len(labels) != n_rows:
        raise DataError(
            f"{name} has {len(labels)} classes for {n_rows} rows; give one for each row"
        )


def known_places(y: Any, n_rows: int, classes: NDArray[Any]) -> Places:
    """The place of each class of held-out rows among those that were learnt."""
    labels = np.asarray(y)
    _check_length("y of validation", labels, n_rows)
    if unknown := sorted(set(labels.tolist()) - set(classes.tolist())):
        raise DataError(f"validation has the class {unknown[0]!r}, which y has not")
    return np.searchsorted(classes, labels).astype(np.int64)


def fold_of_rows(places: Places, n_folds: int, rng: np.random.Generator) -> Places:
    """(row,) a fold for each row, every class spread evenly; -1 for the only row of a class."""
    folds = np.full(len(places), -1, dtype=np.int64)
    for place in range(places.max() + 1):
        rows = np.flatnonzero(places == place)
        if len(rows) > 1:
            folds[rng.permutation(rows)] = np.arange(len(rows)) % n_folds
    return folds


def log_likelihoods_by(models: tuple[Any, ...], X: Any) -> Array:
    """(row, class) log-likelihoods of each row by the model of each class."""
    return np.column_stack([np.asarray(model.score_samples(X)) for model in models])
