"""The cache of compiled loops: shared by many processes, absent where it cannot be, never an error."""

import importlib.util
import json
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.core.caching import CacheImpl

from tacit.core.loops import compiled

SOURCE = """
from tacit.core.loops.compiled import njit

@njit(cache=True, nogil=True)
def total(numbers):
    out = numbers[0]
    for number in numbers[1:]:
        out += number
    return out
"""
INTEGERS, REALS = np.array([1, 2]), np.array([0.5, 2.0])


@pytest.fixture
def loops(tmp_path, monkeypatch):
    """A function that imports a module with a compiled loop anew, and its cache."""
    monkeypatch.setattr(
        numba.config, "CACHE_DIR", ""
    )  # beside the source, whatever the environment says
    path = tmp_path / "loops.py"
    path.write_text(SOURCE)

    def imported():
        spec = importlib.util.spec_from_file_location("loops_of_a_test", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.total

    imported.files = lambda: sorted((tmp_path / "__pycache__").glob("*.nbc"))
    return imported


def n_hits(loop):
    return sum(loop.stats.cache_hits.values())


def test_a_loop_is_compiled_once_for_each_type(loops):
    first = loops()
    assert (first(INTEGERS), first(REALS), n_hits(first)) == (3, 2.5, 0)
    again = loops()
    assert (again(REALS), again(INTEGERS), n_hits(again)) == (2.5, 3, 2)
    assert len(loops.files()) == 2


def test_two_processes_with_different_types_at_once_lose_nothing_of_each_other(loops, monkeypatch):
    """The second saves all that it has while the first is about to write."""
    one, two = loops(), loops()
    files = one._cache._cache_file
    opened = files._open_for_write

    def interleaved(path):
        two(REALS)
        return opened(path)

    monkeypatch.setattr(files, "_open_for_write", interleaved)
    one(INTEGERS)
    third = loops()
    assert (third(INTEGERS), third(REALS), n_hits(third)) == (3, 2.5, 2)


def test_a_damaged_cache_is_an_empty_one(loops):
    loops()(REALS)
    (path,) = loops.files()
    whole = path.read_bytes()
    for damaged in (b"", whole[:30], whole[:-30], b"x" + whole):
        path.write_bytes(damaged)
        loop = loops()
        assert (loop(REALS), n_hits(loop)) == (2.5, 0)
    assert path.read_bytes()[:30] == whole[:30]  # written again


def test_other_source_is_compiled_anew(loops, tmp_path):
    loops()(REALS)
    (tmp_path / "loops.py").write_text(SOURCE.replace("+=", "*="))
    assert loops()(REALS) == 1.0


def test_without_a_folder_for_it_there_is_no_cache_and_that_is_said_once(
    loops, monkeypatch, caplog
):
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    compiled._say_that_it_is_off.cache_clear()
    assert loops()(REALS) == 2.5
    assert loops()(REALS) == 2.5
    assert loops.files() == []
    (record,) = caplog.records
    assert "set NUMBA_CACHE_DIR" in record.getMessage()


def test_a_full_disk_is_no_error(loops, monkeypatch):
    loop = loops()

    def full(*_):
        raise OSError("no space")

    monkeypatch.setattr(loop._cache._cache_file, "_open_for_write", full)
    assert loop(REALS) == 2.5
    assert loops.files() == []


# Fits a model in several workers of a kind at once, and prints their answers.
FIT = """
import json, multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
import joblib

def fit(_):
    import numpy as np
    import tacit
    rng = np.random.default_rng(0)
    sequences = [list(rng.choice(list("abc"), 20)) for _ in range(50)]
    return float(tacit.HMM(n_states=2).fit(sequences).score(sequences))

if __name__ == "__main__":
    kind, n = sys.argv[1], int(sys.argv[2])
    if kind == "loky":
        answers = joblib.Parallel(n)(joblib.delayed(fit)(place) for place in range(n))
    elif kind == "fork":
        with ProcessPoolExecutor(n, mp_context=multiprocessing.get_context("fork")) as pool:
            answers = list(pool.map(fit, range(n)))
    else:
        with ThreadPoolExecutor(n) as pool:
            answers = list(pool.map(fit, range(n)))
    print(json.dumps(answers))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
def test_the_first_run_by_many_at_once_gives_the_same_answers(tmp_path):
    script = tmp_path / "fit.py"
    script.write_text(FIT)
    answers = []
    for kind, n_processes, n_workers in (
        ("processes", 8, 1),
        ("fork", 1, 3),
        ("loky", 1, 3),
        ("threads", 1, 3),
    ):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / kind)}
        command = [sys.executable, "-W", "error", str(script), kind, str(n_workers)]
        pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
        started = [
            subprocess.Popen(command, env=environment, text=True, **pipes)
            for _ in range(n_processes)
        ]
        for process in started:
            printed, complaints = process.communicate()
            assert (process.returncode, complaints) == (0, ""), kind
            answers += json.loads(printed)
    # What was just compiled may round otherwise than what was read from the cache.
    assert answers == pytest.approx([answers[0]] * (8 + 3 * 3), rel=1e-9)
