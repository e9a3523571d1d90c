"""Thesis, table 9.2: perplexities of order 4 on large corpora, with standard deviations over test texts.

The thesis has 837 and 521 million words, which are not to be had: the longest English and Russian texts here
stand in for them, of 12 and 3 million, each as a whole and a tenth of it. What can be seen is whether gains
last as the text grows. Test texts are drawn as in the thesis: as many lines as there are, with replacement,
ten times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.reproduce.language.text_tables import (
    MORE_AND_LESS,
    REPLACED,
    gain_at,
    laid_out,
    texts_in,
)
from tacit.reproduce.language.texts import (
    INT_MKN,
    N_DRAWS,
    OURS,
    OWN,
    PLRE,
    TextCase,
    TextRun,
    TextSettings,
    all_there,
)
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.scatter_plots import dots
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality, counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDER = 4
METHODS = (INT_MKN, PLRE, OWN)
# "Gains similar": with more text, at least so much of the gain with less.
SIMILAR = 0.5

PRINTED = {
    "Large-English, valid": ("73.21", "71.21"),
    "Large-English, test": ("77.90 ± 0.203", "75.66 ± 0.189"),
    "Large-Russian, valid": ("326.9", "297.11"),
    "Large-Russian, test": ("289.63 ± 6.82", "264.59 ± 5.839"),
}


def settings(*cases: TextCase) -> TextSettings:
    """Order 4 on every text."""
    return TextSettings(cases, METHODS, (ORDER,), 1)


def run_of(runs: Runs, method: str) -> TextRun:
    """The run of a method on one text; of several random starts, the first."""
    found: TextRun = runs.where(method=method).rows[0]
    return found


def ahead_on_both(runs: Runs) -> Finding:
    """Below int-MKN on the text to choose by and on the test text."""
    found = [(run_of(own, PLRE.name), run_of(own, INT_MKN.name)) for _, own in texts_in(runs)]
    outcomes = [one.test < other.test for one, other in found]
    outcomes += [one.valid < other.valid for one, other in found]
    return counted("texts", outcomes)


def ahead_on_draws(runs: Runs) -> Finding:
    """Below int-MKN on every text that is drawn."""
    found = [run_of(own, PLRE.name).n_ahead for _, own in texts_in(runs)]
    return Finding(min(found) == N_DRAWS, f"{sum(found)} of {N_DRAWS * len(found)} drawn texts")


def gains_last(runs: Runs) -> Finding:
    """Where a corpus is learnt from in part and as a whole, the gain of more text beside that of less."""
    outcomes, shown = [], []
    for corpus in dict.fromkeys(row.corpus for row in runs.rows):
        own = sorted(texts_in(runs.where(corpus=corpus)), key=lambda text: -text[0].every)
        less, more = (gain_at(text, PLRE.name, ORDER) for _, text in (own[0], own[-1]))
        if len(own) > 1:
            outcomes.append(more >= SIMILAR * less > 0)
            shown.append(f"{less:.1f} and {more:.1f} % on {corpus}")
    return Finding(counted("", outcomes).held, ", ".join(shown))


def table(runs: Runs) -> str:
    """Perplexities beside the printed ones."""
    rows: list[tuple[str, list[str]]] = []
    names = [method.name for method in METHODS]
    for case, own in texts_in(runs):
        found = [run_of(own, name) for name in names]
        millions = f"{found[0].n_words / 1e6:.1f} million words"
        rows.append((f"{case}, valid ({millions})", [f"{row.valid:.2f}" for row in found]))
        drawn = [f"{row.mean:.2f} ± {row.spread:.2f}" for row in found]
        rows.append((f"{case}, test", drawn))
        gains = ["", *(f"-{gain_at(own, name, ORDER):.1f} %" for name in names[1:])]
        rows.append(("", [each.replace("--", "+") for each in gains]))
    rows += [(f"(printed) {name}", [*cells, ""]) for name, cells in PRINTED.items()]
    said = (
        f"{REPLACED} These are 837 and 521 million words: far more than any text here. Order {ORDER}; "
        f"mean and standard deviation of {N_DRAWS} test texts drawn from the lines of the given one."
    )
    return "\n".join([said, *laid_out(names, rows)])


def picture(runs: Runs) -> Figure:
    """Dots, one column for each text."""
    texts = [
        (str(case), [(method.name, run_of(own, method.name)) for method in METHODS])
        for case, own in texts_in(runs)
    ]
    return dots(EXPERIMENT.title, texts)


EXPERIMENT = Experiment(
    name="table-9.2",
    title="Thesis, table 9.2: perplexities of order 4, on other texts",
    claim=(
        "On large corpora power low rank ensembles of order 4 are ahead of modified Kneser-Ney of order 4, "
        "with gains similar to those on smaller ones."
    ),
    parts=(
        Inequality(
            "PLRE is below int-MKN on both the text to choose by and the test text of every corpus",
            ahead_on_both,
        ),
        Inequality("so it is on every test text that is drawn", ahead_on_draws),
        Inequality(
            f"with more of a corpus its gain is at least {SIMILAR:g} of that with less", gains_last
        ),
    ),
    settings={scale: settings(*cases) for scale, cases in MORE_AND_LESS.items()},
    panels=lambda _: (),
    ours=OURS,
    need=all_there,
    table=table,
    draw=picture,
)
