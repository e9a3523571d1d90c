"""The program as a whole: errors, warnings, exit codes, colours, pipes, help."""

import os
import shlex
import subprocess
import sys
import warnings

import pytest
import typer
from typer.testing import CliRunner

import tacit
from tacit.cli import app
from tacit.cli.program import Program
from tacit.errors import ArgumentError, BinningWarning

COMMANDS = [
    *("score", "predict", "forecast", "query", "impute", "sample", "info", "plot", "export"),
]


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def process(*arguments, **environment):
    """`python -m tacit` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "tacit", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def shell(words, redirection, before="", **environment):
    """`python -m tacit` under sh, with its output redirected."""
    line = f"{before}{shlex.join([sys.executable, '-m', 'tacit', *words])} {redirection}"
    return subprocess.run(
        ["sh", "-c", line],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_the_version_is_reported():
    assert run("--version").output == f"tacit {tacit.__version__}\n"


def test_every_command_has_help():
    listed = run("--help").output
    for command in [*COMMANDS, "demo", "reproduce", "fit"]:
        assert f"\n  {command} " in listed
        result = run(command, "--help")
        assert result.exit_code == 0
        assert "Usage: " in result.output
    models = run("fit", "--help").output
    for model in ("tree", "kernel-tree", "gaussian-tree", "kernel-hmm", "junction"):
        assert f"\n  {model} " in models
        assert "--output" in run("fit", model, "--help").output


def test_nothing_at_all_is_answered_with_help():
    assert "Usage: " in run().output


def test_a_mistyped_command_gets_a_suggestion():
    result = run("quary")
    assert result.exit_code == 2
    assert "Did you mean 'query'?" in result.output


def test_a_mistyped_option_gets_a_suggestion():
    result = run("query", "m.tacit", "--targt", "x")
    assert result.exit_code == 2
    assert "--target" in result.output


def test_a_mistyped_learner_lists_those_that_exist():
    result = run("fit", "tree", "x.csv", "-o", "m.tacit", "--learn", "spektral")
    assert result.exit_code == 2
    assert "mossel-roch" in result.output


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_model_is_one_line_and_exit_code_one(command, tmp_path):
    more = {
        "score": ["d.csv"],
        "predict": ["d.csv", "-t", "x"],
        "forecast": ["d.csv", "-o", "t.svg"],
        "query": ["-t", "x"],
        "impute": ["d.csv"],
        "plot": ["-o", "t.svg"],
        "export": ["-o", "t.nwk"],
    }
    result = run(command, str(tmp_path / "no.tacit"), *more.get(command, []))
    assert result.exit_code == 1
    assert result.output.startswith("error: there is no model file")
    assert result.output.count("\n") == 1


def test_a_table_as_model_is_one_line_and_exit_code_one(tmp_path):
    (tmp_path / "d.csv").write_text("a,b\n1,2\n")
    result = run("info", str(tmp_path / "d.csv"))
    assert result.exit_code == 1
    assert "is not a model file" in result.output
    assert result.output.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "there is no file"),
        ("", "cannot be read"),
        ("a,b\n", "minimum of 1 is required"),
        ("a,a\n1,2\n", "column names must differ"),
    ],
)
def test_bad_data_is_one_line_and_nothing_is_written(tmp_path, text, complaint):
    data, model = tmp_path / "d.csv", tmp_path / "m.tacit"
    if text is not None:
        data.write_text(text)
    result = run("fit", "tree", str(data), "-o", str(model))
    assert result.exit_code == 1
    assert result.output.startswith("error: ")
    assert complaint in result.output
    assert result.output.count("\n") == 1
    assert not model.exists()


def test_a_wrong_output_is_refused_before_the_work(tmp_path):
    assert "say 'm.tacit'" in run("fit", "tree", "no.csv", "-o", "m.pkl").output
    for command in (["score", "m", "d"], ["impute", "m", "d"], ["sample", "m"]):
        result = run(*command, "-o", "out.xlsx")
        assert result.exit_code == 1
        assert "tables are written as .csv, .tsv, .parquet" in result.output


def test_an_error_of_several_lines_becomes_one():
    small = typer.Typer(cls=Program)
    small.callback()(lambda: None)

    @small.command()
    def fail():
        raise ArgumentError("first\n   second")

    result = CliRunner().invoke(small, ["fail"])
    assert (result.exit_code, result.output) == (1, "error: first second\n")


def test_warnings_of_ours_are_one_line_and_others_stay_what_they_are():
    small = typer.Typer(cls=Program)
    small.callback()(lambda: None)

    @small.command()
    def warn(other: bool = False):
        warnings.warn("look\nhere", RuntimeWarning if other else BinningWarning, stacklevel=1)

    result = CliRunner().invoke(small, ["warn"])
    assert (result.exit_code, result.output) == (0, "warning: look here\n")
    with pytest.warns(RuntimeWarning, match="look"):
        CliRunner().invoke(small, ["warn", "--other"])


def test_a_bug_is_not_hidden():
    small = typer.Typer(cls=Program)
    small.callback()(lambda: None)
    small.command("fail")(lambda: 1 / 0)
    assert isinstance(CliRunner().invoke(small, ["fail"]).exception, ZeroDivisionError)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The path of a small model that needs no compiling."""
    path = tmp_path_factory.mktemp("program") / "m.tacit"
    tacit.ChowLiuTree().fit({"x": ["a", "c"] * 20, "y": ["b", "d"] * 20}).save(path)
    return str(path)


def test_the_program_runs_as_a_process_of_its_own(model):
    done = process("query", model, "-g", "x=a", "-t", "y", FORCE_COLOR="1", NO_COLOR="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("P(y | x=a)\n")
    assert "\x1b[3" not in done.stdout  # no colour, though it was forced


def test_an_error_in_a_process_is_one_line_on_standard_error(model):
    done = process("query", model, "-g", "x=e", "-t", "y")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: column 'x' has no category 'e'")
    assert done.stderr.count("\n") == 1


# An empty variable counts as none.
both_bufferings = pytest.mark.parametrize("unbuffered", ["", "1"])


@both_bufferings
def test_a_pipe_that_closes_early_is_no_traceback(unbuffered, model):
    command = [sys.executable, "-m", "tacit", "sample", model, "-n", "200000"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(command, env=environment, **pipes) as started:
        started.stdout.readline()
        started.stdout.close()
        assert started.stderr.read() == b""
    assert started.returncode == 141


@both_bufferings
@pytest.mark.parametrize("command", [["--help"], ["info"]])
def test_a_full_disk_or_closed_output_is_one_line_and_exit_code_one(command, unbuffered, model):
    words = [*command, *([model] if command == ["info"] else [])]
    for place, printed in (("> /dev/full", "No space left"), (">&-", "standard output is closed")):
        done = shell(words, place, PYTHONUNBUFFERED=unbuffered)
        assert done.returncode == 1
        assert printed in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no ulimit there")
@both_bufferings
def test_a_disk_that_fills_up_amid_the_output_is_one_line_and_exit_code_one(
    unbuffered, model, tmp_path
):
    cut_short = tmp_path / "o.csv"
    limit = "ulimit -f 100; "  # blocks of 512 or 1024 bytes
    done = shell(
        ["sample", model, "-n", "60000"],
        f"> {shlex.quote(str(cut_short))}",
        limit,
        PYTHONUNBUFFERED=unbuffered,
    )
    assert cut_short.stat().st_size in (51_200, 102_400)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    ["--help", "--version", "fit --help", "info M", "score M D", "sample M", "reproduce --list"],
)
def test_a_pipe_that_nobody_reads_is_exit_code_141_without_a_word(command, model, tmp_path):
    (tmp_path / "d.csv").write_text("x,y\na,b\n")
    names = {"M": model, "D": str(tmp_path / "d.csv")}
    words = [names.get(word, word) for word in command.split()]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "tacit", *words],
            stdout=writer,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="no sh there")
@pytest.mark.parametrize("closed", ["2>&-", "<&-", "<&- 2>&-"])
def test_closed_input_and_error_streams_change_nothing(closed, tmp_path):
    (tmp_path / "t.txt").write_text("a b a\nb a\n" * 9)
    line = f"{sys.executable} -m tacit lm train t.txt -o m.tacit"
    for more in ("", closed):
        done = subprocess.run(
            ["sh", "-c", f"{line} {more}"], cwd=tmp_path, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")
        content = (tmp_path / "m.tacit").read_bytes()
        (tmp_path / "m.tacit").unlink()
        assert tacit.__version__.encode() in content
