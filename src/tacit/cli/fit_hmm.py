"""`tacit fit hmm`: a hidden Markov model of sequences of symbols."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from tacit.cli import learning
from tacit.cli.options import Json
from tacit.cli.symbols import SequenceColumn, SequenceFile, SymbolColumn


class Learn(StrEnum):
    """Ways of learning."""

    auto = "auto"
    spectral = "spectral"
    tensor = "tensor"
    em = "em"
    online_em = "online-em"


def hmm(
    data: SequenceFile,
    output: learning.Output,
    states: Annotated[str, typer.Option(metavar="N|auto", help="Hidden states.")] = "auto",
    learn: Annotated[
        Learn,
        typer.Option(help="auto: states from counts of windows, split and polished by EM."),
    ] = Learn.auto,
    sequence: SequenceColumn = None,
    symbol: SymbolColumn = None,
    features: Annotated[
        int, typer.Option(min=1, help="Of spectral: symbols looked at on either side.")
    ] = 1,
    stationary: Annotated[
        bool, typer.Option("--stationary", help="Sequences start anywhere in a long run.")
    ] = False,
    validation: learning.SequencesAside = None,
    pseudo_counts: learning.Prior = 1.0,
    restarts: learning.Restarts = 5,
    tol: Annotated[float, typer.Option(help="Gain in nats at which em stops.")] = 1e-2,
    max_iter: learning.MaxIter = 300,
    seed: learning.Seed = 0,
    jobs: learning.Jobs = None,
    json: Json = False,
) -> None:
    """Learn a hidden Markov model of the sequences in DATA.

    Where sequences end is not part of the model; for that see `tacit fit automaton`.

    For example: tacit fit hmm tags.txt -o model.tacit --states 8
    """
    from tacit import HMM
    from tacit.cli.symbols import learn_and_save
    from tacit.files.models import check_suffix

    check_suffix(output)  # before the work, not after it
    model = HMM(
        n_states=learning.number_or_auto(states, int, "--states"),
        learn=learn.value,
        features=features,
        stationary=stationary,
        pseudo_counts=pseudo_counts,
        n_restarts=restarts,
        tol=tol,
        max_iter=max_iter,
        n_jobs=jobs,
        progress=True,
        random_state=seed,
    )
    read = {"sequence": sequence, "symbol": symbol}
    learn_and_save(model, data, output, **read, validation=validation, json=json)
