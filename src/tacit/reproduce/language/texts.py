"""Language models on texts: lines, learners, judged fits.

After the thesis, section 9.5: perplexities of a validation text and of a test text, ends of lines counted as
words. Its corpora are not available, so those of `tacit.datasets.texts` replace them. Less text is every n-th
line, which keeps it spread over all documents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

from tacit.reproduce.language.tuned_discounts import tuned_kneser_ney
from tacit.reproduce.runner.trials import Case, Fit, Method, Results, Study, Trial, timed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.language.data.vocabulary import Vocabulary
    from tacit.language.language_queries import LanguageModel

    Array = NDArray[np.float64]

# Learners.
KNESER_NEY, CLASSES, MIXTURE, ENSEMBLE = "kneser-ney", "classes", "mixture", "ensemble"
TUNED = "tuned kneser-ney"

RUSSIAN, ENGLISH = "russian-drama-novels", "english-eltec"
CORPORA = ("ptb", "wikitext-2", ENGLISH, RUSSIAN)
# What the thesis has in place of each.
STANDS_FOR = dict.fromkeys(CORPORA, "English") | {RUSSIAN: "Russian"}

# The thesis' ranks for its Russian text, as fractions of the vocabulary; those for English are the preset's.
RANK_FRACTIONS = {RUSSIAN: (5e-4, 1e-3)}

N_DRAWS = 10  # test texts that are drawn from the lines of the given one
WARM_UP = 200  # lines of the fit that is not timed

BO_KN, INT_KN, BO_MKN, INT_MKN = (
    Method(name, KNESER_NEY, (("modified", "M" in name), ("interpolated", "int" in name)))
    for name in ("BO-KN", "int-KN", "BO-MKN", "int-MKN")
)
TUNED_MKN = Method("tuned int-MKN", TUNED)
PLRE = Method("PLRE", ENSEMBLE, (("preset", "printed"), ("choose", True)), as_printed=True)
TACIT_PLRE = Method("Tacit PLRE", ENSEMBLE, (("choose", True),))
TACIT_FORMS = {PLRE.name: TACIT_PLRE.name}


RESULTS: Results = {
    "test": math.inf,  # perplexity
    "valid": math.inf,  # the same of the validation text
    "gain": 0.0,  # per cent of int-MKN's perplexity of the test text that this one is lower
    "mean": math.inf,  # perplexity of test texts whose lines are drawn from the given one
    "spread": 0.0,  # standard deviation over these
    "n_ahead": 0,  # of these texts, those whose perplexity is below that of int-MKN
    "seconds": 0.0,  # CPU time of the whole fit, model selection included
    "n_words": 0,  # of the training text
    "n_types": 0,  # words of the vocabulary
    "chosen": "",  # on the validation text
}


@dataclass(frozen=True)
class TextCase(Case):
    """Which corpus, and how much of it."""

    corpus: str  # a name for `load_corpus`
    every: int = 1  # uses every n-th training line
    every_held: int = 1  # uses every n-th validation and test line

    def __str__(self) -> str:
        return self.corpus if self.every == 1 else f"{self.corpus}, 1/{self.every}"


def judge(trial: Trial, scores: Scores) -> Results:
    """Perplexities, beside those of modified Kneser-Ney of the same order."""
    texts = texts_of(trial.case)
    peer: Scores = fit_and_score(trial.case, trial.size, trial.seed, INT_MKN).value
    drawn = scores.drawn()
    return {
        "test": scores.test,
        "valid": scores.valid,
        "gain": gain(scores.test, peer.test),
        "mean": float(drawn.mean()),
        "spread": float(drawn.std(ddof=1)),
        "n_ahead": int((drawn < peer.drawn()).sum()),
        "n_words": texts.n_words,
        "n_types": len(texts.vocabulary),
        "chosen": scores.chosen,
    }


def gain(perplexity: float, other: float) -> float:
    """By how many per cent of the other a perplexity is lower."""
    return 100.0 * (1.0 - perplexity / other)


@dataclass(frozen=True, eq=False)
class Scores:
    """What a fitted model gives the texts."""

    valid: float  # perplexity
    log_probs: Array  # (line,) natural-log probability of each line of the test text
    sizes: Array  # (line,) words, its end counted
    chosen: str

    @property
    def test(self) -> float:
        """The perplexity of the test text."""
        return math.exp(-self.log_probs.sum() / self.sizes.sum())

    def drawn(self) -> Array:
        """(text,) perplexities of as many lines drawn with replacement, the same for all models."""
        import numpy as np

        n_lines = len(self.sizes)
        lines = np.random.default_rng(0).integers(n_lines, size=(N_DRAWS, n_lines))
        means = self.log_probs[lines].sum(axis=1) / self.sizes[lines].sum(axis=1)
        return np.asarray(np.exp(-means))


@lru_cache(maxsize=256)  # experiments that are run together share their fits
def fit_and_score(case: TextCase, order: int, seed: int, method: Method) -> Fit:
    """Learn and score; models are large and are not kept."""
    import numpy as np

    texts = texts_of(case)
    _warm_up(case, order, _without_size(method))
    fitted = learn(texts, order, seed, method)
    model: LanguageModel = fitted.value
    scores = model.line_scores(texts.test)
    sizes = np.diff(scores.ends, prepend=0).astype(np.float64)
    valid = float(model.perplexity(texts.valid))
    return replace(fitted, result=Scores(valid, scores.sums(), sizes, chosen(model)))


def _work(trial: Trial) -> int:
    from tacit.datasets.texts import corpus_path

    options = dict(trial.method.options)
    ensemble = 20 if "preset" in options else 200
    learners = {CLASSES: options.get("n_classes", 0), ENSEMBLE: ensemble, TUNED: 300}
    size = corpus_path(trial.case.corpus).stat().st_size
    return 1 + size * int(learners.get(trial.method.learn, 3)) // (1000 * int(trial.case.every))


STUDY = Study(
    size="order",
    results=RESULTS,
    fit=lambda trial: fit_and_score(trial.case, trial.size, trial.seed, trial.method),
    judge=judge,
    words="{case}, order {size}, {method.name}",
    work=_work,
)


# -- learning -----------------------------------------------------------------------------------------


def learn(texts: Texts, order: int, seed: int, method: Method) -> Fit:
    """The model that a method learns from the training text; the validation text makes choices."""
    options = dict(method.options)
    if method.learn == CLASSES:
        return _classes(texts, order, options["n_classes"])
    if method.learn == MIXTURE:
        return _mixture(texts, order, options["n_classes"])
    if method.learn == ENSEMBLE:
        return _ensemble(texts, order, seed, **options)
    if method.learn == TUNED:
        return timed(tuned_kneser_ney, texts, order)
    assert method.learn == KNESER_NEY, method
    return _kneser_ney(texts, order, **options)


def chosen(model: LanguageModel) -> str:
    """What was chosen on the validation text."""
    from tacit.language.kneser_ney_lm import KneserNeyLM
    from tacit.language.mixed_lm import MixedLM
    from tacit.language.power_low_rank_lm import PowerLowRankLM

    if isinstance(model, MixedLM):
        return f"weight of classes {model.weights_[1]:.3f}"
    if isinstance(model, KneserNeyLM) and model.discounts_[0].source == "given":
        table = [" ".join(f"{value:.2f}" for value in order.values) for order in model.discounts_]
        return f"discounts {', '.join(table)}"
    if not isinstance(model, PowerLowRankLM):
        return ""
    plans = [(order, plan.ranks) for order, plan in sorted(model.plans_.items()) if plan.ranks]
    return "; ".join(f"order {order}: ranks {' '.join(map(str, ranks))}" for order, ranks in plans)


def _kneser_ney(texts: Texts, order: int, **options: Any) -> Fit:
    from tacit.language.kneser_ney_lm import KneserNeyLM

    model = KneserNeyLM(order, vocabulary=texts.vocabulary, **options)
    return timed(model.fit, texts.train)


@lru_cache(maxsize=2)  # of a text and of a few of its lines; mixtures have the same classes
def _classes(texts: Texts, order: int, n_classes: int) -> Fit:
    from tacit.language.class_lm import ClassLM

    return timed(ClassLM(order, n_classes, vocabulary=texts.vocabulary).fit, texts.train)


def _mixture(texts: Texts, order: int, n_classes: int) -> Fit:
    from tacit.language.mixed_lm import MixedLM

    classes, words = _classes(texts, order, n_classes), _kneser_ney(texts, order)
    model = MixedLM([words.value, classes.value])
    return timed(model.fit, texts.valid, spent=classes.seconds + words.seconds)


def _ensemble(texts: Texts, order: int, seed: int, *, choose: bool, **options: Any) -> Fit:
    """A power low rank ensemble; `ranks` are pairs of an order and a rank."""
    if not (choose and texts.rank_fractions and options.get("preset") == "printed"):
        return _one_ensemble(texts, order, seed, choose=choose, **options)
    n_types = len(texts.vocabulary)
    ranks = dict.fromkeys(max(round(part * n_types), 1) for part in texts.rank_fractions)
    orders = [low for low in (2, 3) if low <= order]
    best, lowest, seconds = None, math.inf, 0.0
    for combination in product(ranks, repeat=len(orders)):  # models are large: no two are kept
        pairs = tuple(zip(orders, combination, strict=True))
        fitted = _one_ensemble(texts, order, seed, choose=False, ranks=pairs, **options)
        seconds += fitted.seconds
        if (perplexity := float(fitted.value.perplexity(texts.valid))) < lowest:
            best, lowest = fitted, perplexity
    assert best is not None
    return replace(best, seconds=seconds)


def _one_ensemble(texts: Texts, order: int, seed: int, *, choose: bool, **options: Any) -> Fit:
    from tacit.language.power_low_rank_lm import PowerLowRankLM

    if "ranks" in options:
        options["ranks"] = {low: (rank,) for low, rank in options["ranks"] if low <= order}
    model = PowerLowRankLM(
        order, vocabulary=texts.vocabulary, random_state=seed, n_jobs=1, **options
    )
    return timed(model.fit, texts.train, validation=texts.valid if choose else None)


@lru_cache(maxsize=64)
def _warm_up(case: TextCase, order: int, method: Method) -> None:
    """Learn once from few lines, so that no trial pays for compiling."""
    learn(_few_lines(case), order, 0, method)


@lru_cache(maxsize=2)
def _few_lines(case: TextCase) -> Texts:
    few = texts_of(case).train[:WARM_UP]
    return Texts.of(few, few, few)


def _without_size(method: Method) -> Method:
    """The same learner with few classes, which compiles the same loops."""
    small = (("n_classes", 2),) if method.learn in {CLASSES, MIXTURE} else method.options
    return Method("", method.learn, small)


# -- data ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Texts:
    """Training, validation and test lines."""

    train: list[str]
    valid: list[str]
    test: list[str]
    vocabulary: Vocabulary  # of the training text
    n_words: int
    # Of the vocabulary, to choose from; else those of the preset.
    rank_fractions: tuple[float, ...] = ()

    @staticmethod
    def of(train: list[str], valid: list[str], test: list[str], min_count: int = 1) -> Texts:
        """Words that occur less often become ``<unk>``, and so do words of the other texts."""
        from tacit.language.data.corpus import read_corpus

        corpus = read_corpus(train, min_count=min_count)
        return Texts(train, valid, test, corpus.vocabulary, corpus.n_words)


@lru_cache(maxsize=2)
def texts_of(case: TextCase) -> Texts:
    """The lines of a case."""
    from tacit.datasets.texts import MIN_COUNTS

    steps = {"train": case.every, "valid": case.every_held, "test": case.every_held}
    train, valid, test = (lines_of(case.corpus, split)[::n] for split, n in steps.items())
    texts = Texts.of(train, valid, test, MIN_COUNTS[case.corpus])
    return replace(texts, rank_fractions=RANK_FRACTIONS.get(case.corpus, ()))


def lines_of(corpus: str, split: str) -> list[str]:
    """All lines of a part of a corpus, blank ones too."""
    from tacit.core.input.text import text_sources
    from tacit.datasets.texts import corpus_path

    sources = text_sources(corpus_path(corpus, split))
    text = b"".join(block for source in sources for block in source.blocks).decode()
    return text.removesuffix("\n").split("\n")


def check_corpora() -> None:
    """Raise where a corpus is not where loaders look."""
    from tacit.datasets.texts import corpus_path

    for corpus in CORPORA:
        for split in ("train", "valid", "test"):
            corpus_path(corpus, split)
