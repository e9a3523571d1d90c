"""Translation from English, where language models rescore lists of translations: data, learners, judged runs.

After the thesis, section 9.6. Its data (WMT 2013, English to Russian) and its decoder (hierarchical phrases)
are replaced by Multi30k and by the small phrase-based system of `translation`. As there, weights of features
are tuned with modified Kneser-Ney and kept when another language model takes its place, and tuning is
repeated. The decoder has a bigram model, so that its lists favour none of the models that rescore them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tacit.reproduce.language.texts import INT_MKN, PLRE, TACIT_PLRE, Texts, learn
from tacit.reproduce.runner.trials import Case, Fit, Method, Results, Study, Trial, timed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.language.language_queries import LanguageModel
    from tacit.reproduce.language.translation.decoder import Decoder
    from tacit.reproduce.language.translation.mira import Lists

    Array = NDArray[np.float64]

ENGLISH = "en"
NAMES = {"cs": "Czech", "de": "German"}
SPLITS = ("train", "valid", "test")
MIN_COUNT = 2  # words of the training text that occur less often are unknown, as in the thesis

# What is judged beside the models that rescore: both ends, and the lists as they are.
WORD_BY_WORD = Method("word by word", "words")
DECODER_ORDER = 2
DECODER = Method("decoder alone", "decoder", (("order", DECODER_ORDER),))
ORACLE = Method("best of each list", "oracle")
RESCORING = (INT_MKN, PLRE, TACIT_PLRE)

N_ROUNDS = 4  # of decoding and tuning, which give the weights of the decoder

RESULTS: Results = {
    "bleu": 0.0,  # of the test text, in per cent
    "valid_bleu": 0.0,  # of the validation text, which weights are tuned on
    "gain": 0.0,  # BLEU above that of int-MKN with the same weights
    "perplexity": math.inf,  # of the test text's references, where a language model is judged
    "seconds": 0.0,  # CPU time: of learning the language model and scoring, or of the whole translation
}


@dataclass(frozen=True)
class TranslationCase(Case):
    """Into which language, and how much text."""

    language: str
    every: int = 1  # uses every n-th training sentence
    every_held: int = 1  # uses every n-th validation and test sentence

    def __str__(self) -> str:
        name = f"English to {NAMES[self.language]}"
        return name if self.every == 1 else f"{name}, 1/{self.every}"


@dataclass(frozen=True, eq=False)
class Outcome:
    """Translations of the validation text and of the test text."""

    valid: list[str]
    test: list[str]
    perplexity: float = math.inf


def judge(trial: Trial, outcome: Outcome) -> Results:
    """BLEU, beside that of int-MKN in the same tuning run."""
    from tacit.reproduce.language.translation.bleu import corpus_bleu

    texts = sentences_of(trial.case)
    score = corpus_bleu(outcome.test, texts["test"][1])
    peer = rescored(trial.case, trial.size, trial.seed, INT_MKN).value
    return {
        "bleu": score,
        "valid_bleu": corpus_bleu(outcome.valid, texts["valid"][1]),
        "gain": score - corpus_bleu(peer.test, texts["test"][1]),
        "perplexity": outcome.perplexity,
    }


def fit(trial: Trial) -> Fit:
    """The translations of a method."""
    if trial.method in RESCORING:
        return rescored(trial.case, trial.size, trial.seed, trial.method)
    system = system_of(trial.case)
    return timed(_unscored, trial.case, trial.method, spent=system.seconds)


def is_run(trial: Trial) -> bool:
    """What is not tuned is run once."""
    return trial.method in RESCORING or trial.seed == 0


STUDY = Study(
    size="order",
    results=RESULTS,
    fit=fit,
    judge=judge,
    words="{case}, order {size}, {method.name}, tuning run {split}",
    work=lambda trial: 100 if trial.seed == 0 else 1,
    is_run=is_run,
)


# -- translation --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class System:
    """A tuned decoder, and the lists of translations that it writes."""

    decoder: Decoder
    weights: Array
    valid: Lists
    test: Lists


@lru_cache(maxsize=2)
def system_of(case: TranslationCase) -> Fit:
    """The decoder of a case with its lists."""
    _warm_up(case)
    return timed(_system, sentences_of(case))


def _system(texts: dict[str, tuple[list[str], list[str]]]) -> System:
    """Align, extract phrases, tune weights on lists of the validation text, write final lists."""
    import numpy as np

    from tacit.language.kneser_ney_lm import KneserNeyLM
    from tacit.reproduce.language.translation.decoder import START_WEIGHTS, Decoder
    from tacit.reproduce.language.translation.mira import Lists, tuned_weights
    from tacit.reproduce.language.translation.phrases import phrase_table
    from tacit.reproduce.language.translation.sentence_pairs import SentencePairs

    table = phrase_table(SentencePairs.of(*texts["train"]), [*texts["valid"][0], *texts["test"][0]])
    model = KneserNeyLM(DECODER_ORDER, min_count=MIN_COUNT).fit(texts["train"][1])
    decoder, weights, rng = Decoder(table, model), START_WEIGHTS, np.random.default_rng(0)

    def lists(split: str) -> Lists:
        sentences, references = texts[split]
        return Lists.of([decoder.translations(one, weights) for one in sentences], references)

    known = lists("valid")
    for _ in range(N_ROUNDS - 1):
        weights = tuned_weights(known, weights, rng)
        known = known.joined(lists("valid"))
    weights = tuned_weights(known, weights, rng)
    return System(decoder, weights, lists("valid"), lists("test"))


def _unscored(case: TranslationCase, method: Method) -> Outcome:
    """Translations without another language model."""
    system: System = system_of(case).value
    if method == DECODER:
        return Outcome(system.valid.best(system.weights), system.test.best(system.weights))
    if method == ORACLE:
        return Outcome(system.valid.oracle(), system.test.oracle())
    assert method == WORD_BY_WORD, method
    texts, table = sentences_of(case), system.decoder.table
    valid, test = ([table.word_by_word(one) for one in texts[split][0]] for split in SPLITS[1:])
    return Outcome(valid, test)


# -- rescoring ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ScoredLists:
    """The lists with the log-probabilities of a language model, and its perplexity of the references."""

    valid: Lists
    test: Lists
    perplexity: float


@lru_cache(maxsize=64)
def rescored(case: TranslationCase, order: int, seed: int, method: Method) -> Fit:
    """The best translations by weights that were tuned with int-MKN, whichever model rescores."""
    scored = scored_lists(case, order, method)
    lists: ScoredLists = scored.value
    weights = weights_of(case, order, seed)
    outcome = Outcome(lists.valid.best(weights), lists.test.best(weights), lists.perplexity)
    return Fit(outcome, scored.seconds)


@lru_cache(maxsize=64)
def weights_of(case: TranslationCase, order: int, seed: int) -> Array:
    """Weights tuned on the validation text with int-MKN; the seed draws the order of sentences."""
    import numpy as np

    from tacit.reproduce.language.translation.mira import tuned_weights

    lists: ScoredLists = scored_lists(case, order, INT_MKN).value
    start = system_of(case).value.weights
    return tuned_weights(lists.valid, start, np.random.default_rng([seed, 1]))


@lru_cache(maxsize=8)
def scored_lists(case: TranslationCase, order: int, method: Method) -> Fit:
    """The lists of a case with the log-probabilities of the model that a method learns."""
    system: System = system_of(case).value
    texts = sentences_of(case)
    train, valid, test = (texts[split][1] for split in SPLITS)
    targets = Texts.of(train, valid, test, MIN_COUNT)
    learnt = learn(targets, order, 0, method)
    return timed(_scored, learnt.value, system, targets, spent=learnt.seconds)


def _scored(model: LanguageModel, system: System, targets: Texts) -> ScoredLists:
    valid, test = (
        lists.with_language(model.score_samples(lists.all_texts))
        for lists in (system.valid, system.test)
    )
    return ScoredLists(valid, test, float(model.perplexity(targets.test)))


# -- data ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def sentences_of(case: TranslationCase) -> dict[str, tuple[list[str], list[str]]]:
    """English sentences and their translations, by split."""
    from tacit.datasets.translations import load_multi30k

    steps = dict.fromkeys(SPLITS, case.every_held) | {"train": case.every}
    return {
        split: (
            load_multi30k(ENGLISH, split)[::n],
            load_multi30k(case.language, split)[::n],
        )
        for split, n in steps.items()
    }


@lru_cache(maxsize=2)
def _warm_up(case: TranslationCase) -> None:
    """Translate a few sentences once, so that no trial pays for compiling."""
    few = {split: (one[:3], two[:3]) for split, (one, two) in sentences_of(case).items()}
    _system(few)


def check_translations() -> None:
    """Raise where sentences are not where loaders look, or sacrebleu is not installed."""
    from tacit.datasets.translations import multi30k_file
    from tacit.reproduce.language.translation.bleu import check_sacrebleu

    for language in (ENGLISH, *NAMES):
        for split in SPLITS:
            multi30k_file(language, split).locate()
    check_sacrebleu()
