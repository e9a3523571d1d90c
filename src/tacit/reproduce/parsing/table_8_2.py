"""Thesis, table 8.2: F1 of brackets in three languages, by the metric and by the constituent-context model.

NN, CC and BC are the algorithm as printed, `SpanParser(preset="printed")`, with m and gamma chosen as in
the thesis; Tacit NN, CC and BC are `SpanParser` with the same word vectors and top brackets of its own.
Beside them stand what the thesis' table leaves out, right-branching inside the printed top brackets, and
"Tacit", which is `SpanParser` with its defaults.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from tacit.reproduce.parsing import brackets
from tacit.reproduce.parsing.bracket_tables import REPLACED, f1, lengths_table
from tacit.reproduce.parsing.brackets import CHINESE, ENGLISH, LENGTHS, TREEBANKS, BankCase
from tacit.reproduce.runner.claims import Experiment, Finding, counted, inequality
from tacit.reproduce.runner.panels import Panel, lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.trials import Method, Settings

_KINDS = (("NN", brackets.NEURAL), ("CC", brackets.CANONICAL), ("BC", brackets.CLUSTERS))
_ENDINGS = (("-O", brackets.TRUE), ("", brackets.HEURISTIC))
SPECTRAL = tuple(
    Method(
        name + ending,
        brackets.METRIC,
        (("vectors", kind), ("preset", "printed"), ("top", top)),
        as_printed=True,
    )
    for name, kind in _KINDS
    for ending, top in _ENDINGS
)
CCM = Method("CCM", brackets.CONTEXTS, (("tags", "given"),))
RIGHT_O, RIGHT = (
    Method(f"right-branching{ending}", brackets.BRANCHING, (("top", top),))
    for ending, top in _ENDINGS
)
TACIT_O, TACIT = (
    Method(f"Tacit{ending}", brackets.METRIC, (("top", top),))
    for ending, top in (("-O", brackets.TRUE), ("", brackets.BY_ITSELF))
)
TACIT_SPECTRAL = tuple(
    Method(f"Tacit {name}{ending}", brackets.METRIC, (("vectors", kind), ("top", top)))
    for name, kind in _KINDS
    for ending, top in (("-O", brackets.TRUE), ("", brackets.BY_ITSELF))
)
METHODS = (*SPECTRAL, CCM, RIGHT_O, RIGHT, *TACIT_SPECTRAL, TACIT_O, TACIT)
TACIT_FORMS = {
    printed.name: tacit.name for printed, tacit in zip(SPECTRAL, TACIT_SPECTRAL, strict=True)
}


def _all(*values: float) -> dict[int, float]:
    return dict(zip(LENGTHS, values, strict=True))


def _some(*values: float) -> dict[int, float]:
    return dict(zip((10, 20, 40), values, strict=True))


PRINTED = {
    ("English", "train"): {
        "NN-O": _some(70.9, 55.1, 46.1),
        "NN": _some(69.2, 53.5, 44.5),
        "CC-O": _some(70.4, 53.2, 43.6),
        "CC": _some(68.7, 51.6, 41.9),
        "BC-O": _some(71.1, 53.0, 43.3),
        "BC": _some(69.3, 51.5, 41.8),
        "CCM": _some(72.5, 50.0, 26.3),
    },
    ("German", "train"): {
        "BC-O": _some(64.6, 52.7, 46.7),
        "BC": _some(59.9, 48.7, 43.6),
        "CCM": _some(62.6, 47.9, 19.8),
    },
    ("Chinese", "train"): {
        "BC-O": _some(64.9, 51.4, 42.6),
        "BC": _some(57.3, 46.0, 38.6),
        "CCM": _some(46.1, 22.4, 15.0),
    },
    ("English", "test"): {
        "NN-O": _all(69.2, 60.3, 54.1, 50.8, 48.1, 45.5),
        "NN": _all(66.7, 58.3, 52.3, 49.0, 46.3, 43.8),
        "CC-O": _all(68.3, 58.6, 52.3, 48.6, 45.6, 43.0),
        "CC": _all(65.5, 56.4, 50.3, 46.6, 43.7, 41.1),
        "BC-O": _all(68.9, 58.6, 51.9, 48.3, 45.4, 42.7),
        "BC": _all(66.1, 56.5, 50.2, 46.6, 43.8, 41.1),
        "CCM": _all(70.5, 53.8, 50.4, 47.4, 44.9, 26.1),
    },
    ("German", "test"): {
        "BC-O": _all(66.4, 57.5, 52.8, 50.0, 48.3, 46.9),
        "BC": _all(61.6, 53.5, 49.2, 46.8, 45.4, 44.1),
        "CCM": _all(64.7, 49.6, 48.9, 45.6, 21.9, 20.1),
    },
    ("Chinese", "test"): {
        "BC-O": _all(58.0, 54.3, 49.7, 46.7, 44.6, 42.2),
        "BC": _all(53.2, 49.4, 45.5, 42.7, 40.7, 38.6),
        "CCM": _all(40.7, 35.9, 20.1, 17.8, 16.1, 14.3),
    },
}
# Section 8.4.2, test III: a parser that uses punctuation and no tags, on training sentences; not run here.
CITED = {
    "English, train": {"Seginer": _some(75.2, 64.2, 56.7)},
    "German, train": {"Seginer": _some(57.8, 45.0, 39.9)},
    "Chinese, train": {"Seginer": _some(56.6, 45.1, 38.9)},
}


def _settings(
    lengths: Sequence[int] = LENGTHS, every: Sequence[int] = (1, 1, 1), every_text: int = 1
) -> Settings:
    cases = [
        BankCase(treebank, part, step, every_text, max(lengths))
        for treebank, step in zip(TREEBANKS, every, strict=True)
        for part in ("train", "test")
    ]
    return brackets.STUDY.settings(cases, METHODS, lengths, 1)


def of_treebank(runs: Runs, treebank: str) -> list[Runs]:
    """The runs of both parts of a treebank."""
    return [bank for bank in runs.by_case() if bank.case.treebank == treebank]


def by_heuristic(runs: Runs) -> list[str]:
    """The thesis' methods with top brackets by its heuristic, as far as they were run."""
    return [name for name, _ in _KINDS if runs.where(method=name).rows]


@inequality("in English CCM is above NN, CC and BC on the shortest sentences, of both parts")
def _behind_on_short_sentences(runs: Runs) -> Finding:
    size = runs.sizes[0]
    outcomes = [
        f1(bank, CCM, size) > f1(bank, name, size)
        for bank in of_treebank(runs, ENGLISH)
        for name in by_heuristic(bank)
    ]
    return counted("comparisons", outcomes)


@inequality("NN, CC and BC are above CCM on sentences of every length, on every treebank")
def _ahead_on_long_sentences(runs: Runs) -> Finding:
    size, outcomes, shown = runs.sizes[-1], [], []
    for bank in runs.by_case():
        ccm, metric = f1(bank, CCM, size), [f1(bank, name, size) for name in by_heuristic(bank)]
        outcomes += [value > ccm for value in metric]
        shown.append(f"{bank.case} {max(metric):.1f} and {ccm:.1f}")
    return counted("comparisons", outcomes, shown=f"; {', '.join(shown)}")


@inequality("in Chinese BC is above CCM at every length")
def _ahead_in_chinese(runs: Runs) -> Finding:
    outcomes = [
        f1(bank, "BC", size) > f1(bank, CCM, size)
        for bank in of_treebank(runs, CHINESE)
        for size in runs.sizes
    ]
    return counted("parts and lengths", outcomes)


@inequality(
    "in English the mean over the lengths is higher for NN than for CC and BC, of both parts"
)
def _neural_ahead(runs: Runs) -> Finding:
    means = [
        [fmean(f1(bank, name, size) for size in runs.sizes) for name, _ in _KINDS]
        for bank in of_treebank(runs, ENGLISH)
    ]
    shown = "; ".join(", ".join(f"{mean:.1f}" for mean in part) for part in means)
    return Finding(bool(means) and all(part[0] > max(part[1:]) for part in means), shown)


@inequality(
    "with the true top bracket, BC gains less in English than in either other language, at every "
    "length"
)
def _heuristic_best_in_english(runs: Runs) -> Finding:
    gains = {
        treebank: [
            f1(bank, "BC-O", size) - f1(bank, "BC", size)
            for bank in of_treebank(runs, treebank)
            for size in runs.sizes
        ]
        for treebank in TREEBANKS
    }
    outcomes = [
        english < other
        for treebank in TREEBANKS
        if treebank != ENGLISH
        for english, other in zip(gains[ENGLISH], gains[treebank], strict=True)
    ]
    shown = ", ".join(
        f"{sum(points) / max(len(points), 1):.1f} on {bank}" for bank, points in gains.items()
    )
    return counted("comparisons", outcomes, shown=f"; {shown}")


def _table(runs: Runs) -> str:
    """F1 by length, beside the printed ones, and where right-branching in the same brackets is better."""
    printed = {f"{language}, {part}": rows for (language, part), rows in PRINTED.items()}
    also = (
        "NN, CC and BC are the algorithm as printed, Tacit NN, CC and BC are SpanParser(vectors=...), "
        "Tacit is SpanParser(); right-branching is that inside the printed top brackets; -O: the true top "
        "brackets; (cited): Seginer's parser, which uses punctuation and no tags, from the thesis, not run."
    )
    parts = [f"{REPLACED} Here, {also}", *lengths_table(runs, METHODS, printed, CITED)]
    for bank in runs.by_case():
        names = by_heuristic(bank)
        outcomes = {
            method.name: sum(
                f1(bank, method, size) > max(f1(bank, name, size) for name in names)
                for size in runs.sizes
            )
            for method in (RIGHT, TACIT)
        }
        shown = ", ".join(f"{name} at {n} of {len(runs.sizes)}" for name, n in outcomes.items())
        language = brackets.STANDS_FOR[bank.case.treebank]
        parts.append(f"{bank.case} (for {language}): above {', '.join(names)} is {shown} lengths")
    return "\n".join(parts)


def _panels(settings: Settings) -> list[Panel]:
    """Training sentences in the first row, test sentences below; methods with true top brackets not drawn."""
    by_heuristic = SPECTRAL[1::2]
    forms = {method.name: TACIT_FORMS[method.name] for method in by_heuristic}
    shown = lines((*by_heuristic, CCM, RIGHT), forms, TACIT)
    order = sorted(settings.cases, key=lambda case: case.part, reverse=True)
    methods = {method.name: method for method in METHODS}
    return [
        Panel(
            str(case),
            case,
            tuple(
                line for line in shown if brackets.has_vectors(methods[line.method], case.treebank)
            ),
        )
        for case in order
    ]


EXPERIMENT = Experiment(
    name="table-8.2",
    title="Thesis, table 8.2: brackets without a treebank, on other treebanks",
    claim=(
        "In English the constituent-context model is better on short sentences, the spectral metric on long "
        "ones, best with neural vectors; in Chinese it is better at all lengths; its top brackets by "
        "heuristic are nearer to the true ones in English than elsewhere."
    ),
    parts=(
        _behind_on_short_sentences,
        _ahead_on_long_sentences,
        _ahead_in_chinese,
        _neural_ahead,
        _heuristic_best_in_english,
    ),
    settings={
        "paper": _settings(),
        "small": _settings((10, 20, 40), tuple(brackets.EVERY_SMALL.values()), 10),
        "tiny": replace(_settings((6, 10)), methods=brackets.of_few_features(METHODS, 8)),
    },
    panels_of=_panels,
    measures=("f1",),
    tacit_forms=TACIT_FORMS,
    check_data=brackets.check_treebanks,
    table=_table,
)
