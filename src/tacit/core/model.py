"""What all fitted models have in common: their kind, what they can do, scores, summary, files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from tacit.core.files.saved_model import SavedModel
from tacit.errors import DataError, FileFormatError, TacitError

if TYPE_CHECKING:
    from tacit.core.input.examples import Examples
    from tacit.core.progress import Report
    from tacit.core.summary import Summary

Array = NDArray[np.float64]
Kind = Literal[
    "table",
    "sequences",
    "language",
    "parser",
    "grammar",
    "topics",
    "mixture",
    "classifier",
    "imputer",
]


def checked_summary(summary: Callable[[Any], Summary]) -> Callable[[Any], Summary]:
    """A method `summary` that refuses diagnostics which are not those of `fit`, as in an edited file."""

    @wraps(summary)
    def checked(self: Any) -> Summary:
        self._check_fitted()
        try:
            return summary(self)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            if isinstance(error, TacitError):
                raise
            raise FileFormatError(
                f"the diagnostics of this {type(self).__name__} are not those that fit writes: "
                f"{type(error).__name__}: {error}; its file was edited"
            ) from error

    return checked


class Model(SavedModel, BaseEstimator):
    """The base of every estimator.

    Attributes
    ----------
    kind : str
        What the model is a model of. Commands and pictures use this and `can`, never attributes.
    abilities : frozenset of str
        What models of the class can do, of

        - "score": a log-likelihood; "sample": draw;
        - "predict": a target column of tables, the component of mixtures and topics, the class of
          classifiers;
        - "query": conditional distributions of tables; "impute": missing cells, and missing values of
          sequences;
        - "states": the posterior of hidden states; "paths": Viterbi paths;
        - "numbers": columns or positions may be numbers, with densities and quantiles; "atoms": some of which
          may have a probability; "intervals": and be given as intervals;
        - "next": the distribution of the next symbol or word; "ends": of where a sequence ends, too;
        - "forecast": the density of the next number;
        - "tree": a tree to draw and to write as Newick text; "components": one tree or several with weights;
          "junction": a junction tree; "bif": probability tables for BIF;
        - "transitions": a graph of states; "singular values": a spectrum to draw;
        - "topics"; "arpa"; "brackets" of sentences, with a "confidence"; "parse": labelled trees.
    """

    kind: ClassVar[Kind]
    abilities: ClassVar[frozenset[str]] = frozenset()
    diagnostics_: dict[str, Any]
    n_jobs: int | None
    progress: Any

    def can(self, ability: str) -> bool:
        """Whether this model, as it was fitted, can do something; see `abilities`."""
        return isinstance(ability, str) and ability in self.abilities

    @checked_summary
    def summary(self) -> Summary:
        """What was learnt, on a page: as text when printed, as HTML in a notebook."""
        from tacit.core.summary import Section, Summary

        plain = {
            name: value
            for name, value in self.diagnostics_.items()
            if isinstance(value, str | int | float)
        }
        return Summary(type(self).__name__, [Section("how it was learnt", facts=plain)])

    def _repr_html_(self) -> str:
        """The summary of a fitted model; of another what scikit-learn shows."""
        if self.__sklearn_is_fitted__():
            return self.summary()._repr_html_()
        shown: str = super()._repr_html_()
        return shown

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the model is fitted."""
        return hasattr(self, "diagnostics_")

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            from sklearn.utils.validation import check_is_fitted

            check_is_fitted(self)

    def _examples(self, X: Any) -> Examples:
        """What `fit` would learn from, read once, so that parts of it can be learnt from and compared."""
        from tacit.errors import NotAvailableError

        raise NotAvailableError(
            f"{type(self).__name__} has no likelihood to classify by; use models of tables, "
            f"numbers, sequences or text"
        )

    @contextmanager
    def _working(self) -> Iterator[Report]:
        """Within the block, as many threads as `n_jobs` says; progress goes where `progress` says."""
        from tacit.core.progress import reporting
        from tacit.core.threads import limit_threads

        n_jobs, progress = getattr(self, "n_jobs", None), getattr(self, "progress", None)
        with limit_threads(n_jobs), reporting(progress) as report:
            yield report


class Scored:
    """Models with a log-likelihood: everything follows from `score_samples`."""

    def score_samples(self, X: Any) -> Array:
        """Natural log-likelihood of each row, sequence, document or sentence."""
        raise NotImplementedError

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of `score_samples`: natural-log likelihood per row, sequence, document or sentence."""
        scores = self.score_samples(X)
        if not len(scores):
            raise DataError("there is nothing to score; give one example or more")
        return float(np.mean(scores))


class Counted(Scored):
    """Models with a countable number of free parameters: information criteria."""

    @property
    def n_parameters_(self) -> int:
        """Free parameters."""
        raise NotImplementedError

    def aic(self, X: Any) -> float:
        """Akaike's information criterion on X; smaller is better."""
        return float(2 * self.n_parameters_ - 2 * np.sum(self.score_samples(X)))

    def bic(self, X: Any) -> float:
        """The Bayesian information criterion on X; smaller is better."""
        scores = self.score_samples(X)
        return float(self.n_parameters_ * np.log(max(len(scores), 1)) - 2 * np.sum(scores))
