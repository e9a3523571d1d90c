"""`tacit fit hmm`: a hidden Markov model of sequences of symbols, of numbers, or of columns of both."""

from __future__ import annotations

from dataclasses import dataclass
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
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="COLUMN=KIND",
        help="What a column of a table is: a kind of --emissions, or sequence or time; other columns are "
        "left out. May be repeated.",
    ),
]
KnownStates = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Of a table: the column of states that are known, from 0; empty cells where they are not.",
    ),
]


@dataclass(frozen=True)
class Layout:
    """What the columns of a table are."""

    sequence: SequenceColumn = None
    symbol: SymbolColumn = None
    column: Columns = None
    known_states: KnownStates = None
    drop: learning.Drop = None

    def kinds(self) -> dict[str, str]:
        """What the columns are that --column and --sequence name; empty without --column."""
        kinds = learning.column_kinds(self.column, "speed=gaussian")
        if not kinds:
            return {}
        for value, option in ((self.symbol, "--symbol"), (self.drop, "--drop")):
            if value:
                raise typer.BadParameter(
                    "it does not go with --column, which names all columns that count",
                    param_hint=option,
                )
        if self.sequence is None:
            return kinds
        if "sequence" in kinds.values() or self.sequence in kinds:
            raise typer.BadParameter(
                "--column says already which column is the sequence, or what this one is",
                param_hint="--sequence",
            )
        return {**kinds, self.sequence: "sequence"}


_WITH_COVARIANCE = {Emissions.gaussian.value, Emissions.gaussian_mixture.value}


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
    layout: Layout,
    running: learning.Running,
) -> None:
    """Learn a hidden Markov model of the sequences in DATA.

    Where sequences end is not part of the model; for that see `tacit fit automaton`. With --emissions
    other than categorical DATA is a table of numbers, a row for each time: one sequence, or several with
    --sequence COLUMN. With --column it is a table with columns of several kinds, such as --column
    state=categorical --column speed=gaussian; --sequence or a column `id` says to which sequence a row
    belongs, a column `time` orders the rows.

    For example: tacit fit hmm tags.txt -o model.tacit --states 8
    """
    from tacit import HMM
    from tacit.cli.answers import gaussian_hmm as normals
    from tacit.cli.answers import symbol_sequences as symbols
    from tacit.core.files.container import check_suffix

    check_suffix(output)  # before the work, not after it
    emitted = _emitted(emissions, covariance, layout)
    if layout.known_states is not None and states == "auto":
        raise typer.BadParameter(
            "it goes with a number of states; give --states N", param_hint="--known-states"
        )
    model = HMM(
        n_states=learning.number_or_auto(states, int, "--states"),
        learn=learn.value,
        emissions=emitted,
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
    more: Any = {"sequence": layout.sequence, "known": layout.known_states}
    more |= {"validation": validation, "json": running.json}
    if emitted == Emissions.categorical.value:
        symbols.learn_and_save(model, data, output, symbol=layout.symbol, **more)
    else:
        normals.learn_and_save(model, data, output, drop=layout.drop, **more)


def _emitted(emissions: Emissions, covariance: Covariance, layout: Layout) -> str | dict[str, str]:
    """What states emit, as the argument of the estimator; refuses options that do not go with it."""
    kinds = layout.kinds()
    if kinds and emissions is not Emissions.categorical:
        raise typer.BadParameter(
            "--column says what each column holds; leave one of them out", param_hint="--emissions"
        )
    numbers = emissions is not Emissions.categorical
    if numbers and layout.symbol is not None:
        raise typer.BadParameter(
            f"it does not go with --emissions {emissions.value}, where all columns hold numbers; see --drop",
            param_hint="--symbol",
        )
    if not numbers and layout.drop:
        raise typer.BadParameter("it goes with --emissions of numbers", param_hint="--drop")
    emitted = set(kinds.values()) or {emissions.value}
    if not emitted & _WITH_COVARIANCE and covariance is not Covariance.full:
        raise typer.BadParameter(
            "it goes with --emissions gaussian or gaussian-mixture", param_hint="--covariance"
        )
    return kinds or emissions.value


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
