"""Language models with the interface of the ``kenlm`` module: change the import, and nothing else.

>>> from tacit.language import kenlm  # instead of: import kenlm

Logarithms are to base 10 here, as in KenLM; everywhere else in Tacit they are natural.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import total_ordering
from typing import Any

import numpy as np

from tacit.core.files.atomic import check_path
from tacit.errors import ArgumentError, ArgumentTypeError
from tacit.language.data.vocabulary import UNKNOWN
from tacit.language.kneser_ney_lm import BackoffLM

_TEN = float(np.log(10.0))


class LoadMethod:
    """How ``kenlm.Model`` loads binary files; accepted and not used."""

    LAZY, POPULATE_OR_LAZY, POPULATE_OR_READ, READ, PARALLEL_READ = range(5)


class ARPALoadComplain:
    """What ``kenlm.Model`` complains about; accepted and not used."""

    ALL, EXPENSIVE, NONE = range(3)


class Config:
    """Settings of ``kenlm.Model``; accepted and not used."""

    def __init__(self) -> None:
        self.load_method = LoadMethod.POPULATE_OR_READ
        self.show_progress = False
        self.arpa_complain = ARPALoadComplain.ALL


@total_ordering
class State:
    """The state of a model after some words; written by a `Model`."""

    __slots__ = ("_at",)

    def __init__(self) -> None:
        self._at = -1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self._at == other._at

    def __lt__(self, other: State) -> bool:
        return self._at < other._at

    def __hash__(self) -> int:
        return hash(self._at)

    def __copy__(self) -> State:
        out = State()
        out._at = self._at
        return out

    def __deepcopy__(self, memo: Any) -> State:
        return self.__copy__()


class FullScoreReturn:
    """The score of a word by `Model.BaseFullScore`."""

    __slots__ = ("log_prob", "ngram_length", "oov")

    def __init__(self, log_prob: float, ngram_length: int, oov: bool) -> None:
        self.log_prob = log_prob  # to base 10
        self.ngram_length = ngram_length
        self.oov = oov

    def __repr__(self) -> str:
        return f"FullScoreReturn({self.log_prob}, {self.ngram_length}, {self.oov})"


class Model:
    """An n-gram model of a file, with the methods of ``kenlm.Model``.

    Parameters
    ----------
    path : str, path or fitted model
        An ARPA file, compressed or not, a model file of Tacit, or a fitted n-gram model.
        KenLM's own binary files are not read.
    config
        A `Config`; accepted and not used.
    """

    def __init__(self, path: str | os.PathLike[str] | BackoffLM, config: Any = None) -> None:
        from tacit.core.files.load import load

        if not isinstance(path, BackoffLM):
            check_path(path)
        self.path = path if isinstance(path, BackoffLM) else os.fspath(path)
        if isinstance(path, BackoffLM):
            self._model = path
        elif str(path).endswith(".tacit"):
            self._model = load(path)
        else:
            self._model = BackoffLM.from_arpa(path, normalize=False)
        self._known = self._model.vocabulary_
        self._n_contexts = _n_contexts(self._model)

    @property
    def order(self) -> int:
        """The highest order of the n-grams."""
        return self._model.order_

    def score(self, sentence: str | bytes, bos: bool = True, eos: bool = True) -> float:
        """The logarithm to base 10 of the probability of a sentence: log10 p(sentence </s> | <s>)."""
        text = sentence if isinstance(sentence, str) else _text(sentence)
        log_prob = self._model._text_log_prob(text, begin=bos, end=eos)  # noqa: SLF001  the same family
        return log_prob / _TEN

    def perplexity(self, sentence: str | bytes) -> float:
        """The perplexity of a sentence, its end included."""
        words = len(_text(sentence).encode().split()) + 1
        return float(10.0 ** (-self.score(sentence) / words))

    def full_scores(
        self, sentence: str | bytes, bos: bool = True, eos: bool = True
    ) -> Iterator[tuple[float, int, bool]]:
        """For each word, and the end: log10 probability, length of the n-gram used, unknown or not."""
        from tacit.language.data.corpus import Corpus

        ids = np.array(self._known.line_places(_text(sentence)), dtype=np.int32)
        corpus = Corpus(ids, np.array([len(ids)]), self._known)
        scores = self._model._line_scores(corpus, begin=bos, end=eos)  # noqa: SLF001
        log_probs = (scores.log_probs / _TEN).tolist()
        yield from zip(log_probs, scores.orders.tolist(), scores.unknown.tolist(), strict=True)

    def BeginSentenceWrite(self, state: State) -> None:
        """Make a state that of the beginning of a sentence."""
        state._at = self._model._begin  # noqa: SLF001

    def NullContextWrite(self, state: State) -> None:
        """Make a state that of no context."""
        state._at = -1  # noqa: SLF001

    def BaseScore(self, in_state: State, word: str | bytes, out_state: State) -> float:
        """The log10 probability of a word after a state; the state after it is written."""
        return self.BaseFullScore(in_state, word, out_state).log_prob

    def BaseFullScore(
        self, in_state: State, word: str | bytes, out_state: State
    ) -> FullScoreReturn:
        """Log10 probability, length of the n-gram and unknown or not; the state after it is written."""
        at, n_contexts = in_state._at, self._n_contexts  # noqa: SLF001
        if isinstance(at, int) and not -1 <= at < n_contexts:
            raise ArgumentError(
                f"the state is not one of this model, which has {n_contexts} contexts; begin with "
                f"BeginSentenceWrite or NullContextWrite of this model"
            )
        place = int(self._known.ids([_text(word)])[0])
        log_prob, order, out_state._at = self._model._step(at, place)  # noqa: SLF001
        return FullScoreReturn(log_prob / _TEN, order, place == UNKNOWN)

    def __contains__(self, word: str | bytes) -> bool:
        return _text(word) in self._known and _text(word) != "<unk>"

    def __repr__(self) -> str:
        return f"<Model from {os.path.basename(str(self.path))}>"  # noqa: PTH119


def _n_contexts(model: Any) -> int:
    """How many states a model has, where these are numbers."""
    fitted = getattr(model, "model_", None)
    grams = getattr(fitted, "grams", fitted)
    return 0 if grams is None else int(grams.n_contexts)


def _text(text: str | bytes) -> str:
    if isinstance(text, str):
        return text
    if isinstance(text, bytes):
        return text.decode()
    raise ArgumentTypeError(f"{text!r} is not a text; give a string of words separated by blanks")


LanguageModel = Model
