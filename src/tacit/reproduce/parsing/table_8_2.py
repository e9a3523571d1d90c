"""Thesis, table 8.2: F1 of brackets in three languages, by the metric and by the constituent-context model.

Beside the thesis' methods stands what its table leaves out: right-branching inside the same top brackets. And
`SpanParser` as Tacit has it by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from tacit.reproduce.parsing.bracket_tables import REPLACED, banks_in, f1, lengths_table
from tacit.reproduce.parsing.brackets import (
    BRANCHING,
    BY_ITSELF,
    CANONICAL,
    CHINESE,
    CLUSTERS,
    CONTEXTS,
    ENGLISH,
    HEURISTIC,
    LENGTHS,
    METRIC,
    NEURAL,
    STANDS_FOR,
    TREEBANKS,
    TRUE,
    BankCase,
    BankSettings,
    all_there,
    has_vectors,
    of_few_features,
)
from tacit.reproduce.runner.grids import Method
from tacit.reproduce.runner.panels import Panel, lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality, counted

_KINDS = (("NN", NEURAL), ("CC", CANONICAL), ("BC", CLUSTERS))
_ENDINGS = (("-O", TRUE), ("", HEURISTIC))
SPECTRAL = tuple(
    Method(
        name + ending, METRIC, (("vectors", kind), ("prior", None), ("top", top)), as_printed=True
    )
    for name, kind in _KINDS
    for ending, top in _ENDINGS
)
CCM = Method("CCM", CONTEXTS, (("tags", "given"),))
RIGHT_O, RIGHT = (
    Method(f"right-branching{ending}", BRANCHING, (("top", top),)) for ending, top in _ENDINGS
)
OWN_O, OWN = (
    Method(f"SpanParser{ending}", METRIC, (("top", top),))
    for ending, top in (("-O", TRUE), ("", BY_ITSELF))
)
METHODS = (*SPECTRAL, CCM, RIGHT_O, RIGHT, OWN_O, OWN)
NAMES = tuple(method.name for method in METHODS)
OURS = {"BC": OWN.name, "BC-O": OWN_O.name}

_ALL, _SOME = LENGTHS, (10, 20, 40)
PRINTED = {
    ("English", "train"): {
        "NN-O": dict(zip(_SOME, (70.9, 55.1, 46.1), strict=True)),
        "NN": dict(zip(_SOME, (69.2, 53.5, 44.5), strict=True)),
        "CC-O": dict(zip(_SOME, (70.4, 53.2, 43.6), strict=True)),
        "CC": dict(zip(_SOME, (68.7, 51.6, 41.9), strict=True)),
        "BC-O": dict(zip(_SOME, (71.1, 53.0, 43.3), strict=True)),
        "BC": dict(zip(_SOME, (69.3, 51.5, 41.8), strict=True)),
        "CCM": dict(zip(_SOME, (72.5, 50.0, 26.3), strict=True)),
    },
    ("German", "train"): {
        "BC-O": dict(zip(_SOME, (64.6, 52.7, 46.7), strict=True)),
        "BC": dict(zip(_SOME, (59.9, 48.7, 43.6), strict=True)),
        "CCM": dict(zip(_SOME, (62.6, 47.9, 19.8), strict=True)),
    },
    ("Chinese", "train"): {
        "BC-O": dict(zip(_SOME, (64.9, 51.4, 42.6), strict=True)),
        "BC": dict(zip(_SOME, (57.3, 46.0, 38.6), strict=True)),
        "CCM": dict(zip(_SOME, (46.1, 22.4, 15.0), strict=True)),
    },
    ("English", "test"): {
        "NN-O": dict(zip(_ALL, (69.2, 60.3, 54.1, 50.8, 48.1, 45.5), strict=True)),
        "NN": dict(zip(_ALL, (66.7, 58.3, 52.3, 49.0, 46.3, 43.8), strict=True)),
        "CC-O": dict(zip(_ALL, (68.3, 58.6, 52.3, 48.6, 45.6, 43.0), strict=True)),
        "CC": dict(zip(_ALL, (65.5, 56.4, 50.3, 46.6, 43.7, 41.1), strict=True)),
        "BC-O": dict(zip(_ALL, (68.9, 58.6, 51.9, 48.3, 45.4, 42.7), strict=True)),
        "BC": dict(zip(_ALL, (66.1, 56.5, 50.2, 46.6, 43.8, 41.1), strict=True)),
        "CCM": dict(zip(_ALL, (70.5, 53.8, 50.4, 47.4, 44.9, 26.1), strict=True)),
    },
    ("German", "test"): {
        "BC-O": dict(zip(_ALL, (66.4, 57.5, 52.8, 50.0, 48.3, 46.9), strict=True)),
        "BC": dict(zip(_ALL, (61.6, 53.5, 49.2, 46.8, 45.4, 44.1), strict=True)),
        "CCM": dict(zip(_ALL, (64.7, 49.6, 48.9, 45.6, 21.9, 20.1), strict=True)),
    },
    ("Chinese", "test"): {
        "BC-O": dict(zip(_ALL, (58.0, 54.3, 49.7, 46.7, 44.6, 42.2), strict=True)),
        "BC": dict(zip(_ALL, (53.2, 49.4, 45.5, 42.7, 40.7, 38.6), strict=True)),
        "CCM": dict(zip(_ALL, (40.7, 35.9, 20.1, 17.8, 16.1, 14.3), strict=True)),
    },
}


def settings(
    lengths: Sequence[int] = LENGTHS, every: Sequence[int] = (1, 1, 1), every_text: int = 1
) -> BankSettings:
    """Both parts of every treebank, of each so-manieth tree."""
    cases = tuple(
        BankCase(treebank, part, each, every_text, max(lengths))
        for treebank, each in zip(TREEBANKS, every, strict=True)
        for part in ("train", "test")
    )
    return BankSettings(cases, METHODS, tuple(lengths), 1)


def of_treebank(runs: Runs, treebank: str) -> list[Runs]:
    """The runs of both parts of a treebank."""
    return [own for case, own in banks_in(runs) if case.treebank == treebank]


def by_heuristic(runs: Runs) -> list[str]:
    """The thesis' methods with top brackets by its heuristic, as far as they were run."""
    return [name for name, _ in _KINDS if runs.where(method=name).rows]


def behind_on_short_sentences(runs: Runs) -> Finding:
    """In English, the context model on the shortest sentences."""
    size = runs.sizes[0]
    outcomes = [
        f1(own, CCM.name, size) > f1(own, name, size)
        for own in of_treebank(runs, ENGLISH)
        for name in by_heuristic(own)
    ]
    return counted("comparisons", outcomes)


def ahead_on_long_sentences(runs: Runs) -> Finding:
    """Every treebank, the metric on sentences of every length."""
    size = runs.sizes[-1]
    outcomes = [
        f1(own, name, size) > f1(own, CCM.name, size)
        for _, own in banks_in(runs)
        for name in by_heuristic(own)
    ]
    shown = ", ".join(
        f"{case} {max(f1(own, name, size) for name in by_heuristic(own)):.1f} and "
        f"{f1(own, CCM.name, size):.1f}"
        for case, own in banks_in(runs)
    )
    return Finding(counted("", outcomes).held, f"{counted('comparisons', outcomes).seen}; {shown}")


def ahead_in_chinese(runs: Runs) -> Finding:
    """In Chinese, the metric at every length."""
    outcomes = [
        f1(own, "BC", size) > f1(own, CCM.name, size)
        for own in of_treebank(runs, CHINESE)
        for size in runs.sizes
    ]
    return counted("parts and lengths", outcomes)


def neural_ahead(runs: Runs) -> Finding:
    """In English, neural vectors against the others, over all lengths."""
    means = [
        [fmean(f1(own, name, size) for size in runs.sizes) for name, _ in _KINDS]
        for own in of_treebank(runs, ENGLISH)
    ]
    shown = "; ".join(", ".join(f"{mean:.1f}" for mean in found) for found in means)
    return Finding(bool(means) and all(found[0] == max(found) for found in means), shown)


def heuristic_best_in_english(runs: Runs) -> Finding:
    """What the true top brackets gain, in English and elsewhere."""
    gains = {
        treebank: [
            f1(own, "BC-O", size) - f1(own, "BC", size)
            for own in of_treebank(runs, treebank)
            for size in runs.sizes
        ]
        for treebank in TREEBANKS
    }
    outcomes = [
        here < there
        for treebank in TREEBANKS
        if treebank != ENGLISH
        for here, there in zip(gains[ENGLISH], gains[treebank], strict=True)
    ]
    shown = ", ".join(
        f"{sum(found) / max(len(found), 1):.1f} on {treebank}" for treebank, found in gains.items()
    )
    return Finding(counted("", outcomes).held, f"{counted('comparisons', outcomes).seen}; {shown}")


def table(runs: Runs) -> str:
    """F1 by length, beside the printed ones, and how far right-branching in the same brackets comes."""
    printed = {f"{language}, {part}": rows for (language, part), rows in PRINTED.items()}
    also = (
        "right-branching is that inside the top brackets of the others; -O: the true top brackets."
    )
    said = [f"{REPLACED} Here, {also}", *lengths_table(runs, NAMES, printed)]
    for case, own in banks_in(runs):
        names = by_heuristic(own)
        outcomes = {
            method.name: sum(
                f1(own, method.name, size) > max(f1(own, name, size) for name in names)
                for size in runs.sizes
            )
            for method in (RIGHT, OWN)
        }
        shown = ", ".join(f"{name} at {n} of {len(runs.sizes)}" for name, n in outcomes.items())
        said.append(
            f"{case} (for {STANDS_FOR[case.treebank]}): above {', '.join(names)} is {shown} lengths"
        )
    return "\n".join(said)


def panels(chosen: BankSettings) -> list[Panel]:
    """Training sentences in the first row, test sentences below."""
    shown = lines([*(method.name for method in SPECTRAL), CCM.name, RIGHT.name], None, OWN.name)
    order = sorted(chosen.cases, key=lambda case: case.part, reverse=True)
    known = {method.name: method for method in METHODS}
    return [
        Panel(
            str(case),
            case,
            tuple(line for line in shown if has_vectors(known[line.method], case.treebank)),
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
        Inequality(
            "in English CCM is above NN, CC and BC on the shortest sentences, of both parts",
            behind_on_short_sentences,
        ),
        Inequality(
            "NN, CC and BC are above CCM on sentences of every length, on every treebank",
            ahead_on_long_sentences,
        ),
        Inequality("in Chinese BC is above CCM at every length", ahead_in_chinese),
        Inequality(
            "in English the mean over the lengths is higher for NN than for CC and BC, of both parts",
            neural_ahead,
        ),
        Inequality(
            "with the true top bracket, BC gains less in English than in either other language, at every "
            "length",
            heuristic_best_in_english,
        ),
    ),
    settings={
        "paper": settings(),
        "small": settings((10, 20, 40), (5, 8, 12), 10),
        "tiny": replace(settings((6, 10)), methods=of_few_features(METHODS, 8)),
    },
    panels=panels,
    measures=("f1",),
    ours=OURS,
    need=all_there,
    table=table,
)
