"""The module that answers for each kind of model; one clear line where a model has no answer."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.cli.answers.predictions import Predictions
    from tacit.core.model import Kind

# Commands for models of each kind.
_COMMANDS: dict[Kind, str] = {
    "table": "tacit score, predict, query, impute, sample, plot, export or info",
    "mixture": "tacit score, predict, sample or info",
    "sequences": "tacit score, predict, impute, sample, plot, forecast or info",
    "language": "`tacit lm`",
    "parser": "`tacit parse`",
    "grammar": "`tacit grammar`",
    "topics": "`tacit topics`",
    "classifier": "tacit predict or info",
    "imputer": "tacit impute or info",
}
_NAMES: dict[Kind, str] = {
    "table": "a model of a table",
    "mixture": "a mixture",
    "sequences": "a model of sequences",
    "language": "a language model",
    "parser": "a parser without labels",
    "grammar": "a grammar of a treebank",
    "topics": "a topic model",
    "classifier": "a classifier",
    "imputer": "an imputer",
}
# What `tacit score`, `predict` and `sample` can print; the other kinds have commands of their own.
_GENERAL = {"table", "mixture", "sequences"}


class Answers(Protocol):
    """The functions of a kind's module for `tacit score`, `predict` and `sample`."""

    def print_score(self, fitted: Any, data: Path, output: Path | None, *, json: bool) -> None:
        """Print the log-likelihood of the rows or sequences of a file."""

    def predictions(
        self,
        fitted: Any,
        data: Path,
        *,
        target: str | None,
        quantiles: Sequence[float] | None,
        all_positions: bool,
    ) -> Predictions:
        """The predictions for each row or sequence of a file."""

    def states(self, fitted: Any, data: Path) -> Predictions:
        """The hidden state behind each row or position of a file, where "states" is an ability."""

    def filled(self, fitted: Any, data: Path) -> tuple[Any, int]:
        """The positions of sequences without gaps as a table, and how many there were."""

    def print_sample(
        self,
        fitted: Any,
        n: int,
        length: int | None,
        given: list[str] | None,
        seed: int | None,
        output: Path | None,
        *,
        json: bool,
    ) -> None:
        """Draw rows or sequences; print or write them."""


def answers_for(fitted: Any) -> Answers:
    """The module that answers for a model."""
    kind: str = fitted.kind
    names = {"table": "tables", "mixture": "mixtures", "classifier": "classifiers"}
    name = names.get(kind, "symbol_sequences")
    if kind == "sequences" and fitted.can("numbers"):
        name = "number_sequences" if fitted.can("forecast") else "gaussian_hmm"
    return cast(Answers, import_module(f"tacit.cli.answers.{name}"))


def model_that_can(path: Path, ability: str, lacks: str, *kinds: Kind) -> Any:
    """Load a model that has an ability and is of one of some kinds.

    Parameters
    ----------
    path : Path
    ability : str
        See `tacit.core.model.Model`.
    lacks : str
        What models without the ability lack, such as "columns to predict".
    *kinds : str
        Kinds that the command is for; by default those of tables, mixtures and sequences.

    Raises
    ------
    MissingDataError, FileFormatError, NotAvailableError
        There is no such file, it is not a model file, or its model lacks the ability.
    """
    from tacit import load

    fitted = load(path)
    check_can(fitted, ability, lacks, *kinds)
    return fitted


def check_can(fitted: Any, ability: str, lacks: str, *kinds: Kind) -> None:
    """Raise a `NotAvailableError` that names the right commands if a model lacks an ability.

    What depends on how the model was learnt is refused by the model itself, with its own advice.
    """
    if fitted.kind not in (kinds or _GENERAL) or ability not in fitted.abilities:
        raise not_available(fitted, f"has no {lacks}")


def model_of_kind(path: Path, kind: Kind) -> Any:
    """Load a model of one kind; raises as `model_that_can`."""
    from tacit import load

    fitted = load(path)
    if fitted.kind != kind:
        raise not_available(fitted, f"is not {_NAMES[kind]}")
    return fitted


def not_available(fitted: Any, why: str) -> Exception:
    """The error that says why a command does not work for a model, and which ones do."""
    from tacit.errors import NotAvailableError

    return NotAvailableError(f"{type(fitted).__name__} {why}; use {_COMMANDS[fitted.kind]}")
