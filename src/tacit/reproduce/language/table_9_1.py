"""Thesis, table 9.1: perplexities of trigram models of classes and words, and of power low rank ensembles.

Other texts stand in for the thesis': novels in English for its English news, plays and novels in Russian for
its Russian news; the other two corpora come on top. Ranks and numbers of classes are chosen from the same as
there. Beside the thesis' methods stand mixtures of classes and words, and the ensemble as Tacit has it by
default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.reproduce.language.text_tables import (
    NEAR,
    REPLACED,
    gain_at,
    laid_out,
    of_language,
    ordered_pairs,
    texts_in,
)
from tacit.reproduce.language.texts import (
    BO_KN,
    BO_MKN,
    CLASSES,
    CORPORA,
    INT_KN,
    INT_MKN,
    MIXTURE,
    OURS,
    OWN,
    PLRE,
    RUSSIAN,
    STANDS_FOR,
    TextCase,
    TextRun,
    TextSettings,
    all_there,
)
from tacit.reproduce.runner.grids import Method
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.scatter_plots import dots
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality, counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDER = 3
CLASS_COUNTS = (32, 64, 128, 256, 512, 1024)
CLASS, MIXED = "class", "class + int-MKN"
KN = (BO_KN, INT_KN, BO_MKN, INT_MKN)
METHODS = (
    *KN,
    *(
        Method(f"{name}, {n}", learn, (("n_classes", n),))
        for n in CLASS_COUNTS
        for name, learn in ((CLASS, CLASSES), (MIXED, MIXTURE))
    ),
    PLRE,
    OWN,
)
# Columns of the table; of classes the best number on the text to choose by.
SHOWN = (CLASS, *(each.name for each in KN), PLRE.name, MIXED, OWN.name)

PRINTED_NAMES = SHOWN[:6]
PRINTED = {
    ("English", "valid"): (115.64, 99.20, 99.73, 99.95, 95.63, 91.18),
    ("English", "test"): (119.70, 103.86, 104.56, 104.55, 100.07, 95.15),
    ("Russian", "valid"): (286.38, 281.29, 265.71, 287.19, 263.25, 241.66),
    ("Russian", "test"): (284.09, 277.74, 262.02, 283.70, 260.19, 238.96),
}


def settings(*cases: TextCase) -> TextSettings:
    """Trigrams of every text."""
    return TextSettings(cases, METHODS, (ORDER,), 1)


def best(runs: Runs, name: str) -> TextRun:
    """The run of a column: of several numbers of classes, the one that is best on the text to choose by."""
    own = [row for row in runs.rows if row.method == name or row.method.startswith(f"{name}, ")]
    found: TextRun = min(own, key=lambda row: row.valid)
    return found


def ahead_of_all(runs: Runs) -> Finding:
    """The ensemble against every model of words and the best one of classes."""
    outcomes = [
        best(own, PLRE.name).test < best(own, name).test
        for _, own in texts_in(runs)
        for name in PRINTED_NAMES[:-1]
    ]
    found = counted("comparisons", outcomes)
    shown = ", ".join(
        f"{gain_at(own, PLRE.name, ORDER):.1f} % on {case}" for case, own in texts_in(runs)
    )
    return Finding(found.held, f"{found.seen}; below int-MKN by {shown}")


def classes_behind(runs: Runs) -> Finding:
    """The best model of classes against every model of words."""
    outcomes = [
        best(own, CLASS).test > best(own, method.name).test
        for _, own in texts_in(runs)
        for method in KN
    ]
    return counted("comparisons", outcomes)


def more_in_russian(runs: Runs) -> Finding:
    """The gain over int-MKN in Russian against that in English."""
    gains = {
        language: [gain_at(own, PLRE.name, ORDER) for own in of_language(runs, language)]
        for language in ("Russian", "English")
    }
    shown = " and ".join(
        ", ".join(f"{each:.1f} %" for each in found) + f" in {language}"
        for language, found in gains.items()
    )
    return Finding(min(gains["Russian"]) > max(gains["English"]), shown)


def in_printed_order(runs: Runs) -> Finding:
    """Pairs of methods on every text against the printed table."""
    outcomes = [held for case, own in texts_in(runs) for held in pairs(case, own).values()]
    return counted("pairs of methods", outcomes)


def pairs(case: TextCase, runs: Runs) -> dict[tuple[str, str], bool]:
    """Whether two methods stand as in print, for all that differ there, on the test text."""
    printed = dict(zip(PRINTED_NAMES, PRINTED[STANDS_FOR[case.corpus], "test"], strict=True))
    return ordered_pairs({name: best(runs, name).test for name in printed}, printed)


def table(runs: Runs) -> str:
    """Perplexities of both texts, beside the printed ones, and whether their order is the printed one."""
    rows: list[tuple[str, list[str]]] = []
    for case, own in texts_in(runs):
        for part in ("valid", "test"):
            cells = [f"{getattr(best(own, name), part):.2f}" for name in SHOWN]
            rows.append((f"{case}, {part}", cells))
    for (language, part), numbers in PRINTED.items():
        cells = [*(f"{number:.2f}" for number in numbers), "", ""]
        rows.append((f"(printed) Small-{language}, {part}", cells))
    said = [order_said(case, own) for case, own in texts_in(runs)]
    return "\n".join([REPLACED, *laid_out(SHOWN, rows), *said])


def order_said(case: TextCase, runs: Runs) -> str:
    """How many classes are best on a text, and which methods do not stand in the printed order."""
    held = pairs(case, runs)
    n_classes = best(runs, CLASS).method.removeprefix(f"{CLASS}, ")
    missed = [f"{low} below {high}" for (low, high), outcome in held.items() if not outcome]
    said = f"{case}: {n_classes} classes; {sum(held.values())} of {len(held)} pairs in the printed order"
    return f"{said}, not {', '.join(missed)}" if missed else said


def picture(runs: Runs) -> Figure:
    """Dots, one column for each text."""
    texts = [
        (str(case), [(name, best(own, name)) for name in SHOWN]) for case, own in texts_in(runs)
    ]
    return dots(EXPERIMENT.title, texts)


EXPERIMENT = Experiment(
    name="table-9.1",
    title="Thesis, table 9.1: perplexities of trigram models, on other texts",
    claim=(
        "Power low rank ensembles of order 3 are comfortably ahead of four kinds of Kneser-Ney smoothing, "
        "most so in Russian; the best model of classes is behind these."
    ),
    parts=(
        Inequality(
            "PLRE's test perplexity is below those of all Kneser-Ney models and of the best model of "
            "classes on every text",
            ahead_of_all,
        ),
        Inequality(
            "the best model of classes is above all Kneser-Ney models on every text", classes_behind
        ),
        Inequality("PLRE gains more over int-MKN in Russian than in English", more_in_russian),
        Inequality(
            f"methods whose printed perplexities differ by more than {NEAR:g} of them stand in the "
            "printed order on every text",
            in_printed_order,
        ),
    ),
    settings={
        "paper": settings(*map(TextCase, CORPORA)),
        "small": settings(TextCase("ptb", 8), TextCase(RUSSIAN, 30, 2)),
        "tiny": settings(TextCase("ptb", 2), TextCase(RUSSIAN)),
    },
    panels=lambda _: (),
    ours=OURS,
    need=all_there,
    table=table,
    draw=picture,
)
