"""Options that go together: declared once, taken whole by a command."""

from dataclasses import dataclass
from inspect import signature
from typing import Annotated

import typer
from typer.testing import CliRunner

from tacit.cli.groups import unfolded


@dataclass(frozen=True)
class Place:
    """Two options."""

    east: Annotated[int, typer.Option(help="How far east.")] = 3
    north: Annotated[float, typer.Option("--up", help="How far north.")] = 0.5


@dataclass(frozen=True)
class Form:
    """Another option."""

    loud: Annotated[bool, typer.Option("--loud")] = False


def answer(*words):
    """What a command with two groups was called with, and what it printed."""
    called = []
    app = typer.Typer(rich_markup_mode=None)

    @app.command()
    @unfolded
    def go(
        who: Annotated[str, typer.Argument()],
        far: Annotated[int, typer.Option()] = 1,
        *,
        place: Place,
        last: Annotated[int, typer.Option()] = 2,
        form: Form,
    ) -> None:
        """Go somewhere."""
        called.append((who, far, place, last, form))

    return called, CliRunner().invoke(app, list(words)), go


def test_a_command_gets_its_groups_whole():
    called, result, _ = answer("me", "--east", "7", "--loud", "--last", "9")
    assert result.exit_code == 0, result.output
    assert called == [("me", 1, Place(7, 0.5), 9, Form(loud=True))]


def test_defaults_are_those_of_the_fields():
    called, _, _ = answer("me")
    assert called == [("me", 1, Place(), 2, Form())]


def test_options_stand_where_their_group_stood():
    _, result, go = answer("--help")
    assert list(signature(go).parameters) == ["who", "far", "east", "north", "last", "loud"]
    places = [result.output.index(f"--{name}") for name in ("far", "east", "up", "last", "loud")]
    assert places == sorted(places)
    assert "How far north.  [default: 0.5]" in result.output
    assert "Go somewhere." in result.output


def test_a_command_without_groups_is_called_as_it_is():
    calls = []
    unfolded(lambda one, two=2: calls.append((one, two)))(one=1)
    assert calls == [(1, 2)]
