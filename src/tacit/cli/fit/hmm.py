"""`tacit fit hmm`: a hidden Markov model of sequences of symbols, or of numbers."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from tacit.cli.answers.symbol_sequences import SequenceColumn, SequenceFile, SymbolColumn
from tacit.cli.fit import learning
from tacit.cli.groups import unfolded


class Learn(StrEnum):
    """Learners."""

    auto = "auto"
    spectral = "spectral"
    tensor = "tensor"
    em = "em"
    online_em = "online-em"


class Emissions(StrEnum):
    """What states emit."""

    categorical = "categorical"
    gaussian = "gaussian"
    gaussian_mixture = "gaussian-mixture"
    poisson = "poisson"
    negative_binomial = "negative-binomial"
    multinomial = "multinomial"
    von_mises = "von-mises"


class Covariance(StrEnum):
    """The covariance of columns within a state."""

    full = "full"
    diagonal = "diagonal"
    spherical = "spherical"
    tied = "tied"


class Transitions(StrEnum):
    """Which transitions are possible."""

    full = "full"
    left_to_right = "left-to-right"
    linear = "linear"
    cyclic = "cyclic"
    banded = "banded"


class Initial(StrEnum):
    """Where sequences start."""

    auto = "auto"
    all = "all"
    first = "first"


class Durations(StrEnum):
    """How long states last."""

    geometric = "geometric"
    table = "table"
    negative_binomial = "negative-binomial"


Learner = Annotated[
    Learn, typer.Option(help="auto: states from counts of windows, split and polished by EM.")
]
Shown = Annotated[
    Emissions,
    typer.Option(help="What states emit: symbols, or numbers, counts or angles of a table."),
]
Dependence = Annotated[
    Covariance,
    typer.Option(help="Of gaussian and gaussian-mixture: what columns and states have in common."),
]
Components = Annotated[int, typer.Option(help="Of gaussian-mixture: Gaussians of each state.")]
Shape = Annotated[
    Transitions,
    typer.Option(help="The transitions that are possible; all others are exactly zero."),
]
Start = Annotated[
    Initial, typer.Option(help="The states that sequences start in; auto: as transitions say.")
]
Features = Annotated[
    str, typer.Option(metavar="N|auto", help="Symbols looked at on either side of a symbol.")
]
Lasting = Annotated[
    Durations,
    typer.Option(help="How long states last: as transitions to themselves say, or explicitly."),
]
Longest = Annotated[
    str,
    typer.Option(
        metavar="N|auto", help="Of explicit durations: those with a probability of their own."
    ),
]
Stationary = Annotated[
    bool, typer.Option("--stationary", help="Sequences start anywhere in a long run.")
]
Gain = Annotated[float, typer.Option(help="Gain in nats per position at which EM stops.")]


_WITH_COVARIANCE = (Emissions.gaussian, Emissions.gaussian_mixture)


@unfolded
def hmm(
    data: SequenceFile,
    output: learning.Output,
    states: learning.HiddenStates = "auto",
    learn: Learner = Learn.auto,
    emissions: Shown = Emissions.categorical,
    covariance: Dependence = Covariance.full,
    components: Components = 2,
    transitions: Shape = Transitions.full,
    initial: Start = Initial.auto,
    sequence: SequenceColumn = None,
    symbol: SymbolColumn = None,
    drop: learning.Drop = None,
    features: Features = "auto",
    durations: Lasting = Durations.geometric,
    max_duration: Longest = "auto",
    stationary: Stationary = False,
    validation: learning.SequencesAside = None,
    pseudo_counts: learning.PseudoCounts = "auto",
    restarts: learning.Restarts = 5,
    tol: Gain = 5e-7,
    max_iter: learning.MaxIter = 300,
    *,
    running: learning.Running,
) -> None:
    """Learn a hidden Markov model of the sequences in DATA.

    Where sequences end is not part of the model; for that see `tacit fit automaton`. With --emissions
    other than categorical DATA is a table of numbers, a row for each time: one sequence, or several with
    --sequence COLUMN.

    For example: tacit fit hmm tags.txt -o model.tacit --states 8
    """
    from tacit import HMM
    from tacit.cli.answers import gaussian_hmm as normals
    from tacit.cli.answers import symbol_sequences as symbols
    from tacit.core.files.container import check_suffix

    check_suffix(output)  # before the work, not after it
    numbers = emissions is not Emissions.categorical
    _check_emissions(emissions, covariance, symbol, drop)
    model = HMM(
        n_states=learning.number_or_auto(states, int, "--states"),
        learn=learn.value,
        emissions=emissions.value,
        covariance=covariance.value,
        n_components=components,
        transitions=transitions.value,
        initial=initial.value,
        features=learning.number_or_auto(features, int, "--features"),
        **_lasting(durations, max_duration),
        stationary=stationary,
        pseudo_counts=learning.number_or_auto(pseudo_counts, float, "--pseudo-counts"),
        n_restarts=restarts,
        tol=tol,
        max_iter=max_iter,
        **running.arguments(),
    )
    more: Any = {"sequence": sequence, "validation": validation, "json": running.json}
    if numbers:
        normals.learn_and_save(model, data, output, drop=drop, **more)
    else:
        symbols.learn_and_save(model, data, output, symbol=symbol, **more)


def _check_emissions(
    emissions: Emissions, covariance: Covariance, symbol: str | None, drop: list[str] | None
) -> None:
    """Refuse options that do not go with these emissions."""
    numbers = emissions is not Emissions.categorical
    if numbers and symbol is not None:
        raise typer.BadParameter(
            f"it does not go with --emissions {emissions.value}, where all columns hold numbers; see --drop",
            param_hint="--symbol",
        )
    if not numbers and drop:
        raise typer.BadParameter("it goes with --emissions of numbers", param_hint="--drop")
    if emissions not in _WITH_COVARIANCE and covariance is not Covariance.full:
        raise typer.BadParameter(
            "it goes with --emissions gaussian or gaussian-mixture", param_hint="--covariance"
        )


def _lasting(durations: Durations, max_duration: str) -> dict[str, Any]:
    """The arguments about durations."""
    if durations is not Durations.geometric:
        longest = learning.number_or_auto(max_duration, int, "--max-duration")
        return {"durations": durations.value, "max_duration": longest}
    if max_duration != "auto":
        raise typer.BadParameter(
            "it goes with --durations table or negative-binomial", param_hint="--max-duration"
        )
    return {}
