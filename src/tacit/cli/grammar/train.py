"""`tacit grammar train`: grammars with hidden states from treebanks."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.cli.fit import learning
from tacit.cli.grammar.parse import PACKED
from tacit.cli.options import Json


class Learn(StrEnum):
    """Learners of grammars."""

    auto = "auto"
    spectral = "spectral"
    em = "em"


Treebanks = Annotated[
    list[Path], typer.Argument(metavar="TREES", help=f"Trees in brackets, UTF-8; {PACKED}.")
]
States = Annotated[
    int, typer.Option(min=1, help="Hidden states of each label; 1 is a plain grammar.")
]
Learner = Annotated[
    Learn,
    typer.Option(help="spectral: by linear algebra; em: from random starts; auto: both together."),
]
MinCount = Annotated[
    int, typer.Option(min=1, help="Rarer words are treated as the class of words that look alike.")
]
Restarts = Annotated[
    int | None,
    typer.Option(min=1, help="Random starts of em, of which the best is kept; default 1."),
]
Steps = Annotated[
    int | None, typer.Option(min=1, help="Steps of EM of em and auto; default 20 and 3.")
]
Longest = Annotated[int, typer.Option(min=1, help="Refuse to parse sentences of more words.")]


def train(
    treebanks: Treebanks,
    output: learning.Output,
    states: States = 16,
    learn: Learner = Learn.auto,
    min_count: MinCount = 3,
    restarts: Restarts = None,
    max_iter: Steps = None,
    longest: Longest = 250,
    seed: learning.Seed = 0,
    jobs: learning.Jobs = None,
    json: Json = False,
) -> None:
    """Learn a grammar from trees in brackets.

    Empty words (-NONE-) and functions (-SBJ) are left out; no head rules are needed.

    For example: tacit grammar train treebank.mrg -o model.tacit --states 32
    """
    from tacit.cli.grammar.parse import trees_of
    from tacit.cli.lm.counts import check_place, refuse
    from tacit.core.files.container import check_suffix
    from tacit.parsing.latent_pcfg import LatentPCFG

    check_suffix(output)  # before the work, not after it
    check_place(output)
    if learn is not Learn.em:
        refuse({"--restarts": restarts}, "it goes with --learn em")
    if learn is Learn.spectral:
        refuse({"--max-iter": max_iter}, "it goes with --learn em and auto")
    model = LatentPCFG(
        states,
        learn.value,
        min_count=min_count,
        n_restarts=restarts or 1,
        max_iter=max_iter,
        max_words=longest,
        random_state=seed,
        n_jobs=jobs,
        progress=True,
    )
    model.fit([tree for path in treebanks for tree in trees_of(path)])
    model.set_params(progress=None, n_jobs=None)
    model.save(output)
    _report(model, output, json=json)


def _report(model: Any, output: Path, *, json: bool) -> None:
    from tacit.cli.output import console, print_json

    diagnostics = model.diagnostics_
    if json:
        print_json({"model": str(output), "kind": type(model).__name__, **diagnostics})
        return
    n_trees = diagnostics["n_trees"]
    console().print(
        f"{n_trees:,} tree{'' if n_trees == 1 else 's'}, {diagnostics['n_labels']:,} labels with "
        f"{model.n_states} state{'' if model.n_states == 1 else 's'}, {diagnostics['n_rules']:,} rules, "
        f"{diagnostics['n_words']:,} words and kinds of words; saved as {output}",
        markup=False,
    )
