"""The table of sample sizes in the docs is what its benchmark gives."""

import csv
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from tacit.evaluate import sample_size_bounds

ROOT = Path(__file__).parent.parent.parent
TABLE = ROOT / "docs" / "tables" / "sample_sizes.csv"


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location(
        "sample_sizes_benchmark", ROOT / "benchmarks" / "sample_sizes.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for their module there
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def lines():
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_has_the_bounds_of_today(benchmark, lines):
    cases = {case.name: case for case in benchmark.cases(quick=False)}
    assert {line["model"] for line in lines} == set(cases)
    for line in lines:
        case = cases[line["model"]]
        error = 0.1 if line["error"] == "tree right" else float(line["error"])
        bounds = sample_size_bounds(
            case.model, error=error, failure=benchmark.FAILURE, length=case.length
        )
        (rows,) = (bound.n_rows for bound in bounds if bound.theorem == line["theorem"])
        assert line["asked for"] == f"{rows:.1e}"


@pytest.mark.parametrize(("theorem", "error"), [("Parikh 2015, Theorem 1", "0.4")])
def test_the_table_has_the_rows_that_are_needed_today(benchmark, lines, theorem, error):
    case = benchmark.cases(quick=True)[0]
    (printed,) = (
        float(line["needed"].replace(",", ""))
        for line in lines
        if (line["model"], line["theorem"], line["error"]) == (case.name, theorem, error)
    )
    # Draws may differ between versions of NumPy.
    assert benchmark.needed_rows(case, theorem, float(error)) == pytest.approx(printed, rel=0.3)


def test_printed_forms_are_exact_without_noise(benchmark):
    for case in benchmark.cases(quick=False):
        for learner in case.learners.values():
            estimate = learner(case.joint, 10**9)
            assert np.abs(estimate - case.joint).sum() < 1e-8


def test_no_bound_is_below_what_was_needed(lines):
    for line in lines:
        assert float(line["asked for"]) > 1e4 * float(line["needed"].replace(",", ""))
