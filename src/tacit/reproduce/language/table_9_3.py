"""Thesis, table 9.3: how long power low rank ensembles take to learn, with settings that are given.

The thesis does not say which. Here it is the larger rank of its range for Small-English, 0.005 of 18,000
words, for both low rank parts; its twenty sweeps are ours. Its times are minutes on eight processors, ours
CPU time of one thread, counting included, so that both are compared for a million words of text.
"""

from __future__ import annotations

from tacit.reproduce.language.text_tables import MORE_AND_LESS, REPLACED, less_and_more
from tacit.reproduce.language.texts import ENSEMBLE, INT_MKN, STANDS_FOR, STUDY, check_corpora
from tacit.reproduce.runner.claims import Experiment, Finding, counted, inequality
from tacit.reproduce.runner.panels import lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.tables import aligned
from tacit.reproduce.runner.trials import Method

RANK = 90
PLRE = Method(
    "PLRE, given ranks",
    ENSEMBLE,
    (("preset", "printed"), ("choose", False), ("ranks", ((2, RANK), (3, RANK)))),
    as_printed=True,
)
TACIT = Method("Tacit PLRE, nothing chosen", ENSEMBLE, (("choose", False),))
METHODS = (INT_MKN, PLRE, TACIT)
TACIT_FORMS = {PLRE.name: TACIT.name}
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


def pace(text: Runs, method: Method, order: int) -> float:
    """CPU seconds for a million words, on one text."""
    n_words = text.at(order).median("n_words", method=method)
    return 1e6 * text.seconds(method, order) / n_words


def printed_pace(name: str, order: int) -> float:
    """Printed seconds for a million words, of eight processors."""
    millions, minutes = PRINTED[name]
    return 60 * minutes[order] / millions


@inequality(
    "for as many words one thread takes less time than the thesis' eight processors, on every "
    "text and at every order"
)
def _as_fast_as_printed(runs: Runs) -> Finding:
    paces = [
        (pace(text, PLRE, order), printed_pace(f"Small-{STANDS_FOR[text.case.corpus]}", order))
        for text in runs.by_case()
        for order in runs.sizes
    ]
    shown = f"; at least {min(old / new for new, old in paces):.2g} times as many words a second"
    return counted("texts and orders", [new < old for new, old in paces], shown=shown)


@inequality(f"order 4 takes at most {GROWTH:.2f} times as long as order 3, as in print")
def _little_more_at_four(runs: Runs) -> Finding:
    low, high = runs.sizes[0], runs.sizes[-1]
    ratios = [pace(text, PLRE, high) / pace(text, PLRE, low) for text in runs.by_case()]
    return Finding(max(ratios) <= GROWTH, ", ".join(f"{ratio:.2f}" for ratio in ratios) + " times")


@inequality("with more of a corpus a word takes less time, at order 4")
def _faster_with_more(runs: Runs) -> Finding:
    ratios = {}
    for corpus, texts in less_and_more(runs).items():
        less, more = (pace(text, PLRE, runs.sizes[-1]) for text in texts)
        ratios[corpus] = more / less
    held = counted("", [ratio < 1 for ratio in ratios.values()]).held
    shown = [f"{ratio:.2f} of the time on {corpus}" for corpus, ratio in ratios.items()]
    return Finding(held, ", ".join(shown))


def _table(runs: Runs) -> str:
    """Seconds, and seconds for a million words, beside the printed ones."""
    rows: list[tuple[str, list[str]]] = []
    for text in runs.by_case():
        for method in METHODS:
            cells = [f"{text.rows[0].n_words / 1e6:.2f}"]
            for order in runs.sizes:
                seconds = f"{text.seconds(method, order):.1f}"
                cells += [seconds, f"{pace(text, method, order):.2f}"]
            rows.append((f"{text.case}: {method.name}", cells))
    for name, (millions, minutes) in PRINTED.items():
        cells = [f"{millions:g}"]
        for order in runs.sizes:
            cells += (
                [f"{60 * minutes[order]:.0f}", f"{printed_pace(name, order):.2f}"]
                if order in minutes
                else ["", ""]
            )
        rows.append((f"(printed) {name}: PLRE", cells))
    header = ["million words"]
    for order in runs.sizes:
        header += [f"order {order}, s", "s/million"]
    title = (
        f"{REPLACED} Seconds of one thread, the printed ones of eight processors, with settings that the "
        f"thesis does not name; here both ranks are {RANK}."
    )
    return "\n".join([title, *aligned(header, rows)])


EXPERIMENT = Experiment(
    name="table-9.3",
    title="Thesis, table 9.3: training times, on other texts",
    claim="Power low rank ensembles learn fast, on large corpora too.",
    parts=(_as_fast_as_printed, _little_more_at_four, _faster_with_more),
    settings={
        scale: STUDY.settings(cases, METHODS, ORDERS, 1) for scale, cases in MORE_AND_LESS.items()
    },
    lines=lines((INT_MKN, PLRE), TACIT_FORMS),
    measures=("seconds",),
    tacit_forms=TACIT_FORMS,
    over="random starts",
    check_data=check_corpora,
    table=_table,
)
