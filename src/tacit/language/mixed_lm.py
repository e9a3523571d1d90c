"""Mixtures of language models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, ArgumentTypeError
from tacit.language.language_queries import LanguageModel
from tacit.language.model_files import MIXED_FILE

if TYPE_CHECKING:
    from tacit.language.data.corpus import Corpus
    from tacit.language.query.backoff import LineScores

Array = NDArray[np.float64]

MOST_STEPS, LEAST_GAIN = 200, 1e-9


class MixedLM(LanguageModel):
    """Several fitted language models of the same words, each with a weight.

    The probability of a word is the weighted mean of theirs.

    Parameters
    ----------
    models : list of fitted language models
        All with the same vocabulary: fit the later ones with ``vocabulary=first.vocabulary_``.
    weights : list of float, optional
        By default `fit` chooses them on a text that none of the models has seen. With weights given, there
        is nothing to fit.

    Attributes
    ----------
    weights_ : (model,)

    Examples
    --------
    >>> from tacit.language.class_lm import ClassLM
    >>> from tacit.language.kneser_ney_lm import KneserNeyLM
    >>> lines = ["a cat ran", "the dog ran", "a dog sat", "the cat sat"]
    >>> words = KneserNeyLM(order=2).fit(lines)
    >>> classes = ClassLM(order=2, n_classes=3, vocabulary=words.vocabulary_).fit(lines)
    >>> both = MixedLM([words, classes]).fit(["a cat sat"])
    >>> round(float(both.weights_.sum()), 12)
    1.0
    """

    weights_: Array
    _file = MIXED_FILE

    def __init__(self, models: Sequence[LanguageModel], weights: Any = None) -> None:
        self.models = models
        self.weights = weights

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is something to ask: weights were given, or chosen."""
        return self.weights is not None or super().__sklearn_is_fitted__()

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the weights: those under which a text is likeliest; weights that were given stay.

        Parameters
        ----------
        X : path, iterable of lines or of lists of words, or Arrow column
            A text that the models have not been fitted to.
        y : None
            Not used.
        """
        models = self._checked_models()
        if self.weights is not None:
            self._prepare(self.weights)
            return self
        from tacit.language.data.corpus import read_corpus

        first = models[0]
        corpus = read_corpus(
            X, vocabulary=first.vocabulary_, markers=first.markers, unknown=first.unknown
        )
        probs = np.exp([_scores(model, corpus).log_probs for model in models])
        if probs.shape[1] == 0:
            raise ArgumentError(
                "weights are chosen on a text, and this one is empty; give some lines"
            )
        weights, n_steps = likeliest_weights(probs)
        self._prepare(weights)
        self.diagnostics_["n_steps"] = n_steps
        return self

    def _check_fitted(self) -> None:
        if self.weights is not None and not hasattr(self, "diagnostics_"):
            self._prepare(self.weights)
        super()._check_fitted()

    def _checked_models(self) -> list[LanguageModel]:
        if isinstance(self.models, str) or not isinstance(self.models, Iterable):
            raise ArgumentTypeError(
                f"models is a {type(self.models).__name__!r}; give a list of fitted language models"
            )
        models = list(self.models)
        if not models:
            raise ArgumentError("models is empty; give one fitted language model or more")
        for model in models:
            if not isinstance(model, LanguageModel):
                raise ArgumentTypeError(
                    f"models holds a {type(model).__name__!r}; give fitted language models"
                )
            model._check_fitted()  # noqa: SLF001  the same room
            if model.vocabulary_ != models[0].vocabulary_:
                raise ArgumentError(
                    "the models know different words; fit all but the first with "
                    "vocabulary=first.vocabulary_"
                )
        return models

    def _restore(self, values: Mapping[str, Any]) -> None:
        self.models = list(self.models)
        self._prepare(values["weights_"])
        self.diagnostics_ = values["diagnostics_"]

    def _prepare(self, given: Any) -> None:
        """Take weights, and what models have in common; everything is checked."""
        models = self._checked_models()
        wrong = ArgumentError(
            f"weights={given!r}; give {len(models)} numbers of at least 0 that sum to 1"
        )
        try:
            weights = np.array(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise wrong from error
        good = weights.shape == (len(models),) and bool((weights >= 0).all())
        if not (good and abs(weights.sum() - 1) < 1e-9):
            raise wrong
        first = models[0]
        self.weights_, self.vocabulary_ = weights, first.vocabulary_
        self.markers, self.unknown = first.markers, first.unknown
        self.diagnostics_ = {"weights": weights.tolist()}

    def _line_scores(self, corpus: Corpus, *, begin: bool, end: bool) -> LineScores:
        from tacit.language.query.backoff import LineScores

        each = [
            model._line_scores(corpus, begin=begin, end=end)  # noqa: SLF001  the same room
            for model in self.models
        ]
        probs = self.weights_ @ np.exp([found.log_probs for found in each])
        orders = np.max([found.orders for found in each], axis=0)
        with np.errstate(divide="ignore"):
            return LineScores(np.log(probs), orders, each[0].unknown, each[0].ends)

    def _start(self, *, begin: bool) -> tuple[Any, ...]:
        return tuple(model._start(begin=begin) for model in self.models)  # noqa: SLF001

    def _step(self, state: tuple[Any, ...], word: int) -> tuple[float, int, tuple[Any, ...]]:
        found = [
            model._step(own, word)  # noqa: SLF001
            for model, own in zip(self.models, state, strict=True)
        ]
        logs, orders, behind = zip(*found, strict=True)
        prob = float(self.weights_ @ np.exp(logs))
        return float(np.log(prob)) if prob > 0 else -np.inf, max(orders), behind

    def _distribution(self, state: tuple[Any, ...]) -> Array:
        pairs = zip(self.weights_, self.models, state, strict=True)
        parts = [weight * model._distribution(own) for weight, model, own in pairs]  # noqa: SLF001
        total: Array = np.sum(parts, axis=0)
        return total


def _scores(model: LanguageModel, corpus: Corpus) -> LineScores:
    return model._line_scores(corpus, begin=True, end=True)  # noqa: SLF001  the same room


def likeliest_weights(probs: Array) -> tuple[Array, int]:
    """(model,) the weights of a mixture under which what was seen is likeliest, by EM; the number of steps.

    Parameters
    ----------
    probs : (model, word)
    """
    weights = np.full(len(probs), 1 / len(probs))
    best = -np.inf
    for step in range(1, MOST_STEPS + 1):
        parts = weights[:, None] * probs
        totals = parts.sum(axis=0)
        good = totals > 0
        value = float(np.log(totals[good]).mean()) if good.any() else -np.inf
        if value - best < LEAST_GAIN:
            return weights, step
        best = value
        weights = (parts[:, good] / totals[good]).mean(axis=1)
    return weights, MOST_STEPS
