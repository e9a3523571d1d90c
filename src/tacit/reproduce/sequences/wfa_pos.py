"""Survey, section 3.3: the next part of speech by weighted automata, EM and n-grams.

The survey tells of the experiment of Balle et al. with two bases of Hankel blocks: single symbols, and the
most frequent substrings. Its treebank is not free; `load_postags` has another, of 12,544 training sentences,
with 17 universal tags as in the survey and with 49 of its own. The numbers of states are chosen by sentences
that are neither learnt from nor judged on.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.reproduce.runner.grids import Method
from tacit.reproduce.runner.panels import Panel, lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality, counted
from tacit.reproduce.sequences.tags import (
    EM,
    HANKEL,
    NGRAMS,
    PROBABILISTIC,
    WEIGHTED,
    TagCase,
    TagSettings,
    tags_of,
)

UNIGRAM, BIGRAM, TRIGRAM = (
    Method(name, NGRAMS, (("order", order),))
    for order, name in enumerate(("unigram", "bigram", "trigram"), start=1)
)
SYMBOLS = Method("spectral, symbols", HANKEL, (("basis", 1000), ("max_length", 1)), as_printed=True)
SUBSTRINGS = Method(
    "spectral, substrings", HANKEL, (("basis", 500), ("max_length", 4)), as_printed=True
)
BY_EM = Method("EM", EM, (("n_restarts", 3), ("max_iter", 100)))
OWN_WEIGHTED = Method("weighted automaton", WEIGHTED)
OWN_STATES = Method("probabilistic automaton", PROBABILISTIC, (("learn", "em"),))
METHODS = (UNIGRAM, BIGRAM, TRIGRAM, SYMBOLS, SUBSTRINGS, BY_EM, OWN_WEIGHTED, OWN_STATES)

SPECTRAL = (SYMBOLS.name, SUBSTRINGS.name)
OURS = {SUBSTRINGS.name: OWN_WEIGHTED.name, BY_EM.name: OWN_STATES.name}
MUCH_LESS = 0.1  # of the time


def settings(sizes: Sequence[int], *cases: TagCase) -> TagSettings:
    """So many numbers of states; what is random starts once, but EM by itself more often."""
    return TagSettings(cases, METHODS, tuple(sizes), 1)


def kinds_of(runs: Runs) -> list[Runs]:
    """The runs of each set of tags."""
    return [runs.where(kind=kind) for kind in dict.fromkeys(row.kind for row in runs.rows)]


def ahead_of_short_contexts(runs: Runs) -> Finding:
    """EM and both bases against n-grams that look back at no tag or at one."""
    outcomes = [
        chosen(own, name) < chosen(own, other.name)
        for own in kinds_of(runs)
        for name in (*SPECTRAL, BY_EM.name)
        for other in (UNIGRAM, BIGRAM)
    ]
    names = (BIGRAM.name, *SPECTRAL, BY_EM.name)
    shown = " and ".join(
        ", ".join(f"{name} {chosen(own, name):.4f}" for name in names) for own in kinds_of(runs)
    )
    found = counted("comparisons", outcomes)
    return Finding(found.held, f"{found.seen}; {shown}")


def comparable(runs: Runs) -> Finding:
    """The distance of spectral from EM, and of both from the bigrams."""
    near_and_far = []
    for own in kinds_of(runs):
        by_em, bigram = chosen(own, BY_EM.name), chosen(own, BIGRAM.name)
        near = min(abs(chosen(own, name) - by_em) for name in SPECTRAL)
        near_and_far.append((near, bigram - by_em))
    shown = "; ".join(f"{near:.4f} and {far:.4f}" for near, far in near_and_far)
    return Finding(all(near < far / 2 for near, far in near_and_far), shown)


def much_faster(runs: Runs) -> Finding:
    """The CPU time of either basis against that of EM, each with its chosen number of states."""
    ratios = [
        _seconds(own, name) / _seconds(own, BY_EM.name)
        for own in kinds_of(runs)
        for name in SPECTRAL
    ]
    shown = " and ".join(f"{ratio:.4f}" for ratio in ratios)
    return Finding(all(ratio < MUCH_LESS for ratio in ratios), f"{shown} of the time of EM")


def _seconds(runs: Runs, method: str) -> float:
    return runs.at(best_size(runs, method)).median("seconds", method=method)


def best_size(runs: Runs, method: str) -> int:
    """The number of states that errs least often on the sentences to choose by."""
    return min(runs.sizes, key=lambda size: runs.at(size).median("wrong_aside", method=method))


def chosen(runs: Runs, method: str) -> float:
    """The share of wrong answers with that number of states."""
    return runs.at(best_size(runs, method)).median("wrong", method=method)


def table(runs: Runs) -> str:
    """What became of every method, with the number of states that was chosen."""
    width = max(len(each.name) for each in METHODS)
    parts = []
    for own in kinds_of(runs):
        kind = own.rows[0].kind
        parts.append(f"{kind:{width}}{'states':>8}{'wrong':>9}{'nats':>10}{'CPU s':>9}")
        parts += [_line(own, method, width) for method in METHODS]
    return "\n".join(parts)


def _line(runs: Runs, method: Method, width: int) -> str:
    size = best_size(runs, method.name)
    own = runs.at(size)
    cells = [own.median(name, method=method.name) for name in ("wrong", "nats", "seconds")]
    states = "" if method.learn == NGRAMS else str(size)
    wrong, nats, seconds = cells
    return f"{method.name:{width}}{states:>8}{wrong:9.4f}{nats:10.4f}{seconds:9.3f}"


def panels(chosen_settings: TagSettings) -> list[Panel]:
    """One panel for each set of tags."""
    names = [each.name for each in (UNIGRAM, BIGRAM, TRIGRAM, SYMBOLS, SUBSTRINGS, BY_EM)]
    return [
        Panel(f"{case.kind}, {case.n_train} training sentences", case, lines(names, OURS))
        for case in chosen_settings.cases
    ]


EXPERIMENT = Experiment(
    name="wfa-pos",
    title="Survey, section 3.3: the next part of speech",
    claim=(
        "In predicting the next part of speech, EM and spectral learning of weighted automata perform "
        "comparably and better than unigrams and bigrams; the spectral algorithm takes significantly less "
        "time than EM."
    ),
    parts=(
        Inequality(
            "with the number of states chosen aside, EM and both bases err less often than unigrams and "
            "bigrams, on every set of tags",
            ahead_of_short_contexts,
        ),
        Inequality(
            "the nearer basis is nearer to EM than half of EM's distance from bigrams", comparable
        ),
        Inequality(
            f"with these, either basis takes less than {MUCH_LESS:g} of the time of EM",
            much_faster,
        ),
    ),
    settings={
        "paper": settings((2, 5, 10, 20, 30, 50), TagCase(), TagCase("xpos")),
        "small": settings((2, 5, 10, 20), TagCase(n_train=5000)),
        "tiny": settings((2, 4), TagCase(n_train=120, n_aside=30, n_test=30)),
    },
    panels=panels,
    measures=("wrong", "seconds"),
    ours=OURS,
    over="random starts",
    need=lambda: tags_of(TagCase()),
    table=table,
)
