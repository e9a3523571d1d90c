"""Mixtures of language models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.core.limits import shown
from tacit.core.model import checked_summary
from tacit.errors import ArgumentError, ArgumentTypeError
from tacit.language.language_queries import LanguageModel
from tacit.language.model_files import MIXED_FILE

if TYPE_CHECKING:
    from tacit.core.summary import Summary
    from tacit.language.data.corpus import Corpus
    from tacit.language.query.backoff import LineScores

Array = NDArray[np.float64]


class MixedLM(LanguageModel):
    """Several fitted language models of the same words, each with a weight.

    The probability of a word is the weighted mean of those of the models.

    Parameters
    ----------
    models : list of fitted language models
        All with the same vocabulary: fit the later ones with ``vocabulary=first.vocabulary_``.
    weights : list of float, optional
        By default `fit` chooses them on a text that none of the models was fitted to.

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

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Choose the weights with the highest likelihood of a text, unless they are given.

        Parameters
        ----------
        X : path, iterable of lines or of lists of words, or Arrow column
            A text that the models were not fitted to; not needed if weights are given.
        y : None
            Not used.
        """
        from tacit.language.learn.mixture_weights import mixture_weights

        models = self._checked_models()
        if self.weights is not None:
            self._set_weights(self.weights)
            return self
        if X is None:
            raise ArgumentError("X is None; give a text to choose the weights by, or weights")
        from tacit.language.data.corpus import read_corpus

        first = models[0]
        corpus = read_corpus(
            X, vocabulary=first.vocabulary_, markers=first.markers, unknown=first.unknown
        )
        probs = np.exp([_scores(model, corpus).log_probs for model in models])
        if probs.shape[1] == 0:
            raise ArgumentError(
                "weights are chosen by a text, and this one is empty; give some lines"
            )
        weights, n_steps = mixture_weights(probs)
        self._set_weights(weights)
        self.diagnostics_["n_steps"] = n_steps
        return self

    @checked_summary
    def summary(self) -> Summary:
        """The models with their weights, and a page about each."""
        from tacit.language.query.summary import mixture_summary

        pages = [model.summary() for model in self.models]
        return mixture_summary(pages, self.weights_, self.diagnostics_)

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
            model._check_fitted()  # noqa: SLF001  the same family
            if model.vocabulary_ != models[0].vocabulary_:
                raise ArgumentError(
                    "the models know different words; fit all but the first with "
                    "vocabulary=first.vocabulary_"
                )
        return models

    def _restore(self, values: Mapping[str, Any]) -> None:
        self.models = list(self.models)
        self._set_weights(values["weights_"])
        self.diagnostics_ = values["diagnostics_"]

    def _set_weights(self, values: Any) -> None:
        """Check weights and keep them, with what the models have in common."""
        models = self._checked_models()
        wrong = ArgumentError(
            f"weights={shown(values)}; give {len(models)} numbers of at least 0 that sum to 1"
        )
        try:
            weights = np.array(values, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
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

        parts = [
            model._line_scores(corpus, begin=begin, end=end)  # noqa: SLF001  the same family
            for model in self.models
        ]
        probs = self.weights_ @ np.exp([part.log_probs for part in parts])
        orders = np.max([part.orders for part in parts], axis=0)
        with np.errstate(divide="ignore"):
            return LineScores(np.log(probs), orders, parts[0].unknown, parts[0].ends)

    def _checked_state(self, state: Any) -> tuple[Any, ...]:
        if not isinstance(state, tuple) or len(state) != len(self.models):
            raise ArgumentError(
                f"state={shown(state)} is none of this mixture of {len(self.models)} models; give what "
                f"its own `state` or `step` gave"
            )
        pairs = zip(self.models, state, strict=True)
        return tuple(model._checked_state(part) for model, part in pairs)  # noqa: SLF001

    def _start(self, *, begin: bool) -> tuple[Any, ...]:
        return tuple(model._start(begin=begin) for model in self.models)  # noqa: SLF001

    def _step(self, state: tuple[Any, ...], word: int) -> tuple[float, int, tuple[Any, ...]]:
        steps = [
            model._step(part, word)  # noqa: SLF001
            for model, part in zip(self.models, state, strict=True)
        ]
        log_probs, orders, after = zip(*steps, strict=True)
        prob = float(self.weights_ @ np.exp(log_probs))
        return float(np.log(prob)) if prob > 0 else -np.inf, max(orders), after

    def _distribution(self, state: tuple[Any, ...]) -> Array:
        pairs = zip(self.weights_, self.models, state, strict=True)
        parts = [weight * model._distribution(part) for weight, model, part in pairs]  # noqa: SLF001
        return np.asarray(np.sum(parts, axis=0))


def _scores(model: LanguageModel, corpus: Corpus) -> LineScores:
    return model._line_scores(corpus, begin=True, end=True)  # noqa: SLF001  the same family
