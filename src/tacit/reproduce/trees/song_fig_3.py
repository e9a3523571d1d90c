"""Song et al. (2013), figure 3: signals to end a gene, told from the letters around them.

The paper cuts its sequences (Kalkatawi et al. 2012) to 100 letters and does not say where; here they are
fifty letters on either side of the signal, of the newer Omni-PolyA set, of which as many are taken as the
paper has (less about ten of 9500, which are copies of sequences to be judged). How often the paper split
them is not said either: ten times here.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from tacit.reproduce.runner.grids import Method
from tacit.reproduce.runner.panels import Panel, lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality
from tacit.reproduce.trees.dna_strands import strands
from tacit.reproduce.trees.song_fig_2 import EM, METHODS, NEW, OURS, SPECTRAL
from tacit.reproduce.trees.splice_sites import SiteCase, SiteSettings

AUTO = Method("Tacit auto", "auto")

# "Comparable": within five of a hundred sequences; "considerably" is more than that.
NEAR = 0.05


def settings(
    sizes: Sequence[int], n_splits: int, *, n_test: int = 800, states: Sequence[int] = (2, 3)
) -> SiteSettings:
    """Hidden Markov models of two and of three states, one for each class."""
    cases = tuple(SiteCase("polya", 1, n_states, n_test) for n_states in states)
    return SiteSettings(cases, (*METHODS, AUTO), tuple(sizes), n_splits)


def wrong(runs: Runs, n_states: int, method: str) -> float:
    """The share of wrong answers, the mean over the sizes of medians over the splits."""
    own = runs.where(n_states=n_states)
    return statistics.fmean(own.at(size).median("wrong", method=method) for size in own.sizes)


def all_near(runs: Runs) -> Finding:
    """The distance between the best and the worst of the three, at two states."""
    found = [wrong(runs, 2, method.name) for method in (NEW, EM, SPECTRAL)]
    shown = ", ".join(f"{each:.3f}" for each in found)
    return Finding(max(found) - min(found) <= NEAR, shown)


def new_near_em(runs: Runs) -> Finding:
    """The distance of two, at three states."""
    new, em = wrong(runs, 3, NEW.name), wrong(runs, 3, EM.name)
    return Finding(abs(new - em) <= NEAR, f"{new:.3f} and {em:.3f}")


def spectral_behind(runs: Runs) -> Finding:
    """Spectral beside both, at three states."""
    spectral, others = wrong(runs, 3, SPECTRAL.name), [wrong(runs, 3, m.name) for m in (NEW, EM)]
    return Finding(spectral > max(others) + NEAR, f"{spectral:.3f} and {max(others):.3f}")


def spectral_worse(runs: Runs) -> Finding:
    """Spectral with three states beside spectral with two."""
    two, three = (wrong(runs, n_states, SPECTRAL.name) for n_states in (2, 3))
    return Finding(three > two + NEAR, f"{two:.3f} and {three:.3f}")


def panels(chosen: SiteSettings) -> list[Panel]:
    """A column for each number of states, under the paper's triple."""
    drawn = lines((NEW.name, EM.name, SPECTRAL.name), OURS, AUTO.name)
    return [Panel(f"{{100, 4, {case.n_states}}}", case, drawn) for case in chosen.cases]


EXPERIMENT = Experiment(
    name="song-fig-3",
    title="Song et al. 2013, figure 3: signals to end a gene {O, n, k'}",
    claim=(
        "Poly(A) signals are told from other places about equally well by the hierarchical decomposition, EM "
        "and spectral learning of hidden Markov models with two states; with three the first two are alike, "
        "and spectral learning is considerably worse."
    ),
    parts=(
        Inequality(
            "with two states the shares of wrong answers of all three are within 0.05, on average over sizes",
            all_near,
        ),
        Inequality("with three states those of new and EM are within 0.05", new_near_em),
        Inequality("with three states spectral's is above both by more than 0.05", spectral_behind),
        Inequality(
            "spectral's with three states is above that with two by more than 0.05", spectral_worse
        ),
    ),
    settings={
        "paper": settings((500, 1000, 2000, 3500, 5000, 6500, 8000, 9500), 10),
        "small": settings((500, 2000, 9500), 3),
        "tiny": settings((60, 100), 1, n_test=20),
    },
    panels=panels,
    measures=("wrong", "seconds"),
    ours=OURS,
    over="splits",
    need=lambda: strands("polya"),
)
