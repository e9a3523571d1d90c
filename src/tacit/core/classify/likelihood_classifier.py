"""A classifier from density models, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone

from tacit.core.arguments import MOST_COUNT, check_choice, generator_from
from tacit.core.classify.calibration import Calibration, class_log_probs, fit_temperature
from tacit.core.classify.model_files import CLASSIFIER_FILE
from tacit.core.classify.training import (
    Places,
    Training,
    check_validation,
    checked_labels,
    fold_of_rows,
    known_places,
    log_likelihoods_by,
)
from tacit.core.limits import shown
from tacit.core.model import Kind, Model, Scored, checked_summary
from tacit.errors import ArgumentError, ArgumentTypeError, DataError, FileFormatError

if TYPE_CHECKING:
    from tacit.core.input.examples import Examples
    from tacit.core.summary import Summary

Array = NDArray[np.float64]

MOST_CLASSES_SHOWN = 40
HELD_OUT_FOLDS = 5  # without cross-validation one of so many parts of each class is held out


class LikelihoodClassifier(ClassifierMixin, Model):
    """Classes by Bayes' rule: a density model of each class, and prior probabilities.

    Any model of Tacit with a likelihood will do: of tables, numbers, sequences or text. Rows are read once
    for all classes, so that all models know the same categories, bins, symbols or words. Missing cells are
    summed out, in training and in queries.

    Parameters
    ----------
    estimator : model with a likelihood, optional
        Copied and fitted to the rows of each class; ``LatentTree()`` by default.
    priors : "data", "uniform", mapping of class to float, or (class,) floats
        Probabilities of the classes before a row is seen: their frequencies in training, all the same, or
        those given (an array in the order of `classes_`), which sum to one.
    calibration : {"temperature", None}
        A model that takes dependent columns as independent counts the same evidence twice, and its
        probabilities of classes are too certain. "temperature": log-likelihoods are divided by the number
        that gives held-out rows the least log loss, which takes a second model of each class. None: Bayes'
        rule as it is.
    cv : int, splitter or iterable of (train, test), optional
        Folds of the cross-validation that finds the temperature, or what makes them, as of scikit-learn; by
        default, a fifth of each class is held out.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (share done, text).
    random_state : int, numpy.random.Generator or None
        Seed of the held-out rows; the models have their own.

    Attributes
    ----------
    classes_ : (class,) array
        Sorted.
    models_ : tuple of models
        The fitted model of each class.
    priors_ : (class,) array
    temperature_ : float
        1 without calibration.
    diagnostics_ : dict
        Rows of each class; log loss on held-out rows before and after calibration.

    Notes
    -----
    `score` is the accuracy, as of every classifier of scikit-learn, so that its tools choose by it. What the
    other models of Tacit call the score, the log-likelihood, is in `predict_joint_log_proba`.

    Examples
    --------
    >>> import tacit
    >>> rows = [["a", "x"], ["a", "x"], ["b", "y"], ["b", "y"], ["b", "x"]] * 8
    >>> classes = ["left", "left", "right", "right", "right"] * 8
    >>> model = tacit.LikelihoodClassifier(tacit.ChowLiuTree()).fit(rows, classes)
    >>> model.predict([["a", None], ["b", "y"]]).tolist()
    ['left', 'right']
    """

    kind: ClassVar[Kind] = "classifier"
    abilities: ClassVar[frozenset[str]] = frozenset({"predict"})
    classes_: NDArray[Any]
    models_: tuple[Any, ...]
    priors_: Array
    temperature_: float
    _file = CLASSIFIER_FILE

    def __init__(
        self,
        estimator: Any = None,
        *,
        priors: Any = "data",
        calibration: str | None = "temperature",
        cv: Any = None,
        progress: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.priors = priors
        self.calibration = calibration
        self.cv = cv
        self.progress = progress
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, sample_weight: Any = None, validation: Any = None) -> Self:
        """Learn a model of each class.

        Parameters
        ----------
        X : rows, sequences or texts
            Whatever the estimator is fitted to.
        y : (row,) classes
            Text, integers, booleans or any others that can be sorted; none may be missing.
        sample_weight : (row,) array, optional
            Where the estimator takes weights.
        validation : tuple (X, y), optional
            Rows that the temperature is learnt from, instead of a part of X.
        """
        from tacit.core.input.sample_weight import checked_weights

        self._check_arguments()
        check_validation(validation)
        estimator = self._estimator()
        examples: Examples = estimator._examples(X)  # noqa: SLF001  models have it for this class
        labels, weights = checked_labels(y, examples.n), checked_weights(sample_weight, examples.n)
        if weights is not None:
            self._check_weights(estimator)
        counted = slice(None) if weights is None else weights > 0
        classes, places = np.unique(labels[counted], return_inverse=True)
        counts = np.bincount(places, None if weights is None else weights[counted])
        priors = self._priors(classes, counts.astype(np.float64))
        all_places = np.full(examples.n, -1, dtype=np.int64)
        all_places[counted] = places
        data = Training(estimator, examples, all_places, weights, classes)
        with self._working() as report:
            models = data.fitted(np.ones(examples.n, dtype=np.bool_), report)
            calibration = self._calibrate(data, models, validation)
        self.classes_, self.priors_, self.models_ = classes, priors, models
        self.temperature_ = calibration.temperature
        self.diagnostics_ = {
            "n_rows": examples.n,
            "n_rows_of_classes": np.bincount(places).tolist(),
            "calibration_rows": calibration.n_rows,
        }
        if calibration.n_rows:
            self.diagnostics_["log_loss_before"] = calibration.log_loss_before
            self.diagnostics_["log_loss_after"] = calibration.log_loss_after
        self._keep_features(X)
        return self

    def predict_joint_log_proba(self, X: Any) -> Array:
        """(row, class) log P(row, class), without the temperature; as of scikit-learn's naive Bayes."""
        return self._log_likelihoods(X) + self._log_priors

    def predict_log_proba(self, X: Any) -> Array:
        """(row, class) log P(class | what is known of the row), in the order of `classes_`."""
        log_likelihoods = self._log_likelihoods(X)
        return class_log_probs(log_likelihoods, self._log_priors, self.temperature_)

    def predict_proba(self, X: Any) -> Array:
        """(row, class) P(class | what is known of the row), in the order of `classes_`."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """(row,) the most probable class; the first of equally probable ones."""
        best = self.predict_log_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    @checked_summary
    def summary(self) -> Summary:
        """The classes, their priors and rows; how probabilities were calibrated."""
        from tacit.core.summary import Section, Summary

        diagnostics, n_classes = self.diagnostics_, len(self.classes_)
        rows = [
            (shown, f"{prior:.4f}", count)
            for shown, prior, count in zip(
                map(str, self.classes_.tolist()),
                self.priors_,
                diagnostics["n_rows_of_classes"],
                strict=True,
            )
        ]
        facts: dict[str, Any] = {"temperature": f"{self.temperature_:.4g}"}
        if "log_loss_before" in diagnostics:
            facts["held-out rows"] = diagnostics["calibration_rows"]
            facts["log loss at temperature 1"] = (
                f"{diagnostics['log_loss_before']:.4f} nats per row"
            )
            facts["log loss calibrated"] = f"{diagnostics['log_loss_after']:.4f} nats per row"
        sections = [
            Section("classes", columns=("class", "prior", "rows"), rows=rows[:MOST_CLASSES_SHOWN]),
            Section("calibration", facts=facts),
        ]
        density = type(self.models_[0]).__name__
        return Summary(f"LikelihoodClassifier: {n_classes} classes, each a {density}", sections)

    def __sklearn_tags__(self) -> Any:
        """Tags for scikit-learn: what the estimator takes."""
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._estimator()).input_tags
        return tags

    # -- within -------------------------------------------------------------------------------------

    def _estimator(self) -> Any:
        """An unfitted copy of the model of each class."""
        if self.estimator is None:
            from tacit.core.files.saved_model import public_class

            return public_class("LatentTree")()
        if not (isinstance(self.estimator, Model) and isinstance(self.estimator, Scored)):
            raise ArgumentTypeError(
                f"estimator is a {type(self.estimator).__name__!r}; give a model of Tacit with a "
                f"likelihood, such as LatentTree() or HMM()"
            )
        return clone(self.estimator)

    def _check_arguments(self) -> None:
        if self.calibration is not None:
            check_choice("calibration", self.calibration, ("temperature",))
        cv = self.cv
        if isinstance(cv, Integral) and not isinstance(cv, bool):
            if not 2 <= int(cv) <= MOST_COUNT:
                raise _wrong_folds(cv)
        elif isinstance(cv, str | bytes) or not (
            cv is None or hasattr(cv, "split") or np.iterable(cv)
        ):
            raise _wrong_folds(cv)

    @staticmethod
    def _check_weights(estimator: Any) -> None:
        from sklearn.utils.validation import has_fit_parameter

        if not has_fit_parameter(estimator, "sample_weight"):
            raise ArgumentError(f"{type(estimator).__name__} takes no sample_weight; leave it out")

    def _priors(self, classes: NDArray[Any], counts: Array) -> Array:
        """The prior of each class."""
        given, n_classes = self.priors, len(classes)
        if isinstance(given, str):
            check_choice("priors", given, ("data", "uniform"))
            masses = counts if given == "data" else np.ones(n_classes)
            return np.asarray(masses / masses.sum(), dtype=np.float64)
        wrong = ArgumentError(
            f'priors={shown(given)}; give "data", "uniform", or probabilities of the classes '
            f"{classes.tolist()} that sum to one"
        )
        if isinstance(given, Mapping):
            if set(given) != set(classes.tolist()):
                raise wrong
            given = [given[name] for name in classes.tolist()]
        try:
            priors = np.array(given, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise wrong from error
        if priors.shape != (n_classes,) or not (priors >= 0).all() or abs(priors.sum() - 1) > 1e-9:
            raise wrong
        return priors

    def _calibrate(self, data: Training, models: tuple[Any, ...], validation: Any) -> Calibration:
        """The temperature, from rows that the models were not learnt from."""
        from tacit.core.progress import silent

        if self.calibration is None or len(data.classes) < 2:
            return Calibration()
        if validation is not None:
            log_likelihoods = log_likelihoods_by(models, validation[0])
            places = known_places(validation[1], len(log_likelihoods), data.classes)
            return fit_temperature(log_likelihoods, places)
        values, held_out_rows = [], []
        for used, held_out in self._splits(data):
            if len(held_out):
                part = data.fitted(used, silent)
                values.append(log_likelihoods_by(part, data.examples.take(held_out)))
                held_out_rows.append(held_out)
        if not held_out_rows:
            return Calibration()
        held = np.concatenate(held_out_rows)
        weights = None if data.weights is None else data.weights[held]
        return fit_temperature(np.concatenate(values), data.places[held], weights)

    def _splits(self, data: Training) -> Iterator[tuple[NDArray[np.bool_], Places]]:
        """The rows that models are learnt from, and the held-out rows that they then score."""
        if self.cv is None or isinstance(self.cv, Integral):
            n_folds = HELD_OUT_FOLDS if self.cv is None else int(self.cv)
            folds = fold_of_rows(data.places, n_folds, generator_from(self.random_state))
            for fold in range(1 if self.cv is None else n_folds):
                yield folds != fold, np.flatnonzero(folds == fold)
            return
        is_splitter = hasattr(self.cv, "split")
        rows = np.zeros((data.examples.n, 1))
        for split in self.cv.split(rows, data.places) if is_splitter else self.cv:
            train, test = _checked_split(split, data.examples.n)
            used = np.zeros(data.examples.n, dtype=np.bool_)
            used[train] = True
            yield used, test[data.places[test] >= 0]

    @property
    def _log_priors(self) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(self.priors_)

    def _log_likelihoods(self, X: Any) -> Array:
        self._check_fitted()
        width = X.shape[1] if isinstance(X, np.ndarray) and X.ndim == 2 else 0
        expected = getattr(self, "n_features_in_", width)
        if self.models_[0].kind == "table" and width > expected:
            raise DataError(
                f"X has {width} features, but LikelihoodClassifier is expecting {expected} features as input"
            )
        return log_likelihoods_by(self.models_, X)

    def _keep_features(self, X: Any) -> None:
        from tacit.core.input.chunks import has_names, kind_of_table

        first = self.models_[0]
        for name in ("n_features_in_", "feature_names_in_"):
            if name in vars(self):
                delattr(self, name)
        if hasattr(first, "n_features_in_"):
            self.n_features_in_ = first.n_features_in_
        if first.kind == "table":
            self.n_features_in_ += len(first.schema_.left_out)
        if first.kind == "table" and has_names(X, kind_of_table(X), first.schema_):
            self.feature_names_in_ = np.array(first.schema_.names, dtype=object)

    def _restore(self, values: Mapping[str, Any]) -> None:
        super()._restore(values)
        if not len(self.models_) == len(self.classes_) == len(self.priors_):
            raise FileFormatError("has not as many models as classes")
        if len({type(model) for model in self.models_}) > 1 or not isinstance(
            self.models_[0], Scored
        ):
            raise FileFormatError("has models of several kinds, or without a likelihood")
        self.estimator = clone(self.models_[0])


def _wrong_folds(cv: Any) -> ArgumentError:
    return ArgumentError(
        f"cv={shown(cv)}; give folds (2 or more), a splitter, or None to hold out a fifth"
    )


def _checked_split(split: Any, n_rows: int) -> tuple[Places, Places]:
    """The rows to learn from and those to score, of one split that a caller gave."""
    try:
        train, test = (np.asarray(rows) for rows in split)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(
            f"cv has a split {shown(split)}; give pairs (train, test) of arrays of row numbers"
        ) from error
    return _row_numbers(train, n_rows), _row_numbers(test, n_rows)


def _row_numbers(rows: NDArray[Any], n_rows: int) -> Places:
    """Row numbers that a caller gave as such, or as a flag for each row."""
    if rows.shape == (n_rows,) and rows.dtype == np.bool_:
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
        raise ArgumentTypeError(f"cv has the rows {shown(rows)}; give arrays of row numbers")
    if len(rows) and (rows.min() < 0 or rows.max() >= n_rows):
        raise ArgumentError(
            f"cv has the rows {shown(rows)}, but rows are numbered from 0 to {n_rows - 1}"
        )
    return rows.astype(np.int64)
