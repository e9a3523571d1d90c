"""Progress goes where it was asked to go, and nowhere else."""

import io
import sys

import pytest

from tacit.core.progress import reporting
from tacit.errors import ArgumentTypeError


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("progress", [None, False, True])
def test_nothing_is_written_where_no_terminal_is(progress, capsys):
    with reporting(progress) as report:
        report(0.5, "half way")
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_a_callable_gets_what_is_reported():
    reported = []
    with reporting(lambda *each: reported.append(each)) as report:
        report(0.25, "counting")
    assert reported == [(0.25, "counting")]


def test_a_terminal_shows_a_bar(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with reporting(True) as report:
        report(0.5, "half way")
        report(1.0, "there")
    assert "there" in terminal.getvalue()


def test_anything_else_is_refused():
    with pytest.raises(ArgumentTypeError, match="progress='loud'"), reporting("loud"):
        pass
