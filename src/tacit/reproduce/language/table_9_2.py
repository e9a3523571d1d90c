"""Thesis, table 9.2: perplexities of order 4 on large corpora, with standard deviations over test texts.

The thesis' 837 and 521 million words are not available: the longest English and Russian texts here replace
them, of 12 and 3 million, each as a whole and a tenth of it. They show whether gains last as the text
grows. Test texts are drawn as in the thesis: as many lines as there are, with replacement, ten times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.reproduce.language import texts
from tacit.reproduce.language.text_tables import MORE_AND_LESS, REPLACED, gain_at, less_and_more
from tacit.reproduce.language.texts import INT_MKN, N_DRAWS, PLRE, TACIT_FORMS, TACIT_PLRE, TextCase
from tacit.reproduce.runner.claims import Experiment, Finding, counted, inequality
from tacit.reproduce.runner.runs import Run, Runs
from tacit.reproduce.runner.scatter_plots import scatter_plot
from tacit.reproduce.runner.tables import aligned
from tacit.reproduce.runner.trials import Method, Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDER = 4
METHODS = (INT_MKN, PLRE, TACIT_PLRE)
# "Gains similar": with more text, at least so much of the gain with less.
SIMILAR = 0.5

PRINTED = {
    "Large-English, valid": ("73.21", "71.21"),
    "Large-English, test": ("77.90 ± 0.203", "75.66 ± 0.189"),
    "Large-Russian, valid": ("326.9", "297.11"),
    "Large-Russian, test": ("289.63 ± 6.82", "264.59 ± 5.839"),
}


def settings(*cases: TextCase) -> Settings:
    """Order 4 on every text."""
    return texts.STUDY.settings(cases, METHODS, [ORDER], 1)


def run_of(text: Runs, method: Method) -> Run:
    """The run of a method on one text; of several random starts, the first."""
    return text.where(method=method).rows[0]


@inequality("PLRE is below int-MKN on both the validation text and the test text of every corpus")
def _ahead_on_both(runs: Runs) -> Finding:
    pairs = [(run_of(text, PLRE), run_of(text, INT_MKN)) for text in runs.by_case()]
    outcomes = [one.test < other.test for one, other in pairs]
    outcomes += [one.valid < other.valid for one, other in pairs]
    return counted("texts", outcomes)


@inequality("so it is on every test text that is drawn")
def _ahead_on_draws(runs: Runs) -> Finding:
    ahead = [run_of(text, PLRE).n_ahead for text in runs.by_case()]
    return Finding(min(ahead) == N_DRAWS, f"{sum(ahead)} of {N_DRAWS * len(ahead)} drawn texts")


@inequality(f"with more of a corpus its gain is at least {SIMILAR:g} of that with less")
def _gains_last(runs: Runs) -> Finding:
    outcomes, shown = [], []
    for corpus, parts in less_and_more(runs).items():
        less, more = (gain_at(text, PLRE, ORDER) for text in parts)
        outcomes.append(more >= SIMILAR * less > 0)
        shown.append(f"{less:.1f} and {more:.1f} % on {corpus}")
    return Finding(counted("", outcomes).held, ", ".join(shown))


def _table(runs: Runs) -> str:
    """Perplexities beside the printed ones."""
    rows: list[tuple[str, list[str]]] = []
    for text in runs.by_case():
        of_methods = [run_of(text, method) for method in METHODS]
        millions = f"{of_methods[0].n_words / 1e6:.1f} million words"
        valid = [f"{run.valid:.2f}" for run in of_methods]
        rows.append((f"{text.case}, valid ({millions})", valid))
        drawn = [f"{run.mean:.2f} ± {run.spread:.2f}" for run in of_methods]
        rows.append((f"{text.case}, test", drawn))
        gains = ["", *(f"-{gain_at(text, method, ORDER):.1f} %" for method in METHODS[1:])]
        rows.append(("", [gain.replace("--", "+") for gain in gains]))
    rows += [(f"(printed) {name}", [*cells, ""]) for name, cells in PRINTED.items()]
    title = (
        f"{REPLACED} These are 837 and 521 million words: far more than any text here. Order {ORDER}; "
        f"mean and standard deviation of {N_DRAWS} test texts drawn from the lines of the given one."
    )
    return "\n".join([title, *aligned([method.name for method in METHODS], rows)])


def _picture(runs: Runs) -> Figure:
    texts = [
        (str(text.case), [(method.name, run_of(text, method)) for method in METHODS])
        for text in runs.by_case()
    ]
    return scatter_plot(EXPERIMENT.title, texts)


EXPERIMENT = Experiment(
    name="table-9.2",
    title="Thesis, table 9.2: perplexities of order 4, on other texts",
    claim=(
        "On large corpora power low rank ensembles of order 4 are ahead of modified Kneser-Ney of order 4, "
        "with gains similar to those on smaller ones."
    ),
    parts=(_ahead_on_both, _ahead_on_draws, _gains_last),
    settings={scale: settings(*cases) for scale, cases in MORE_AND_LESS.items()},
    tacit_forms=TACIT_FORMS,
    check_data=texts.check_corpora,
    table=_table,
    draw=_picture,
)
