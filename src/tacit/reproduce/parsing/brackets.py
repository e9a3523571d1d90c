"""Brackets without a treebank: sentences, parsers, judged fits.

After the thesis, section 8.4: F1 over the corpus of sentences up to a length, punctuation left out, the
bracket of the whole sentence counted. Its treebanks are not available, so others replace them: the sample
of the Penn Treebank for the whole of it, a Spanish one for the German one, another Chinese one. Where the
thesis distinguishes training from test sentences, every fifth is a test sentence (in the thesis the last
fifth; one of these treebanks is sorted by length). The others' words and tags are the training data, never
their trees. The English sample is small, so tagged text is added for the metric.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tacit.reproduce.runner.trials import Case, Fit, Method, Results, Study, Trial, timed

if TYPE_CHECKING:
    from tacit.parsing.data.tagged_sentences import Tagged
    from tacit.parsing.data.word_vectors import WordVectors
    from tacit.parsing.structure.branching import Spans

    Gold = tuple[int, set[tuple[int, int]]]

# Parsers.
CONTEXTS, METRIC, BRANCHING = "constituent-context", "metric", "right-branching"

ENGLISH, SPANISH, CHINESE = "wsj_sample", "cess_esp", "sinica"
TREEBANKS = (ENGLISH, SPANISH, CHINESE)
# What the thesis has in place of each.
STANDS_FOR = {ENGLISH: "English", SPANISH: "German", CHINESE: "Chinese"}
TEXTS = {ENGLISH: ("conll2000", "brown")}

# Word vectors of the thesis: neural, by canonical correlation, Brown clusters. The first two are available
# for English only, and there are no clusters for Chinese: vectors are learnt from the same text there.
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

# Of the printed form, what m and gamma are chosen from, by F1 on training sentences of up to ten words in
# English, with neural vectors: one choice for all experiments (section 8.4.1).
RANKS, BANDWIDTHS = (3, 5, 7, 10), (0.2, 0.4, 0.6)
CHOSEN_ON = 10  # words
EVERY_SMALL = {ENGLISH: 5, SPANISH: 8, CHINESE: 12}

LENGTHS = (10, 15, 20, 25, 30, 40)
N_SPECTRAL = 3  # seeds of the metric, where other methods have more

# Top brackets: those of the treebank, by the thesis' heuristic, or as `SpanParser` has them by default.
TRUE, HEURISTIC, BY_ITSELF = "true", "heuristic", "own"


RESULTS: Results = {
    "f1": 0.0,  # per cent, over the corpus, the bracket of the whole sentence counted
    "without_whole": 0.0,  # the same without that bracket
    "by_sentence": 0.0,  # mean F1 of sentences without that bracket
    "seconds": 0.0,  # CPU time of learning and parsing
    "n_sentences": 0,  # in the test
}


@dataclass(frozen=True)
class BankCase(Case):
    """Which treebank, which sentences of it, and how much text."""

    treebank: str  # a name for `load_treebank`
    part: str = "all"  # train or test; all are both learnt from and judged
    every: int = 1  # uses every n-th tree
    every_text: int = 1  # uses every n-th sentence of tagged text without trees, for the metric
    most: int = 40  # words of the longest sentence that is judged

    @property
    def source(self) -> BankCase:
        """The training sentences, the same for the test of both parts."""
        return self if self.part == "all" else replace(self, part="train")

    def __str__(self) -> str:
        part = "" if self.part == "all" else f", {self.part}"
        return f"{self.treebank}{part}" + (f", 1/{self.every}" if self.every > 1 else "")


def has_vectors(method: Method, treebank: str) -> bool:
    """Whether the vectors that a method needs, if any, exist for the language of a treebank."""
    kind = dict(method.options).get("vectors", LEARNT)
    return kind == LEARNT or (kind, treebank) in VECTORS


def _is_run(trial: Trial) -> bool:
    """Whether the vectors exist, and whether another seed makes a difference."""
    n_seeds = N_SPECTRAL if trial.method.learn == METRIC else 1
    by_chance = dict(trial.method.options).get("start") == "random"
    return has_vectors(trial.method, trial.case.treebank) and (trial.seed < n_seeds or by_chance)


def _work(trial: Trial) -> int:
    parser = {CONTEXTS: trial.size**2, METRIC: 400}.get(trial.method.learn, 1)
    return 1 + 10 * parser // int(trial.case.every)


def of_few_features(methods: tuple[Method, ...], n_features: int) -> tuple[Method, ...]:
    """The same methods with shorter word vectors where these are learnt, for little text."""
    return tuple(
        replace(method, options=(*method.options, ("n_features", n_features)))
        if method.learn == METRIC
        else method
        for method in methods
    )


def judge(trial: Trial, spans: list[Spans]) -> Results:
    """Compare brackets with the treebank's."""
    from tacit.parsing.query.brackets import score_brackets

    bank = bank_of(trial.case.treebank, trial.case.every)
    test = bank.numbers(trial.case.part)
    golds = [bank.golds[number] for number in test]
    scores = score_brackets([spans[number] for number in test], golds, trial.size)
    measures = ("f1", "without_whole", "by_sentence", "n_sentences")
    return {name: getattr(scores, name) for name in measures}


# -- parsing ------------------------------------------------------------------------------------------


def fit(trial: Trial) -> Fit:
    """The brackets of all sentences of a treebank, by a parser learnt from its training sentences."""
    case, method, options = trial.case, trial.method, dict(trial.method.options)
    if method.learn == BRANCHING:
        return timed(_branching, case, options["top"])
    if method.learn == CONTEXTS:
        return _contexts(case.source, trial.size, trial.seed, method.options)
    assert method.learn == METRIC, method
    top = TRUE if options.pop("top") == TRUE else BY_ITSELF
    return _by_metric(case.source, trial.seed, tuple(options.items()))[top]


def _branching(case: BankCase, top: str) -> list[Spans]:
    from tacit.parsing.structure.branching import right_branching

    bank = bank_of(case.treebank, case.every)
    pairs = zip(bank.golds, bank.tops(top), strict=True)
    return [right_branching(n_words, split) for (n_words, _), split in pairs]


@lru_cache(maxsize=64)  # sentences of both parts are judged
def _contexts(
    source: BankCase, longest: int, seed: int, options: tuple[tuple[str, Any], ...]
) -> Fit:
    """The constituent-context model of sentences up to a length."""
    from tacit.parsing.constituent_context import ConstituentContextModel

    arguments = dict(options)
    bank = bank_of(source.treebank, source.every)
    sentences = bank.sentences
    if arguments.pop("clusters", False):
        sentences = [
            _with_clusters(sentence, arguments["tags"], source.treebank) for sentence in sentences
        ]
        arguments["tags"] = "given"
    model = ConstituentContextModel(longest=longest, random_state=seed, **arguments)

    def learn_and_parse() -> list[Spans]:
        model.fit([sentences[number] for number in bank.numbers(source.part)])
        return bank.parsed(
            longest,
            lambda short: [parse.spans for parse in model.predict([sentences[n] for n in short])],
        )

    _warm_up()
    return timed(learn_and_parse)


@lru_cache(maxsize=64)
def _by_metric(source: BankCase, seed: int, options: tuple[tuple[str, Any], ...]) -> dict[str, Fit]:
    """The parser by a metric, with top brackets of its own and with those of the treebank."""
    from tacit.parsing.span_parser import SpanParser

    arguments = dict(options)
    printed = arguments.get("preset") is not None
    if printed:
        every = 1 if source.every == 1 else EVERY_SMALL[ENGLISH]
        chosen = chosen_parameters(every, source.every_text)
        arguments["rank"], arguments["bandwidth"] = chosen
    bank = bank_of(source.treebank, source.every)
    vectors = _vectors(arguments.pop("vectors", LEARNT), source.treebank, printed)
    text = _text(source)
    _warm_up()
    fitted = timed(SpanParser(vectors=vectors, random_state=seed, **arguments).fit, text)
    parser: SpanParser = fitted.value

    def parse(tops: list[int] | None) -> list[Spans]:
        return bank.parsed(
            source.most,
            lambda short: [
                parser.parse(bank.sentences[n], None if tops is None else tops[n]).spans
                for n in short
            ],
        )

    tops = {BY_ITSELF: None, TRUE: bank.tops(TRUE)}
    return {kind: timed(parse, tops[kind], spent=fitted.seconds) for kind in tops}


@lru_cache(maxsize=2)
def chosen_parameters(every: int, every_text: int) -> tuple[int, float]:
    """Rank m and bandwidth gamma of the printed form: those of the best F1 on short training sentences."""
    from tacit.parsing.learn.printed_metric import distances_of_values, printed_singular_values
    from tacit.parsing.model.tag_distances import TagDistances
    from tacit.parsing.query.brackets import score_brackets
    from tacit.parsing.span_parser import SpanParser

    source = BankCase(ENGLISH, "train", every, every_text)
    bank = bank_of(ENGLISH, every)
    vectors: Any = _vectors(NEURAL, ENGLISH)
    numbers = [n for n in bank.numbers("train") if bank.golds[n][0] <= CHOSEN_ON]
    golds = [bank.golds[number] for number in numbers]
    ranks = [rank for rank in RANKS if rank <= vectors.n_features]
    parser = SpanParser(preset="printed", vectors=vectors, rank=ranks[-1]).fit(_text(source))
    pairs: Any = parser.pairs_
    scores = {}
    for bandwidth in BANDWIDTHS:
        values = printed_singular_values(pairs, vectors, ranks[-1], bandwidth)
        for rank in ranks:
            parser.distances_ = TagDistances(pairs.tags, distances_of_values(*values, rank))
            spans = [parser.parse(bank.sentences[number]).spans for number in numbers]
            scores[rank, bandwidth] = score_brackets(spans, golds).f1
    return max(scores, key=lambda parameters: scores[parameters])


@lru_cache(maxsize=1)
def _warm_up() -> None:
    """Learn once from few sentences, so that no trial pays for compiling."""
    from tacit.parsing.constituent_context import ConstituentContextModel
    from tacit.parsing.span_parser import SpanParser
    from tacit.toy.sentences import sample_sentences

    few = sample_sentences(30, random_state=0)
    ConstituentContextModel().fit(few).predict(few)
    SpanParser(n_features=3, rank=2).fit(few).predict(few)


STUDY = Study(
    size="longest",
    results=RESULTS,
    fit=fit,
    judge=judge,
    words="{case}, up to {size} words, {method.name}",
    work=_work,
    is_run=_is_run,
)


# -- data ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Bank:
    """The sentences of a treebank with their true brackets."""

    sentences: list[Tagged]  # with punctuation
    golds: list[Gold]

    def numbers(self, part: str) -> list[int]:
        """The numbers of the sentences of a part."""
        numbers = range(len(self.sentences))
        if part == "all":
            return list(numbers)
        return [n for n in numbers if (n % N_PARTS == N_PARTS - 1) == (part == "test")]

    def parsed(self, longest: int, parse: Callable[[list[int]], Sequence[Spans]]) -> list[Spans]:
        """The brackets of all sentences; none of those that are too long, which are not parsed."""
        short = [number for number, (n_words, _) in enumerate(self.golds) if n_words <= longest]
        spans = dict(zip(short, parse(short), strict=True))
        return [spans.get(number, []) for number in range(len(self.golds))]

    def tops(self, kind: str) -> list[int]:
        """How many words come before the split of each whole sentence."""
        from tacit.parsing.query.brackets import gold_top
        from tacit.parsing.structure.branching import top_split

        if kind == TRUE:
            return [gold_top(n_words, spans) for n_words, spans in self.golds]
        return [top_split(sentence, printed=True) for sentence in self.sentences]


@lru_cache(maxsize=3)
def bank_of(treebank: str, every: int) -> Bank:
    """Every n-th tree of a treebank, of those that have words."""
    from tacit.datasets.treebanks import load_treebank
    from tacit.parsing.data.parse_trees import without_empties
    from tacit.parsing.query.brackets import gold_spans

    sentences, golds = [], []
    for tree in load_treebank(treebank)[::every]:
        spoken, gold = without_empties(tree), gold_spans(tree)
        if spoken is not None and gold[0]:
            sentences.append(spoken.leaves())
            golds.append(gold)
    return Bank(sentences, golds)


@lru_cache(maxsize=1)
def _texts(treebank: str) -> list[Tagged]:
    from tacit.datasets.treebanks import load_tagged_text

    names = TEXTS.get(treebank, ())
    return [sentence for name in names for sentence in load_tagged_text(name)]


def _text(source: BankCase) -> list[Tagged]:
    """The sentences that the metric is learnt from."""
    bank = bank_of(source.treebank, source.every)
    text = [bank.sentences[number] for number in bank.numbers(source.part)]
    return text + _texts(source.treebank)[:: source.every_text]


@lru_cache(maxsize=3)
def _vectors(kind: str, treebank: str, printed: bool = False) -> str | WordVectors:
    """The word vectors of a kind for the language of a treebank; `LEARNT` where they are learnt.

    As printed, Brown clusters are log C + C numbers.
    """
    import numpy as np

    from tacit.datasets.treebanks import load_word_vectors, word_vectors_path
    from tacit.parsing.data.word_vectors import WordVectors, read_word_vectors

    name = LEARNT if kind == LEARNT else VECTORS[kind, treebank]
    if name == LEARNT:
        return LEARNT
    if printed and kind == CLUSTERS:
        return read_word_vectors(word_vectors_path(name), clusters="whole")
    vectors = load_word_vectors(name)
    if kind != NEURAL:
        return vectors
    # The largest directions of vectors of length one.
    unit = vectors.unit()
    axes = np.linalg.svd(unit.vectors, full_matrices=False)[2][:N_NEURAL].T
    return WordVectors(unit.words, unit.vectors @ axes, unit.unknown @ axes).unit()


def _with_clusters(sentence: Tagged, tags: str, treebank: str) -> Tagged:
    """A sentence without punctuation whose tags contain the words' clusters."""
    from tacit.parsing.data.tagged_sentences import without_marks
    from tacit.parsing.data.universal_tags import universal_tag

    clusters = clusters_of(treebank)
    tagged = []
    for word, tag in without_marks(sentence):
        cluster = clusters.get(word, clusters.get(word.lower(), "?"))
        tagged.append((word, f"{universal_tag(tag) if tags == 'universal' else tag}/{cluster}"))
    return tagged


@lru_cache(maxsize=1)
def clusters_of(treebank: str) -> dict[str, str]:
    """The name of each word's Brown cluster: words of one cluster have one vector."""
    import numpy as np

    from tacit.datasets.treebanks import load_word_vectors

    clusters = load_word_vectors(VECTORS[CLUSTERS, treebank])
    numbers = np.unique(clusters.vectors, axis=0, return_inverse=True)[1].ravel()
    return {word: str(n) for word, n in zip(clusters.words, numbers.tolist(), strict=True)}


def check_treebanks(*treebanks: str) -> None:
    """Raise where a file is not where loaders look."""
    from tacit.datasets.treebanks import tagged_text_path, treebank_path, word_vectors_path

    for treebank in treebanks or TREEBANKS:
        treebank_path(treebank)
        for text in TEXTS.get(treebank, ()):
            tagged_text_path(text)
        for (_, bank), name in VECTORS.items():
            if bank == treebank and name != LEARNT:
                word_vectors_path(name)
