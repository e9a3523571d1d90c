"""Language models on texts: which lines, ways of learning, and one judged fit.

After the thesis, section 9.5: perplexities of a text that choices are made on and of another one, ends of
lines counted as words. Its corpora are not to be had, so that those of `tacit.datasets.texts` stand in for
them. Less text is every so-manieth line of all, which keeps it spread over all documents.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.reproduce.runner.grids import Grid, GridTrial, Method
from tacit.reproduce.runner.outcomes import Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.language.data.vocabulary import Vocabulary
    from tacit.language.language_queries import LanguageModel
    from tacit.language.query.backoff import LineScores

    Array = NDArray[np.float64]

# Ways of learning.
KNESER_NEY, CLASSES, MIXTURE, ENSEMBLE = "kneser-ney", "classes", "mixture", "ensemble"

RUSSIAN, ENGLISH = "russian-drama-novels", "english-eltec"
CORPORA = ("ptb", "wikitext-2", ENGLISH, RUSSIAN)
# What the thesis has in place of each.
STANDS_FOR = dict.fromkeys(CORPORA, "English") | {RUSSIAN: "Russian"}

# The thesis' ranks for its Russian text, as shares of the vocabulary; those for English are the preset's.
RANK_SHARES = {RUSSIAN: (5e-4, 1e-3)}

N_DRAWS = 10  # test texts that are drawn from the lines of the given one
WARM_UP = 200  # lines of the fit that is not timed

BO_KN, INT_KN, BO_MKN, INT_MKN = (
    Method(name, KNESER_NEY, (("modified", "M" in name), ("interpolated", "int" in name)))
    for name in ("BO-KN", "int-KN", "BO-MKN", "int-MKN")
)
PLRE = Method("PLRE", ENSEMBLE, (("preset", "thesis"), ("choose", True)), as_printed=True)
OWN = Method("Tacit PLRE", ENSEMBLE, (("choose", True),))
OURS = {PLRE.name: OWN.name}


@dataclass(frozen=True)
class TextCase:
    """Which corpus, and how much of it."""

    corpus: str  # a name for `load_corpus`
    every: int = 1  # so-manieth line is learnt from
    every_held: int = 1  # so-manieth line is chosen by, or judged on

    @property
    def columns(self) -> dict[str, Any]:
        """What all lines of this case have in common."""
        return asdict(self)

    def __str__(self) -> str:
        return self.corpus if self.every == 1 else f"{self.corpus}, 1/{self.every}"


@dataclass(frozen=True)
class TextRun(Outcome):
    """A trial and what came of it: one line of the table."""

    along: ClassVar[str] = "order"
    first_result: ClassVar[str] = "test"

    corpus: str
    every: int
    every_held: int
    order: int
    seed: int
    method: str
    settings: str
    version: str
    test: float  # perplexity
    valid: float  # the same of the text to choose by
    gain: float  # per cent of int-MKN's perplexity of the test text that this one is lower
    mean: float  # perplexity of test texts whose lines are drawn from the given one
    spread: float  # standard deviation over these
    n_ahead: int  # of these texts, those whose perplexity is below that of int-MKN
    seconds: float  # CPU time of the whole fit, with what is chosen
    n_words: int  # that were learnt from
    n_types: int  # words of the vocabulary
    chosen: str  # on the text to choose by

    @property
    def case(self) -> TextCase:
        """The text of this run."""
        return TextCase(self.corpus, self.every, self.every_held)


class TextTrial(GridTrial[TextCase]):
    """One way of learning n-grams of one order."""

    @property
    def work(self) -> int:
        """How long it takes, about."""
        from tacit.datasets.texts import corpus_path

        options = dict(self.method.options)
        printed = "preset" in options
        each = {CLASSES: options.get("n_classes", 0), ENSEMBLE: 20 if printed else 200}.get(
            self.method.learn, 3
        )
        size = corpus_path(self.case.corpus).stat().st_size
        return 1 + size * int(each) // (1000 * self.case.every)

    def run(self) -> TextRun:
        """Learn and judge."""
        return perform(self)

    def __str__(self) -> str:
        return f"{self.case}, order {self.size}, {self.method.name}"


class TextSettings(Grid[TextCase]):
    """Every text with every order and method."""

    trial = TextTrial
    kind = TextRun


def perform(trial: TextTrial) -> TextRun:
    """Learn from the training text and judge on the others, beside modified Kneser-Ney."""
    case, texts = trial.case, texts_of(trial.case)
    own = judged(case, trial.size, trial.seed, trial.method)
    peer = judged(case, trial.size, trial.seed, INT_MKN)
    drawn, of_peer = own.drawn(), peer.drawn()
    return TextRun.of(
        trial.key,
        own.test,
        own.valid,
        gain(own.test, peer.test),
        float(drawn.mean()),
        float(drawn.std(ddof=1)),
        int((drawn < of_peer).sum()),
        own.seconds,
        texts.n_words,
        len(texts.vocabulary),
        own.chosen,
    )


def gain(perplexity: float, other: float) -> float:
    """By how many per cent of the other a perplexity is lower."""
    return 100.0 * (1.0 - perplexity / other)


@dataclass(frozen=True, eq=False)
class Judged:
    """What a fitted model says of the texts."""

    valid: float  # perplexity
    logs: Array  # (line,) natural-log probability of each line of the test text
    sizes: Array  # (line,) words, its end counted
    seconds: float  # CPU time of learning
    chosen: str

    @property
    def test(self) -> float:
        """The perplexity of the test text."""
        return math.exp(-self.logs.sum() / self.sizes.sum())

    def drawn(self) -> Array:
        """(text,) perplexities of as many lines drawn with replacement, the same for all models."""
        import numpy as np

        lines = np.random.default_rng(0).integers(len(self.logs), size=(N_DRAWS, len(self.logs)))
        found: Array = np.exp(-self.logs[lines].sum(axis=1) / self.sizes[lines].sum(axis=1))
        return found


@lru_cache(maxsize=256)  # experiments that are run together ask for the same fits
def judged(case: TextCase, order: int, seed: int, method: Method) -> Judged:
    """Learn and score."""
    import numpy as np

    texts = texts_of(case)
    _warm_up(case, order, _without_size(method))
    found = learnt(texts, order, seed, method)
    scores: LineScores = found.model.line_scores(texts.test)
    sizes = np.diff(scores.ends, prepend=0).astype(np.float64)
    valid = float(found.model.perplexity(texts.valid))
    return Judged(valid, scores.sums(), sizes, found.seconds, found.chosen)


# -- learning -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Learnt:
    """A fitted model, the CPU time that it took, and what was chosen."""

    model: LanguageModel
    seconds: float
    chosen: str = ""


def learnt(texts: Texts, order: int, seed: int, method: Method) -> Learnt:
    """What a method learns from the training text; where there is something to choose, on the other."""
    options = dict(method.options)
    if method.learn == CLASSES:
        return _classes(texts, order, options["n_classes"])
    if method.learn == MIXTURE:
        return _mixture(texts, order, options["n_classes"])
    if method.learn == ENSEMBLE:
        return _ensemble(texts, order, seed, **options)
    assert method.learn == KNESER_NEY, method
    return _kneser_ney(texts, order, **options)


def _kneser_ney(texts: Texts, order: int, **options: Any) -> Learnt:
    from tacit.language.kneser_ney_lm import KneserNeyLM

    begun = time.process_time()
    model = KneserNeyLM(order, vocabulary=texts.vocabulary, **options).fit(texts.train)
    return Learnt(model, time.process_time() - begun)


@lru_cache(maxsize=2)  # of a text and of a few of its lines; mixtures have the same classes
def _classes(texts: Texts, order: int, n_classes: int) -> Learnt:
    from tacit.language.class_lm import ClassLM

    begun = time.process_time()
    model = ClassLM(order, n_classes, vocabulary=texts.vocabulary).fit(texts.train)
    return Learnt(model, time.process_time() - begun)


def _mixture(texts: Texts, order: int, n_classes: int) -> Learnt:
    from tacit.language.mixed_lm import MixedLM

    classes, words = _classes(texts, order, n_classes), _kneser_ney(texts, order)
    begun = time.process_time()
    mixed = MixedLM([words.model, classes.model]).fit(texts.valid)
    seconds = time.process_time() - begun + classes.seconds + words.seconds
    return Learnt(mixed, seconds, f"weight of classes {mixed.weights_[1]:.3f}")


def _ensemble(texts: Texts, order: int, seed: int, *, choose: bool, **options: Any) -> Learnt:
    """A power low rank ensemble; `ranks` are pairs of an order and a rank."""
    if not (choose and texts.rank_shares and options.get("preset") == "thesis"):
        return _one_ensemble(texts, order, seed, choose=choose, **options)
    ranks = dict.fromkeys(max(round(s * len(texts.vocabulary)), 1) for s in texts.rank_shares)
    orders = [at for at in (2, 3) if at <= order]
    best, lowest, seconds = None, math.inf, 0.0
    for each in product(ranks, repeat=len(orders)):  # models are large: no two are kept
        given = tuple(zip(orders, each, strict=True))
        found = _one_ensemble(texts, order, seed, choose=False, ranks=given, **options)
        seconds += found.seconds
        if (perplexity := float(found.model.perplexity(texts.valid))) < lowest:
            best, lowest = found, perplexity
    assert best is not None
    return replace(best, seconds=seconds)


def _one_ensemble(texts: Texts, order: int, seed: int, *, choose: bool, **options: Any) -> Learnt:
    from tacit.language.power_low_rank_lm import PowerLowRankLM

    if "ranks" in options:
        options["ranks"] = {at: (rank,) for at, rank in options["ranks"] if at <= order}
    model = PowerLowRankLM(
        order, vocabulary=texts.vocabulary, random_state=seed, n_jobs=1, **options
    )
    begun = time.process_time()
    model.fit(texts.train, validation=texts.valid if choose else None)
    seconds = time.process_time() - begun
    plans = [(at, plan.ranks) for at, plan in sorted(model.plans_.items()) if plan.ranks]
    said = [f"order {at}: ranks {' '.join(map(str, ranks))}" for at, ranks in plans]
    return Learnt(model, seconds, "; ".join(said))


@lru_cache(maxsize=64)
def _warm_up(case: TextCase, order: int, method: Method) -> None:
    """Learn once from few lines, so that no trial pays for compiling."""
    learnt(_few_lines(case), order, 0, method)


@lru_cache(maxsize=2)
def _few_lines(case: TextCase) -> Texts:
    few = texts_of(case).train[:WARM_UP]
    return Texts.of(few, few, few)


def _without_size(method: Method) -> Method:
    """The same way of learning with few classes: what is compiled is the same."""
    small = (("n_classes", 2),) if method.learn in {CLASSES, MIXTURE} else method.options
    return Method("", method.learn, small)


# -- data ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Texts:
    """Lines to learn from, to choose by and to judge on."""

    train: list[str]
    valid: list[str]
    test: list[str]
    vocabulary: Vocabulary  # of the training text
    n_words: int
    rank_shares: tuple[
        float, ...
    ] = ()  # of the vocabulary, to choose from; else those of the preset

    @staticmethod
    def of(train: list[str], valid: list[str], test: list[str], min_count: int = 1) -> Texts:
        """Words that occur less often become ``<unk>``, and so do words of the other texts."""
        from tacit.language.data.corpus import read_corpus

        corpus = read_corpus(train, min_count=min_count)
        return Texts(train, valid, test, corpus.vocabulary, corpus.n_words)


@lru_cache(maxsize=2)
def texts_of(case: TextCase) -> Texts:
    """The lines of a case.

    Raises
    ------
    MissingDataError
        The files are not where loaders look.
    """
    from tacit.datasets.texts import LEAST_COUNTS

    train, valid, test = (
        lines_of(case.corpus, split)[::every]
        for split, every in (
            ("train", case.every),
            ("valid", case.every_held),
            ("test", case.every_held),
        )
    )
    texts = Texts.of(train, valid, test, LEAST_COUNTS[case.corpus])
    return replace(texts, rank_shares=RANK_SHARES.get(case.corpus, ()))


def lines_of(corpus: str, split: str) -> list[str]:
    """All lines of a part of a corpus, blank ones too."""
    from tacit.core.input.text import text_sources
    from tacit.datasets.texts import corpus_path

    sources = text_sources(corpus_path(corpus, split))
    text = b"".join(block for source in sources for block in source.blocks).decode()
    return text.removesuffix("\n").split("\n")


def all_there() -> None:
    """Raise where a corpus is not where loaders look.

    Raises
    ------
    MissingDataError
    """
    from tacit.datasets.texts import corpus_path

    for corpus in CORPORA:
        for split in ("train", "valid", "test"):
            corpus_path(corpus, split)
