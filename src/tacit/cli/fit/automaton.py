"""`tacit fit automaton`: an automaton of sequences of symbols, which also says where they end."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.answers.symbol_sequences import SequenceColumn, SequenceFile, SymbolColumn
from tacit.cli.fit import learning
from tacit.cli.groups import unfolded

if TYPE_CHECKING:
    from tacit.sequences.automaton_queries import AutomatonQueries


class Kind(StrEnum):
    """Automata that there are."""

    probabilistic = "probabilistic"
    weighted = "weighted"


class Learn(StrEnum):
    """Learners of a probabilistic automaton."""

    auto = "auto"
    em = "em"
    gibbs = "gibbs"


class Statistics(StrEnum):
    """What is counted for a weighted automaton."""

    auto = "auto"
    string = "string"
    prefix = "prefix"
    substring = "substring"


@unfolded
def automaton(
    data: SequenceFile,
    output: learning.Output,
    kind: Annotated[
        Kind,
        typer.Option(
            help="probabilistic: hidden states; weighted: no iteration, done in a moment."
        ),
    ] = Kind.probabilistic,
    states: Annotated[
        str, typer.Option(metavar="N|auto", help="Hidden states; of weighted, its rank.")
    ] = "auto",
    learn: Annotated[
        Learn | None, typer.Option(help="Of probabilistic: auto (gibbs) averages many automata.")
    ] = None,
    statistics: Annotated[
        Statistics | None, typer.Option(help="Of weighted: what is counted of a string.")
    ] = None,
    basis: Annotated[
        str | None, typer.Option(metavar="N|auto", help="Of weighted: strings on each side.")
    ] = None,
    sequence: SequenceColumn = None,
    symbol: SymbolColumn = None,
    validation: learning.SequencesAside = None,
    *,
    running: learning.Running,
) -> None:
    """Learn an automaton from the sequences in DATA: what comes next, and where sequences end.

    For example: tacit fit automaton 24.pautomac.train -o model.tacit
    """
    from tacit.cli.answers.symbol_sequences import learn_and_save
    from tacit.core.files.container import check_suffix

    check_suffix(output)  # before the work, not after it
    others = (
        {"--statistics": statistics, "--basis": basis}
        if kind is Kind.probabilistic
        else {"--learn": learn}
    )
    for option, value in others.items():
        if value is not None:
            raise typer.BadParameter(f"it does not go with --kind {kind}", param_hint=option)
    size = learning.number_or_auto(states, int, "--states")
    more = running.arguments()
    model: AutomatonQueries
    if kind is Kind.weighted:
        from tacit import WeightedAutomaton

        strings = learning.number_or_auto(basis or "auto", int, "--basis")
        model = WeightedAutomaton(
            size, (statistics or Statistics.auto).value, basis=strings, **more
        )
    else:
        from tacit import ProbabilisticAutomaton

        model = ProbabilisticAutomaton(size, (learn or Learn.auto).value, **more)
    read = {"sequence": sequence, "symbol": symbol}
    learn_and_save(model, data, output, **read, validation=validation, json=running.json)
