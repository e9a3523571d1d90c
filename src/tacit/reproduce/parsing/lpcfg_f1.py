"""Slides, latent PCFGs (Cohen et al., 2013): labelled F1 and training times, EM and spectral.

The slides' section 22 and 23 of the Penn Treebank are not free; see `parsing.grammars` for what
replaces them. "spectral" is the algorithm of the paper, "Tacit spectral" divides by damped singular
values, and "Tacit auto" joins it with clusters of nodes that a few steps of EM polish. EM is one random start
of 20 steps; the paper's best model has 20 to 30.
"""

from __future__ import annotations

from itertools import pairwise

from tacit.reproduce.parsing import grammars
from tacit.reproduce.parsing.grammars import EM_STEPS, STAGES, STUDY, TREEBANKS, WSJ, GrammarCase
from tacit.reproduce.runner.claims import Experiment, Finding, counted, inequality
from tacit.reproduce.runner.panels import lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.tables import aligned
from tacit.reproduce.runner.trials import Method

PCFG = Method("PCFG", grammars.PLAIN)
BY_EM = Method("EM", grammars.EM, (("max_iter", EM_STEPS),))
PRINTED = Method("spectral", grammars.SPECTRAL, as_printed=True)
TACIT_SPECTRAL = Method("Tacit spectral", grammars.SPECTRAL)
TACIT_AUTO = Method("Tacit auto", grammars.AUTO)
METHODS = (PCFG, BY_EM, PRINTED, TACIT_SPECTRAL, TACIT_AUTO)
TACIT_FORMS = {PRINTED.name: TACIT_SPECTRAL.name}
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
# Minutes of the spectral algorithm by stage; features and scaling are the same with any number of states.
PRINTED_STAGES = {
    8: (22, 49, 36, 94, 10),
    16: (22, 49, 34, 193, 19),
    24: (22, 49, 36, 294, 28),
    32: (22, 49, 35, 436, 41),
}
STAGE_NAMES = ("features", "transfer and scaling", "SVD", "a -> b c", "a -> x")
CLAIMED = (24, 32)  # states with which the spectral algorithm is ahead in print; with fewer EM is
REPLACED = (
    "The slides' treebank is not free: its figures, marked (printed), stand beside ours on others, where "
    "tags are given and sentences have at most 40 words."
)
# The most that the spectral algorithm is behind EM in print.
NEAR = max(em - spectral for em, spectral in PRINTED_F1["section 22"].values())
LAST = max(PRINTED_HOURS)


def f1(runs: Runs, method: Method, n_states: int) -> float:
    """F1 in per cent, by the conventions of evalb as in print."""
    return runs.at(n_states).median("evalb", method=method)


@inequality(
    f"F1 of the spectral algorithm is at most {NEAR:.2f} below EM's, as in print, with any number "
    "of states on every treebank"
)
def _near_em(runs: Runs) -> Finding:
    gap = max(
        f1(bank, BY_EM, n) - f1(bank, PRINTED, n) for bank in runs.by_case() for n in runs.sizes
    )
    return Finding(gap <= NEAR, f"at most {gap:.2f} behind")


@inequality("with 24 and 32 states it is above EM's on every treebank")
def _ahead_with_many_states(runs: Runs) -> Finding:
    sizes = [n for n in runs.sizes if n in CLAIMED]
    pairs = [(f1(bank, PRINTED, n), f1(bank, BY_EM, n)) for bank in runs.by_case() for n in sizes]
    shown = ", ".join(f"{spectral:.2f} and {em:.2f}" for spectral, em in pairs)
    ahead = bool(pairs) and all(spectral > em for spectral, em in pairs)
    with_states = " and ".join(map(str, sizes))
    return Finding(ahead, f"{shown} with {with_states}" if pairs else "not run at this scale")


@inequality("F1 of both is higher with the most states than with the fewest")
def _more_states_are_better(runs: Runs) -> Finding:
    ends, steps = [], []
    for bank in runs.by_case():
        for method in (BY_EM, PRINTED):
            curve = [f1(bank, method, n) for n in runs.sizes]
            ends.append(curve[-1] > curve[0])
            steps += [after > before for before, after in pairwise(curve)]
    return Finding(
        all(ends), f"{counted('curves', ends).measured}; {counted('steps', steps).measured}"
    )


@inequality(
    "with the most states the spectral algorithm is by as large a factor faster than EM as in print"
)
def _faster(runs: Runs) -> Finding:
    most = runs.sizes[-1]
    ratios = [bank.seconds(BY_EM, most) / bank.seconds(PRINTED, most) for bank in runs.by_case()]
    shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    printed = printed_ratio(most)
    return Finding(min(ratios) >= printed, f"{shown} times as fast, in print {printed:.1f} times")


def printed_ratio(n_states: int) -> float:
    """By how many times the spectral algorithm is faster in print; with other numbers, as with the most."""
    _, em, spectral = PRINTED_HOURS.get(n_states, PRINTED_HOURS[LAST])
    return em / spectral


@inequality("from the fewest states to the most its time grows by a smaller factor than EM's")
def _grows_less(runs: Runs) -> Finding:
    few, most = runs.sizes[0], runs.sizes[-1]
    growths = [
        [bank.seconds(method, most) / bank.seconds(method, few) for method in (PRINTED, BY_EM)]
        for bank in runs.by_case()
    ]
    shown = ", ".join(f"{spectral:.1f} and {em:.1f} times" for spectral, em in growths)
    return Finding(all(spectral < em for spectral, em in growths), shown)


def _table(runs: Runs) -> str:
    """F1 and training times of every method, beside the printed ones."""
    header, sizes = [f"m = {n}" for n in runs.sizes], runs.sizes
    accuracy: list[tuple[str, list[str]]] = []
    times: list[tuple[str, list[str]]] = []
    stages: list[str] = []
    for bank in runs.by_case():
        for method in METHODS:
            name, every = f"{bank.case}: {method.title}", bank.where(method=method)
            scores = [(f1(bank, method, n), every.at(n).median("f1")) for n in sizes]
            accuracy.append((name, [f"{evalb:.2f} ({f1:.2f})" for evalb, f1 in scores]))
            times.append((name, [f"{bank.seconds(method, n):.1f}" for n in sizes]))
        step = [f"{bank.seconds(BY_EM, n) / EM_STEPS:.2f}" for n in sizes]
        times.append((f"{bank.case}: one step of EM, about", step))
    for section, printed in PRINTED_F1.items():
        for column, name in enumerate((BY_EM.name, PRINTED.name)):
            cells = [f"{printed[n][column]:.2f}" if n in printed else "" for n in sizes]
            if any(cells):
                accuracy.append((f"(printed) {section}: {name}", cells))
    for column, name in enumerate(("one step of EM", "EM, best model", PRINTED.name)):
        hours = [PRINTED_HOURS[n][column] if n in PRINTED_HOURS else None for n in sizes]
        cells = ["" if hour is None else f"{3600 * hour:.0f}" for hour in hours]
        times.append((f"(printed) sections 2-21: {name}", cells))
    for method in (PRINTED, TACIT_SPECTRAL):
        name = f"Training of {method.title!r} by stage, CPU seconds (printed: of another machine):"
        stages.append(name)
        stages += aligned(header, _stages(runs, method))
    return "\n".join(
        [
            REPLACED,
            "Labelled F1, as evalb counts (every bracket and word):",
            *aligned(header, accuracy),
            "Training, CPU seconds (printed: of another machine, on the whole treebank):",
            *aligned(header, times),
            *stages,
        ]
    )


def _stages(runs: Runs, method: Method) -> list[tuple[str, list[str]]]:
    """Training times of each stage, beside the printed ones."""
    rows = []
    for place, (stage, name) in enumerate(zip(STAGES.values(), STAGE_NAMES, strict=True)):
        for bank in runs.by_case():
            every = bank.where(method=method)
            cells = [f"{every.at(n).median(f'{stage}_seconds'):.2f}" for n in runs.sizes]
            rows.append((f"{bank.case}: {name}", cells))
        printed = [PRINTED_STAGES[n][place] if n in PRINTED_STAGES else None for n in runs.sizes]
        cells = ["" if minutes is None else f"{60 * minutes}" for minutes in printed]
        rows.append((f"(printed) {name}", cells))
    return rows


EXPERIMENT = Experiment(
    name="lpcfg-f1",
    title="Slides, latent PCFGs: labelled F1 and training times, on other treebanks",
    claim=(
        "The spectral algorithm learns latent-variable PCFGs that parse as well as EM's, better with many "
        "states, in a fraction of EM's time."
    ),
    parts=(_near_em, _ahead_with_many_states, _more_states_are_better, _faster, _grows_less),
    settings={
        "paper": STUDY.settings(
            [GrammarCase(name, 1, 1 + 3 * (name != WSJ)) for name in TREEBANKS], METHODS, STATES, 1
        ),
        "small": STUDY.settings([GrammarCase(WSJ, 1, 2)], METHODS, (8, 24, 32), 1),
        "tiny": STUDY.settings(
            [GrammarCase(WSJ), GrammarCase(grammars.GENIA, 2)], METHODS, (1, 2), 1
        ),
    },
    lines=lines((PCFG, BY_EM, PRINTED, TACIT_AUTO), TACIT_FORMS),
    measures=("f1", "seconds"),
    tacit_forms=TACIT_FORMS,
    over="random starts",
    check_data=grammars.check_treebanks,
    table=_table,
)
