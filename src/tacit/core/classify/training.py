"""Rows with their classes: checked, split into folds, and a model learnt of each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from tacit.errors import ArgumentError, DataError

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
            how = {} if self.weights is None else {"sample_weight": self.weights[rows]}
            models.append(clone(self.estimator).fit(self.examples.take(rows), **how))
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
    labels = column_or_1d(y, warn=True)
    if len(labels) != n_rows:
        raise DataError(f"y has {len(labels)} classes for {n_rows} rows; give one for each row")
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    return np.asarray(labels)


def known_places(y: Any, classes: NDArray[Any]) -> Places:
    """The place of each class among those that were learnt."""
    labels = np.asarray(y)
    if strange := sorted(set(labels.tolist()) - set(classes.tolist())):
        raise DataError(f"validation has the class {strange[0]!r}, which y has not")
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
