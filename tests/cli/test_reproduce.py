"""`tacit reproduce` prints what experiments find; they have tests of their own."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tacit.reproduce
from tacit.cli import app
from tacit.reproduce import Verdict


@pytest.fixture
def calls(monkeypatch):
    """What `tacit.reproduce.run` was asked, which answers at once."""
    recorded = []

    def run(name, *, scale, out, progress):
        recorded.append((name, scale, out, progress))
        return Verdict(
            name, "A claim.", name == "fig-4.4", "why", Path("a.csv"), Path("a.png"), f"{name}: so"
        )

    monkeypatch.setattr(tacit.reproduce, "run", run)
    return recorded


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["reproduce", *arguments])
    assert result.exit_code == code, result.output
    return result.output


@pytest.mark.parametrize("arguments", [["--list"], []])
def test_the_experiments_are_listed_with_their_claims(arguments):
    printed = run(*arguments)
    for name, claim in tacit.reproduce.listing():
        assert f"{name} " in printed
        assert claim in printed


def test_the_list_in_json():
    report = json.loads(run("--list", "--json"))
    assert [
        (experiment["name"], experiment["claim"]) for experiment in report
    ] == tacit.reproduce.listing()


def test_experiments_are_run_in_order_and_their_verdicts_printed(calls, tmp_path):
    printed = run("fig-4.4", "fig-4.5", "--scale", "paper", "--out", str(tmp_path))
    assert calls == [(name, "paper", tmp_path, True) for name in ("fig-4.4", "fig-4.5")]
    assert printed == "fig-4.4: so\n  a.csv  a.png\nfig-4.5: so\n  a.csv  a.png\n"


def test_figures_in_lines_of_text_are_printed_before_the_verdict(monkeypatch):
    verdict = Verdict(
        *("fig-5.4", "A claim.", True, "why", Path("a.csv"), Path("a.png"), "so"),
        table="1 [2]\n3 4",
    )
    monkeypatch.setattr(tacit.reproduce, "run", lambda *_, **__: verdict)
    assert run("fig-5.4") == "1 [2]\n3 4\nso\n  a.csv  a.png\n"


def test_verdicts_in_json(calls):
    report = json.loads(run("fig-4.4", "fig-4.5", "--json"))
    assert [verdict["held"] for verdict in report] == [True, False]
    assert report[0]["csv"] == "a.csv"
    assert calls[0][1:3] == ("small", Path("out"))


def test_a_mistyped_name_gets_a_suggestion():
    assert "did you mean 'fig-4.4'?" in run("fig-44", code=1)


def test_another_scale_is_refused():
    assert "small" in run("fig-4.4", "--scale", "large", code=2)
