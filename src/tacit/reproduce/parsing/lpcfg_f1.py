"""Slides, latent PCFGs (Cohen et al., 2013): labelled F1 and training times, EM and spectral.

The slides' section 22 and 23 of the Penn Treebank are not free; see `parsing.grammars` for what
stands in for them. "spectral" is the algorithm of the paper, "Tacit spectral" divides by damped singular
values, and "Tacit auto" joins it with clusters of nodes that a few steps of EM polish. EM is one random start
of 20 steps; the paper's best model has 20 to 30.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tacit.reproduce.language.text_tables import laid_out
from tacit.reproduce.parsing.grammars import (
    AUTO,
    EM,
    EM_STEPS,
    GENIA,
    PLAIN,
    SPECTRAL,
    TREEBANKS,
    WSJ,
    GrammarCase,
    GrammarGrid,
    all_there,
)
from tacit.reproduce.runner.grids import Method
from tacit.reproduce.runner.panels import Panel, lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality, counted

PCFG = Method("PCFG", PLAIN)
BY_EM = Method("EM", EM, (("max_iter", EM_STEPS),))
PRINTED = Method("spectral", SPECTRAL, as_printed=True)
OWN = Method("Tacit spectral", SPECTRAL)
BOTH = Method("Tacit auto", AUTO)
METHODS = (PCFG, BY_EM, PRINTED, OWN, BOTH)
OURS = {PRINTED.name: OWN.name}
STATES = (8, 16, 24, 32)

# F1 of EM and of the spectral algorithm by states; section 23 has the last only.
PRINTED_F1 = {
    "section 22": {8: (86.87, 85.60), 16: (88.32, 87.77), 24: (88.35, 88.53), 32: (88.56, 88.82)},
    "section 23": {32: (87.76, 88.05)},
}
# Hours of one step of EM, of EM's best model, of the spectral algorithm.
PRINTED_HOURS = {
    8: (0.1, 3.0, 3 + 32 / 60),
    16: (52 / 60, 26.1, 5 + 19 / 60),
    24: (3 + 7 / 60, 93.6, 7.25),
    32: (9.35, 187.2, 9 + 52 / 60),
}
REPLACED = (
    "The slides' treebank is not free: its figures, marked (printed), stand beside ours on others, where "
    "tags are given and sentences have at most 40 words."
)
# The most that the spectral algorithm is behind EM in print.
NEAR = max(em - spectral for em, spectral in PRINTED_F1["section 22"].values())
LAST = max(PRINTED_HOURS)


def settings(sizes: Sequence[int], *cases: GrammarCase) -> GrammarGrid:
    """All methods with so many states, from one start each."""
    return GrammarGrid(cases, METHODS, tuple(sizes), 1)


def treebanks_in(runs: Runs) -> list[tuple[GrammarCase, Runs]]:
    """Every treebank with its runs."""
    cases = dict.fromkeys(row.case for row in runs.rows)
    return [(case, runs.of(case)) for case in cases]


def f1(runs: Runs, method: str, n_states: int) -> float:
    """F1 in per cent, by the conventions of evalb as in print."""
    return runs.at(n_states).median("evalb", method=method)


def near_em(runs: Runs) -> Finding:
    """How far the spectral algorithm is behind EM."""
    gaps = [
        f1(own, BY_EM.name, n) - f1(own, PRINTED.name, n)
        for _, own in treebanks_in(runs)
        for n in runs.sizes
    ]
    return Finding(max(gaps) <= NEAR, f"at most {max(gaps):.2f} behind")


def ahead_at_last(runs: Runs) -> Finding:
    """The spectral algorithm against EM, with the most states."""
    most = runs.sizes[-1]
    both = [
        (f1(own, PRINTED.name, most), f1(own, BY_EM.name, most)) for _, own in treebanks_in(runs)
    ]
    shown = ", ".join(f"{ours:.2f} and {theirs:.2f}" for ours, theirs in both)
    return Finding(all(ours > theirs for ours, theirs in both), shown)


def more_states_are_better(runs: Runs) -> Finding:
    """Both with the most states against the fewest, and step by step."""
    ends, steps = [], []
    for _, own in treebanks_in(runs):
        for name in (BY_EM.name, PRINTED.name):
            found = [f1(own, name, n) for n in runs.sizes]
            ends.append(found[-1] > found[0])
            steps += [after > before for before, after in pairwise(found)]
    return Finding(all(ends), f"{counted('curves', ends).seen}; {counted('steps', steps).seen}")


def seconds(runs: Runs, method: str, n_states: int) -> float:
    """CPU time of learning."""
    return runs.at(n_states).median("seconds", method=method)


def faster(runs: Runs) -> Finding:
    """The time of EM beside that of the spectral algorithm, with the most states."""
    most = runs.sizes[-1]
    ratios = [
        seconds(own, BY_EM.name, most) / seconds(own, PRINTED.name, most)
        for _, own in treebanks_in(runs)
    ]
    shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    wanted = printed_ratio(most)
    return Finding(min(ratios) >= wanted, f"{shown} times as fast, in print {wanted:.1f} times")


def printed_ratio(n_states: int) -> float:
    """By how many times the spectral algorithm is faster in print; with other numbers, as with the most."""
    _, em, spectral = PRINTED_HOURS.get(n_states, PRINTED_HOURS[LAST])
    return em / spectral


def grows_less(runs: Runs) -> Finding:
    """How the times of both grow from the fewest states to the most."""
    few, most = runs.sizes[0], runs.sizes[-1]
    growths = [
        tuple(seconds(own, name, most) / seconds(own, name, few) for name in names)
        for _, own in treebanks_in(runs)
        for names in ((PRINTED.name, BY_EM.name),)
    ]
    shown = ", ".join(f"{ours:.1f} and {theirs:.1f} times" for ours, theirs in growths)
    return Finding(all(ours < theirs for ours, theirs in growths), shown)


def table(runs: Runs) -> str:
    """F1 and training times of every method, beside the printed ones."""
    header = [f"m = {n}" for n in runs.sizes]
    accuracy: list[tuple[str, list[str]]] = []
    times: list[tuple[str, list[str]]] = []
    for case, own in treebanks_in(runs):
        for method in METHODS:
            rows = [own.at(n).where(method=method.name) for n in runs.sizes]
            name = f"{case}: {method.name}"
            shown = ((row.median("evalb"), row.median("f1")) for row in rows)
            accuracy.append((name, [f"{evalb:.2f} ({every:.2f})" for evalb, every in shown]))
            times.append((name, [f"{row.median('seconds'):.1f}" for row in rows]))
        step = [f"{seconds(own, BY_EM.name, n) / EM_STEPS:.2f}" for n in runs.sizes]
        times.append((f"{case}: one step of EM, about", step))
    for section, printed in PRINTED_F1.items():
        for place, name in enumerate((BY_EM.name, PRINTED.name)):
            cells = [f"{printed[n][place]:.2f}" if n in printed else "" for n in runs.sizes]
            if any(cells):
                accuracy.append((f"(printed) {section}: {name}", cells))
    printed_names = ("one step of EM", "EM, best model", PRINTED.name)
    for place, name in enumerate(printed_names):
        hours = [PRINTED_HOURS[n][place] if n in PRINTED_HOURS else None for n in runs.sizes]
        cells = ["" if each is None else f"{3600 * each:.0f}" for each in hours]
        times.append((f"(printed) sections 2-21: {name}", cells))
    return "\n".join(
        [
            REPLACED,
            "Labelled F1, as evalb counts (every bracket and word):",
            *laid_out(header, accuracy),
            "Training, CPU seconds (printed: of another machine, on the whole treebank):",
            *laid_out(header, times),
        ]
    )


def panels(chosen: GrammarGrid) -> list[Panel]:
    """A column for each treebank."""
    drawn = lines([each.name for each in (PCFG, BY_EM, PRINTED, BOTH)], OURS)
    return [Panel(str(case), case, drawn) for case in chosen.cases]


EXPERIMENT = Experiment(
    name="lpcfg-f1",
    title="Slides, latent PCFGs: labelled F1 and training times, on other treebanks",
    claim=(
        "The spectral algorithm learns latent-variable PCFGs that parse as well as EM's, better with many "
        "states, in a fraction of EM's time."
    ),
    parts=(
        Inequality(
            f"F1 of the spectral algorithm is at most {NEAR:.2f} below EM's, as in print, with any number "
            "of states on every treebank",
            near_em,
        ),
        Inequality("with the most states it is above EM's on every treebank", ahead_at_last),
        Inequality(
            "F1 of both is higher with the most states than with the fewest", more_states_are_better
        ),
        Inequality(
            "with the most states the spectral algorithm is by as large a factor faster than EM as in print",
            faster,
        ),
        Inequality(
            "from the fewest states to the most its time grows by a smaller factor than EM's",
            grows_less,
        ),
    ),
    settings={
        "paper": settings(
            STATES, *(GrammarCase(name, 1, 1 + 3 * (name != WSJ)) for name in TREEBANKS)
        ),
        "small": settings((8, 16), GrammarCase(WSJ, 1, 2)),
        "tiny": settings((1, 2), GrammarCase(WSJ), GrammarCase(GENIA, 2)),
    },
    panels=panels,
    measures=("f1", "seconds"),
    ours=OURS,
    over="random starts",
    need=all_there,
    table=table,
)
