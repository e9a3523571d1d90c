"""The program `tacit`: its sub-commands, and the handling of errors and warnings."""

from __future__ import annotations

import io
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tacit import __version__
from tacit.cli import demo, reproduce, structure, topics
from tacit.cli.fit import automaton as fit_automaton
from tacit.cli.fit import classes as fit_classes
from tacit.cli.fit import gaussian_tree as fit_gaussian_tree
from tacit.cli.fit import hmm as fit_hmm
from tacit.cli.fit import junction as fit_junction
from tacit.cli.fit import kernel_hmm as fit_kernel_hmm
from tacit.cli.fit import kernel_tree as fit_kernel_tree
from tacit.cli.fit import table as fit_table
from tacit.cli.fit import topics as fit_topics
from tacit.cli.fit import tree as fit_tree
from tacit.cli.grammar import evaluate as grammar_evaluate
from tacit.cli.grammar import parse as grammar
from tacit.cli.grammar import train as grammar_train
from tacit.cli.lm import counts as language_counts
from tacit.cli.lm import queries as language
from tacit.cli.lm import train as language_train
from tacit.cli.model import export, forecast, impute, info, plot, predict, query, sample, score
from tacit.cli.parse import apply as parsing
from tacit.cli.parse import draw as parsing_draw
from tacit.cli.parse import evaluate as parsing_evaluate
from tacit.cli.parse import train as parsing_train
from tacit.errors import TacitError, TacitWarning

# Plain help: rich would double the time to print it.
_LOOK: dict[str, Any] = {
    "rich_markup_mode": None,
    "no_args_is_help": True,
    "add_completion": False,
    "pretty_exceptions_enable": False,
}


# 128 and the number of the signal, as shells have it.
_CLOSED_PIPE = 141
_TERMINATED = 143


class Program(TyperGroup):
    """A group of commands in which an error of Tacit is one line and exit code 1."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Read the arguments, or print the help."""
        with _errors_as_lines():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _errors_as_lines(), _warnings_as_lines():
            return super().invoke(ctx)


@contextmanager
def _errors_as_lines() -> Iterator[None]:
    """Within the block, an error of Tacit or of the system is one line on standard error, and ends it."""
    try:
        yield
    except BrokenPipeError as error:  # the reader of a pipe has closed it
        raise typer.Exit(_CLOSED_PIPE) from error
    except (TacitError, OSError) as error:  # OSError: such as a full disk
        typer.echo(f"error: {_one_line(error)}", err=True)
        raise typer.Exit(1) from error


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Within the block, each of Tacit's own warnings is one line on standard error."""
    with warnings.catch_warnings():
        ordinary = warnings.showwarning
        warnings.simplefilter("default", TacitWarning)
        # matplotlib draws a box for a character that its font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")

        def show(message: Warning | str, category: type[Warning], *details: Any) -> None:
            if issubclass(category, TacitWarning):
                typer.echo(f"warning: {_one_line(message)}", err=True)
            else:
                ordinary(message, category, *details)

        warnings.showwarning = show  # type: ignore[assignment]
        yield


def _one_line(message: object) -> str:
    return " ".join(str(message).split())


def _tell_version(value: bool) -> None:
    if value:
        typer.echo(f"tacit {__version__}")
        raise typer.Exit


def _program(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_tell_version, is_eager=True, help="Show the version and leave."
        ),
    ] = False,
) -> None:
    """Latent-variable models learnt by linear algebra.

    Learn a model from a table or from sequences (fit), then query it. Tables are CSV, TSV or
    Parquet files; models are .tacit files. `tacit demo` shows all of it in a minute.
    """


app = typer.Typer(name="tacit", cls=Program, **_LOOK)
app.callback()(_program)

_learning = typer.Typer(help="Learn a model from a table or from sequences and save it.", **_LOOK)
_learning.command("table")(fit_table.table)
_learning.command("tree")(fit_tree.tree)
_learning.command("classes")(fit_classes.classes)
_learning.command("kernel-tree")(fit_kernel_tree.kernel_tree)
_learning.command("gaussian-tree")(fit_gaussian_tree.gaussian_tree)
_learning.command("kernel-hmm")(fit_kernel_hmm.kernel_hmm)
_learning.command("hmm")(fit_hmm.hmm)
_learning.command("automaton")(fit_automaton.automaton)
_learning.command("junction")(fit_junction.junction)
_learning.command("topics")(fit_topics.topics)
app.add_typer(_learning, name="fit")
_language = typer.Typer(help="Language models of words: learn, score, draw.", **_LOOK)
_language.command("train")(language_train.train)
_language.command("count")(language_counts.count)
_language.command("merge")(language_counts.merge)
_language.command("perplexity")(language.perplexity)
_language.command("score")(language.score)
_language.command("next")(language.next_words)
_language.command("sample")(language.sample)
_language.command("arpa")(language.arpa)
app.add_typer(_language, name="lm")
_parsing = typer.Typer(help="Brackets of sentences, learnt without a treebank.", **_LOOK)
_parsing.command("train")(parsing_train.train)
_parsing.command("apply")(parsing.apply)
_parsing.command("evaluate")(parsing_evaluate.evaluate)
_parsing.command("draw")(parsing_draw.draw)
app.add_typer(_parsing, name="parse")
_grammar = typer.Typer(help="Trees of sentences by grammars learnt from a treebank.", **_LOOK)
_grammar.command("train")(grammar_train.train)
_grammar.command("parse")(grammar.parse)
_grammar.command("evaluate")(grammar_evaluate.evaluate)
app.add_typer(_grammar, name="grammar")
_topics = typer.Typer(help="Topics of documents: their words, mixtures, scores.", **_LOOK)
_topics.command("show")(topics.show)
_topics.command("apply")(topics.apply)
_topics.command("score")(topics.score)
_topics.command("sample")(topics.sample)
app.add_typer(_topics, name="topics")
app.command("structure")(structure.structure)
app.command("score")(score.score)
app.command("predict")(predict.predict)
app.command("forecast")(forecast.forecast)
app.command("query")(query.query)
app.command("impute")(impute.impute)
app.command("sample")(sample.sample)
app.command("info")(info.info)
app.command("plot")(plot.plot)
app.command("export")(export.export)
app.command("demo")(demo.demo)
app.command("reproduce")(reproduce.reproduce)


def main() -> None:
    """Run the program; the entry point `tacit`.

    Exit codes: 0; 1 for an error, which is one line; 2 for wrong usage; 130 for an interrupt; 141 for a
    closed pipe; 143 if it was terminated.
    """
    is_closed = sys.stdout is None  # `tacit ... >&-`
    _open_closed_streams()
    _buffer_output()
    signal.signal(signal.SIGTERM, _terminate)
    if is_closed:
        typer.echo("error: standard output is closed", err=True)
        sys.exit(1)
    try:
        app(prog_name="tacit")
    except SystemExit as end:
        _flush(is_error_reported=bool(end.code))
        raise
    except BaseException:
        _flush(is_error_reported=True)
        raise


def _open_closed_streams() -> None:
    """Open what is closed of the standard streams on nothing: a file would get its number, and its output."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8"))


def _buffer_output() -> None:
    """Put a buffer under unbuffered output: Python ignores raw writes that are cut short."""
    if isinstance(raw := getattr(sys.stdout, "buffer", None), io.RawIOBase):
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding=sys.stdout.encoding,
            errors=sys.stdout.errors,
            line_buffering=True,
        )


def _terminate(*_: object) -> None:
    """End as after an interrupt, so that temporary files are removed."""
    sys.exit(_TERMINATED)


def _flush(*, is_error_reported: bool) -> None:
    """Flush the output; if that fails, discard it, so that the interpreter does not try again.

    Where an error was reported before, a failure to flush changes neither that line nor the exit code.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if stream is sys.stdout and not is_error_reported:
                if not isinstance(error, BrokenPipeError):
                    typer.echo(f"error: {_one_line(error)}", err=True)
                sys.exit(_CLOSED_PIPE if isinstance(error, BrokenPipeError) else 1)
