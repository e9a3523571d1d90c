"""Thesis, table 9.3: how long power low rank ensembles take to learn, with settings that are given.

The thesis does not say which. Here it is the larger rank of its range for Small-English, 0.005 of 18,000
words, for both low rank parts; its twenty sweeps are ours. Its times are minutes on eight processors, ours
CPU time of one thread, counting included, so that both are compared for a million words of text.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.reproduce.language.text_tables import MORE_AND_LESS, REPLACED, laid_out, texts_in
from tacit.reproduce.language.texts import (
    ENSEMBLE,
    INT_MKN,
    STANDS_FOR,
    TextCase,
    TextSettings,
    all_there,
)
from tacit.reproduce.runner.grids import Method
from tacit.reproduce.runner.panels import Panel, lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality, counted

RANK = 90
PLRE = Method(
    "PLRE, given ranks",
    ENSEMBLE,
    (("preset", "thesis"), ("choose", False), ("ranks", ((2, RANK), (3, RANK)))),
    as_printed=True,
)
OWN = Method("Tacit PLRE, nothing chosen", ENSEMBLE, (("choose", False),))
METHODS = (INT_MKN, PLRE, OWN)
OURS = {PLRE.name: OWN.name}
ORDERS = (3, 4)

# Million words, and minutes of each order.
PRINTED = {
    "Small-English": (14.0, {3: 3.96, 4: 8.3}),
    "Small-Russian": (3.5, {3: 4.0, 4: 4.75}),
    "Large-English": (837.0, {4: 3.2 * 60}),
    "Large-Russian": (521.0, {4: 8.3 * 60}),
}
# The most that printed times grow from order 3 to order 4.
GROWTH = max(minutes[4] / minutes[3] for _, minutes in PRINTED.values() if 3 in minutes)


def settings(*cases: TextCase, orders: Sequence[int] = ORDERS) -> TextSettings:
    """Both orders on every text."""
    return TextSettings(cases, METHODS, tuple(orders), 1)


def pace(runs: Runs, method: str, order: int) -> float:
    """CPU seconds for a million words, on one text."""
    own = runs.at(order)
    n_words = own.median("n_words", method=method)
    return 1e6 * own.median("seconds", method=method) / n_words


def printed_pace(name: str, order: int) -> float:
    """Printed seconds for a million words, of eight processors."""
    millions, minutes = PRINTED[name]
    return 60 * minutes[order] / millions


def as_fast_as_printed(runs: Runs) -> Finding:
    """One thread here against eight processors there, for as many words."""
    found = [
        (pace(own, PLRE.name, order), printed_pace(f"Small-{STANDS_FOR[case.corpus]}", order))
        for case, own in texts_in(runs)
        for order in runs.sizes
    ]
    counts = counted("texts and orders", [ours < theirs for ours, theirs in found])
    least = min(theirs / ours for ours, theirs in found)
    return Finding(counts.held, f"{counts.seen}; at least {least:.2g} times as many words a second")


def little_more_at_four(runs: Runs) -> Finding:
    """The time of the higher order beside that of the lower."""
    low, high = runs.sizes[0], runs.sizes[-1]
    ratios = [pace(own, PLRE.name, high) / pace(own, PLRE.name, low) for _, own in texts_in(runs)]
    return Finding(max(ratios) <= GROWTH, ", ".join(f"{ratio:.2f}" for ratio in ratios) + " times")


def faster_with_more(runs: Runs) -> Finding:
    """The time for a word as a corpus grows, at the highest order."""
    order, outcomes, shown = runs.sizes[-1], [], []
    for corpus in dict.fromkeys(row.corpus for row in runs.rows):
        own = sorted(texts_in(runs.where(corpus=corpus)), key=lambda text: -text[0].every)
        less, more = (pace(text, PLRE.name, order) for _, text in (own[0], own[-1]))
        if len(own) > 1:
            outcomes.append(more < less)
            shown.append(f"{more / less:.2f} of the time on {corpus}")
    return Finding(counted("", outcomes).held, ", ".join(shown))


def table(runs: Runs) -> str:
    """Seconds, and seconds for a million words, beside the printed ones."""
    rows: list[tuple[str, list[str]]] = []
    for case, own in texts_in(runs):
        for method in METHODS:
            cells = [f"{own.rows[0].n_words / 1e6:.2f}"]
            for order in runs.sizes:
                seconds = own.at(order).median("seconds", method=method.name)
                cells += [f"{seconds:.1f}", f"{pace(own, method.name, order):.2f}"]
            rows.append((f"{case}: {method.name}", cells))
    for name, (millions, minutes) in PRINTED.items():
        cells = [f"{millions:g}"]
        for order in runs.sizes:
            given = order in minutes
            cells += (
                [f"{60 * minutes[order]:.0f}", f"{printed_pace(name, order):.2f}"]
                if given
                else ["", ""]
            )
        rows.append((f"(printed) {name}: PLRE", cells))
    header = ["million words"]
    for order in runs.sizes:
        header += [f"order {order}, s", "s/million"]
    said = (
        f"{REPLACED} Seconds of one thread, the printed ones of eight processors, with settings that the "
        f"thesis does not name; here both ranks are {RANK}."
    )
    return "\n".join([said, *laid_out(header, rows)])


def panels(chosen: TextSettings) -> list[Panel]:
    """A column for each text."""
    drawn = lines((INT_MKN.name, PLRE.name), OURS)
    return [Panel(str(case), case, drawn) for case in chosen.cases]


EXPERIMENT = Experiment(
    name="table-9.3",
    title="Thesis, table 9.3: training times, on other texts",
    claim="Power low rank ensembles learn fast, on large corpora too.",
    parts=(
        Inequality(
            "for as many words one thread takes less time than the thesis' eight processors, on every "
            "text and at every order",
            as_fast_as_printed,
        ),
        Inequality(
            f"order 4 takes at most {GROWTH:.2f} times as long as order 3, as in print",
            little_more_at_four,
        ),
        Inequality(
            "with more of a corpus a word takes less time, at order 4",
            faster_with_more,
        ),
    ),
    settings={scale: settings(*cases) for scale, cases in MORE_AND_LESS.items()},
    panels=panels,
    measures=("seconds",),
    ours=OURS,
    over="random starts",
    need=all_there,
    table=table,
)
