"""The benchmark of real sequences: what it compares is comparable, and its small run ends with tables."""

import importlib.util
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import tacit

FOLDER = Path(__file__).parent.parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def benchmark():
    sys.path.insert(0, str(FOLDER))
    spec = importlib.util.spec_from_file_location(
        "real_sequences_benchmark", FOLDER / "real_sequences.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for their module there
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]
    sys.path.remove(str(FOLDER))


def test_sequences_that_go_on_have_probabilities_that_sum_to_one(benchmark):
    train = benchmark.digits(60, 40, symbols=True).train
    symbols = sorted({symbol for sequence in train for symbol in sequence})
    pairs = [list(pair) for pair in product(symbols, repeat=2)]
    case = benchmark.Case(train, pairs, 3, np.arange(len(pairs)))
    for logs, _, _ in (
        benchmark.hidden(case, 3),
        benchmark.automaton(case, tacit.WeightedAutomaton),
        benchmark.ngrams(case, 3),
    ):
        assert np.exp(logs).sum() == pytest.approx(1)


def test_a_unit_counts_once_in_standard_errors(benchmark):
    rng = np.random.default_rng(0)
    gains = rng.normal(size=30)
    lengths = [[0] * 7] * 30
    single = benchmark.Case([], lengths, 2, np.arange(30))
    mean, error = benchmark.difference(gains, np.zeros(30), single)
    assert mean == pytest.approx(gains.mean() / 7)
    assert error == pytest.approx(gains.std(ddof=1) / 7 / np.sqrt(30))
    twice = benchmark.Case([], lengths * 2, 2, np.tile(np.arange(30), 2))
    assert benchmark.difference(np.tile(gains, 2), np.zeros(60), twice) == pytest.approx(
        (mean, error)
    )


def test_the_small_run_has_tables_and_is_resumed(benchmark, tmp_path, monkeypatch, capsys):
    out = tmp_path / "real.json"
    monkeypatch.setattr(sys, "argv", ["real_sequences.py", "--quick", "--out", str(out)])
    monkeypatch.setattr(benchmark, "PEERS", ())
    monkeypatch.setattr(benchmark, "warm_up", lambda **_: None)
    benchmark.main()
    text = (tmp_path / "real-quick.md").read_text(encoding="utf-8")
    for model in ("HMM()", "HMM(4)", "KernelHMM()", "KneserNeyLM(3)", "ProbabilisticAutomaton()"):
        assert f"| {model} | " in text
    capsys.readouterr()
    monkeypatch.setattr(benchmark, "hidden", None)  # nothing is left to run
    benchmark.main()
    assert text.splitlines()[0] in capsys.readouterr().out
