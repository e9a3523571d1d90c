"""A few inputs of `tools/fuzz`, and that a bad answer makes it fail."""

import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parents[1] / "tools" / "fuzz"


def _outcomes():
    sys.path.insert(0, str(FUZZ))
    try:
        import outcomes
    finally:
        sys.path.remove(str(FUZZ))
    return outcomes


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of memory there")
def test_a_few_damaged_files_are_refused_or_give_the_same_answers(tmp_path):
    command = [
        sys.executable,
        str(FUZZ),
        "--only",
        "format-3-chow-liu",
        "--inputs",
        "5",
        "--jobs",
        "1",
    ]
    done = subprocess.run(
        [*command, "--out", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-2].split()[:2] == ["total", "5"]


def test_nan_other_answers_of_damaged_files_and_raw_errors_are_failures():
    outcomes = _outcomes()

    def broken():
        raise KeyError("n_grams")

    original = {"score": 1.0}
    nan = outcomes.judged(lambda: {"score": float("nan")}, original, damaged=False)
    changed = outcomes.judged(lambda: {"score": 2.0}, original, damaged=True)
    raw = outcomes.judged(broken, original, damaged=False)
    assert [nan.outcome, changed.outcome, raw.outcome] == ["NaN", "changed", "raw error"]
    assert {"NaN", "changed", "raw error"} <= set(outcomes.BAD)


def test_a_message_of_more_than_600_characters_is_a_failure():
    outcomes = _outcomes()

    def refused():
        error = outcomes.TacitError("short")
        error.args = ("x" * 5000,)
        raise error

    assert outcomes.judged(refused, {}, damaged=False).outcome in outcomes.BAD
