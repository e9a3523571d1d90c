"""A few inputs of `tools/fuzz`, and that a bad answer makes it fail."""

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tacit

FUZZ = Path(__file__).parents[1] / "tools" / "fuzz"


def _module(name):
    sys.path.insert(0, str(FUZZ))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(FUZZ))


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


def test_every_class_that_is_saved_is_mutated():
    saved = {name for name in tacit.__all__ if hasattr(getattr(tacit, name), "_file")}
    assert _module("model_files").classes_covered() == saved


@pytest.mark.parametrize("number", [1, 2])
def test_folders_of_counts_are_mutated_by_accident_and_on_purpose(number, tmp_path):
    target, rng = _module("formats").CountsTarget(number), np.random.default_rng(0)
    mutants = [target.mutant(rng, b"other") for _ in range(40)]
    assert {mutant.damaged for mutant in mutants} == ({True, False} if number > 1 else {False})
    for name, content in target.original.items():
        (tmp_path / name).write_bytes(content)
    assert np.isfinite(target.ask(tmp_path)["fit"]).all()


def test_nan_other_answers_of_damaged_files_and_raw_errors_are_failures():
    outcomes = _module("outcomes")

    def broken():
        raise KeyError("n_grams")

    original = {"score": 1.0}
    nan = outcomes.judged(lambda: {"score": float("nan")}, original, damaged=False)
    changed = outcomes.judged(lambda: {"score": 2.0}, original, damaged=True)
    raw = outcomes.judged(broken, original, damaged=False)
    assert [nan.outcome, changed.outcome, raw.outcome] == ["NaN", "changed", "raw error"]
    assert {"NaN", "changed", "raw error"} <= set(outcomes.BAD)


def test_a_message_of_more_than_600_characters_is_a_failure():
    outcomes = _module("outcomes")

    def refused():
        error = outcomes.TacitError("short")
        error.args = ("x" * 5000,)
        raise error

    assert outcomes.judged(refused, {}, damaged=False).outcome in outcomes.BAD
