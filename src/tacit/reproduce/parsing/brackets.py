"""Brackets without a treebank: which sentences, ways of finding brackets, and one judged trial.

After the thesis, section 8.4: F1 over the corpus of sentences of up to so many words, punctuation left out,
the bracket of the whole sentence counted. Its treebanks are not to be had, so that others stand in for them:
the sample of the Penn Treebank for the whole of it, a Spanish one for the German one, another Chinese one.
Where the thesis tells training from test sentences, every fifth is a test sentence (in the thesis the last
fifth; one of these treebanks is sorted by length). The words and tags of the others are learnt from, never
the trees. The English sample being small, tagged text comes on top for the metric.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.reproduce.runner.grids import Grid, GridTrial, Method
from tacit.reproduce.runner.outcomes import Outcome

if TYPE_CHECKING:
    from tacit.parsing.data.tagged_sentences import Tagged
    from tacit.parsing.data.word_vectors import WordVectors
    from tacit.parsing.structure.branching import Spans

    Gold = tuple[int, set[tuple[int, int]]]

# Ways of finding brackets.
CONTEXTS, METRIC, BRANCHING = "constituent-context", "metric", "right-branching"

ENGLISH, SPANISH, CHINESE = "wsj_sample", "cess_esp", "sinica"
TREEBANKS = (ENGLISH, SPANISH, CHINESE)
# What the thesis has in place of each.
STANDS_FOR = {ENGLISH: "English", SPANISH: "German", CHINESE: "Chinese"}
TEXTS = {ENGLISH: ("conll2000", "brown")}

# Word vectors of the thesis: neural, by canonical correlation, and Brown clusters. None of the first two are
# to be had but for English, nor clusters for Chinese: vectors are learnt from the same text there.
NEURAL, CANONICAL, CLUSTERS, LEARNT = "neural", "canonical", "clusters", "cca"
VECTORS = {
    (NEURAL, ENGLISH): "glove100_en",
    (CANONICAL, ENGLISH): "cca50_en",
    (CLUSTERS, ENGLISH): "brown_clusters_en",
    (CLUSTERS, SPANISH): "brown_clusters_es",
    (CLUSTERS, CHINESE): LEARNT,
}
N_PARTS = 5  # of which the last is the test part
N_NEURAL = 50  # numbers of a neural vector, as in the thesis

LENGTHS = (10, 15, 20, 25, 30, 40)
N_SPECTRAL = 3  # seeds of the metric, where other methods have more

# Top brackets: those of the treebank, by the thesis' heuristic, or as `SpanParser` has them by default.
TRUE, HEURISTIC, BY_ITSELF = "true", "heuristic", "own"


@dataclass(frozen=True)
class BankCase:
    """Which treebank, which sentences of it, and how much text."""

    treebank: str  # a name for `load_treebank`
    part: str = "all"  # train or test; all are learnt from and judged
    every: int = 1  # so-manieth tree
    every_text: int = 1  # so-manieth sentence of tagged text without trees, for the metric
    most: int = 40  # words of the longest sentence that is judged

    @property
    def columns(self) -> dict[str, Any]:
        """What all lines of this case have in common."""
        return asdict(self)

    @property
    def source(self) -> BankCase:
        """What is learnt from, the same for the sentences of both parts."""
        return self if self.part == "all" else replace(self, part="train")

    def __str__(self) -> str:
        part = "" if self.part == "all" else f", {self.part}"
        return f"{self.treebank}{part}" + (f", 1/{self.every}" if self.every > 1 else "")


@dataclass(frozen=True)
class BankRun(Outcome):
    """A trial and what came of it: one line of the table."""

    along: ClassVar[str] = "longest"
    first_result: ClassVar[str] = "f1"

    treebank: str
    part: str
    every: int
    every_text: int
    most: int
    longest: int
    seed: int
    method: str
    settings: str
    version: str
    f1: float  # per cent, over the corpus, the bracket of the whole sentence counted
    without_whole: float  # the same without that bracket
    by_sentence: float  # mean F1 of sentences without that bracket
    seconds: float  # CPU time of learning and of finding brackets
    n_sentences: int  # that are judged

    @property
    def case(self) -> BankCase:
        """The sentences of this run."""
        return BankCase(self.treebank, self.part, self.every, self.every_text, self.most)


class BankTrial(GridTrial[BankCase]):
    """One way of finding brackets, judged on sentences of up to so many words."""

    @property
    def work(self) -> int:
        """How long it takes, about."""
        each = {CONTEXTS: self.size**2, METRIC: 400}.get(self.method.learn, 1)
        return 1 + 10 * each // self.case.every

    def run(self) -> BankRun:
        """Learn, find brackets and judge."""
        return perform(self)

    def __str__(self) -> str:
        return f"{self.case}, up to {self.size} words, {self.method.name}"


class BankSettings(Grid[BankCase]):
    """Every case with every length and those methods for which there is what they need."""

    trial = BankTrial
    kind = BankRun

    def trials(self) -> list[GridTrial[BankCase]]:
        """All that is to be run."""
        return [trial for trial in super().trials() if _is_run(trial)]


def has_vectors(method: Method, treebank: str) -> bool:
    """Whether there are the vectors that a method asks for, if any, for the language of a treebank."""
    kind = dict(method.options).get("vectors", LEARNT)
    return kind == LEARNT or (kind, treebank) in VECTORS


def _is_run(trial: GridTrial[BankCase]) -> bool:
    """Whether there is what is needed, and whether another seed makes a difference."""
    n_seeds = N_SPECTRAL if trial.method.learn == METRIC else 1
    by_chance = dict(trial.method.options).get("start") == "random"
    return has_vectors(trial.method, trial.case.treebank) and (trial.seed < n_seeds or by_chance)


def of_few_features(methods: tuple[Method, ...], n_features: int) -> tuple[Method, ...]:
    """The same methods with word vectors of fewer numbers where these are learnt, for little text."""
    return tuple(
        replace(each, options=(*each.options, ("n_features", n_features)))
        if each.learn == METRIC
        else each
        for each in methods
    )


def perform(trial: BankTrial) -> BankRun:
    """Find brackets as a method does, and compare them with the treebank's."""
    from tacit.parsing.query.brackets import score_brackets

    case, bank = trial.case, bank_of(trial.case.treebank, trial.case.every)
    found = guessed(case, trial.size, trial.seed, trial.method)
    chosen = bank.places(case.part)
    spans = [found.spans[place] for place in chosen]
    scores = score_brackets(spans, [bank.golds[place] for place in chosen], trial.size)
    return BankRun.of(
        trial.key,
        scores.f1,
        scores.without_whole,
        scores.by_sentence,
        found.seconds,
        scores.n_sentences,
    )


# -- finding brackets ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Guessed:
    """The brackets of all sentences of a treebank, none of those that are too long, and the CPU time."""

    spans: list[Spans]
    seconds: float


def guessed(case: BankCase, longest: int, seed: int, method: Method) -> Guessed:
    """The brackets that a method finds in all sentences; learnt from those that a case learns from."""
    options = dict(method.options)
    if method.learn == BRANCHING:
        return _branching(case, options["top"])
    if method.learn == CONTEXTS:
        return _contexts(case.source, longest, seed, method.options)
    assert method.learn == METRIC, method
    top = TRUE if options.pop("top") == TRUE else BY_ITSELF
    return _by_metric(case.source, seed, tuple(options.items()))[top]


def _branching(case: BankCase, top: str) -> Guessed:
    from tacit.parsing.structure.branching import right_branching

    begun = time.process_time()
    bank = bank_of(case.treebank, case.every)
    spans = [
        right_branching(n_words, top)
        for (n_words, _), top in zip(bank.golds, bank.tops(top), strict=True)
    ]
    return Guessed(spans, time.process_time() - begun)


@lru_cache(maxsize=64)  # sentences of both parts are judged
def _contexts(
    source: BankCase, longest: int, seed: int, options: tuple[tuple[str, Any], ...]
) -> Guessed:
    """The constituent-context model of sentences of up to so many words."""
    from tacit.parsing.constituent_context import ConstituentContextModel

    given = dict(options)
    bank = bank_of(source.treebank, source.every)
    sentences = bank.sentences
    if given.pop("clusters", False):
        sentences = [_with_clusters(each, given["tags"], source.treebank) for each in sentences]
        given["tags"] = "given"
    _warm_up()
    begun = time.process_time()
    model = ConstituentContextModel(longest=longest, random_state=seed, **given)
    model.fit([sentences[place] for place in bank.places(source.part)])
    short = [place for place, (n, _) in enumerate(bank.golds) if n <= longest]
    parses = zip(short, model.predict([sentences[place] for place in short]), strict=True)
    brackets = {place: parse.spans for place, parse in parses}
    spans = [brackets.get(place, []) for place in range(len(sentences))]
    return Guessed(spans, time.process_time() - begun)


@lru_cache(maxsize=64)
def _by_metric(
    source: BankCase, seed: int, options: tuple[tuple[str, Any], ...]
) -> dict[str, Guessed]:
    """The parser by a metric, with top brackets of its own and with those of the treebank."""
    from tacit.parsing.span_parser import SpanParser

    given = dict(options)
    if "prior" in given:  # as printed
        given["top"] = HEURISTIC
    bank = bank_of(source.treebank, source.every)
    vectors = _vectors(given.pop("vectors", LEARNT), source.treebank)
    text = [bank.sentences[place] for place in bank.places(source.part)]
    text += _texts(source.treebank)[:: source.every_text]
    _warm_up()
    begun = time.process_time()
    parser = SpanParser(vectors=vectors, random_state=seed, **given).fit(text)
    learning = time.process_time() - begun
    short = [place for place, (n, _) in enumerate(bank.golds) if n <= source.most]
    found = {}
    for top in (BY_ITSELF, TRUE):
        begun = time.process_time()
        tops = bank.tops(top) if top == TRUE else None
        spans: list[Spans] = [[] for _ in bank.sentences]
        for place in short:
            given_top = None if tops is None else tops[place]
            spans[place] = parser.parse(bank.sentences[place], given_top).spans
        found[top] = Guessed(spans, learning + time.process_time() - begun)
    return found


@lru_cache(maxsize=1)
def _warm_up() -> None:
    """Learn once from few sentences, so that no trial pays for compiling."""
    from tacit.parsing.constituent_context import ConstituentContextModel
    from tacit.parsing.span_parser import SpanParser
    from tacit.toy.sentences import sample_sentences

    few = sample_sentences(30, random_state=0)
    ConstituentContextModel().fit(few).predict(few)
    SpanParser(n_features=3, rank=2).fit(few).predict(few)


# -- data ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Bank:
    """The sentences of a treebank with what is to be found."""

    sentences: list[Tagged]  # with punctuation
    golds: list[Gold]

    def places(self, part: str) -> list[int]:
        """Which sentences are those of a part."""
        every = range(len(self.sentences))
        if part == "all":
            return list(every)
        return [place for place in every if (place % N_PARTS == N_PARTS - 1) == (part == "test")]

    def tops(self, kind: str) -> list[int]:
        """How many words come before the split of each whole sentence."""
        from tacit.parsing.query.brackets import gold_top
        from tacit.parsing.structure.branching import top_split

        if kind == TRUE:
            return [gold_top(n_words, spans) for n_words, spans in self.golds]
        return [top_split(sentence) for sentence in self.sentences]


@lru_cache(maxsize=3)
def bank_of(treebank: str, every: int) -> Bank:
    """Every so-manieth tree of a treebank, of those that have words."""
    from tacit.datasets.treebanks import load_treebank
    from tacit.parsing.data.parse_trees import without_empties
    from tacit.parsing.query.brackets import gold_spans

    sentences, golds = [], []
    for tree in load_treebank(treebank)[::every]:
        said, gold = without_empties(tree), gold_spans(tree)
        if said is not None and gold[0]:
            sentences.append(said.leaves())
            golds.append(gold)
    return Bank(sentences, golds)


@lru_cache(maxsize=1)
def _texts(treebank: str) -> list[Tagged]:
    from tacit.datasets.treebanks import load_tagged_text

    return [each for name in TEXTS.get(treebank, ()) for each in load_tagged_text(name)]


@lru_cache(maxsize=3)
def _vectors(kind: str, treebank: str) -> str | WordVectors:
    """The word vectors of a kind for the language of a treebank; a word where they are to be learnt."""
    import numpy as np

    from tacit.datasets.treebanks import load_word_vectors
    from tacit.parsing.data.word_vectors import WordVectors

    name = LEARNT if kind == LEARNT else VECTORS[kind, treebank]
    if name == LEARNT:
        return LEARNT
    found = load_word_vectors(name)
    if kind != NEURAL:
        return found
    # The largest directions of vectors of length one.
    unit = found.unit()
    axes = np.linalg.svd(unit.vectors, full_matrices=False)[2][:N_NEURAL].T
    return WordVectors(unit.words, unit.vectors @ axes, unit.unknown @ axes).unit()


def _with_clusters(sentence: Tagged, tags: str, treebank: str) -> Tagged:
    """A sentence without punctuation whose tags tell the words' clusters too."""
    from tacit.parsing.data.tagged_sentences import without_marks
    from tacit.parsing.data.universal_tags import universal_tag

    clusters = clusters_of(treebank)
    found = []
    for word, tag in without_marks(sentence):
        cluster = clusters.get(word, clusters.get(word.lower(), "?"))
        found.append((word, f"{universal_tag(tag) if tags == 'universal' else tag}/{cluster}"))
    return found


@lru_cache(maxsize=1)
def clusters_of(treebank: str) -> dict[str, str]:
    """The name of each word's Brown cluster: words of one cluster have one vector."""
    import numpy as np

    from tacit.datasets.treebanks import load_word_vectors

    found = load_word_vectors(VECTORS[CLUSTERS, treebank])
    numbers = np.unique(found.vectors, axis=0, return_inverse=True)[1].ravel()
    return {word: str(n) for word, n in zip(found.words, numbers.tolist(), strict=True)}


def all_there(*treebanks: str) -> None:
    """Raise where a file is not where loaders look.

    Raises
    ------
    MissingDataError
    """
    from tacit.datasets.treebanks import tagged_text_path, treebank_path, word_vectors_path

    for treebank in treebanks or TREEBANKS:
        treebank_path(treebank)
        for text in TEXTS.get(treebank, ()):
            tagged_text_path(text)
        for (_, bank), name in VECTORS.items():
            if bank == treebank and name != LEARNT:
                word_vectors_path(name)
