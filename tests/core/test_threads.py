"""One bound for the threads of BLAS and of the compiled loops."""

import subprocess
import sys
from threading import Event, Thread

import joblib
import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from tacit.core.threads import ahead, limit_threads, n_threads, one_blas_thread
from tacit.errors import ArgumentError


def blas_threads():
    np.eye(2) @ np.eye(2)
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


def test_one_job_is_one_thread_of_blas_and_of_numba():
    before = blas_threads(), numba.get_num_threads()
    with limit_threads(1) as n:
        assert n == 1
        assert blas_threads() == {1}
        assert numba.get_num_threads() == 1
    assert (blas_threads(), numba.get_num_threads()) == before


def test_what_held_before_holds_again_after_an_error():
    before = blas_threads(), numba.get_num_threads()
    with pytest.raises(KeyError), limit_threads(1):
        raise KeyError
    assert (blas_threads(), numba.get_num_threads()) == before


def test_none_changes_nothing():
    before = blas_threads(), numba.get_num_threads()
    with limit_threads(None) as n:
        assert n is None
        assert (blas_threads(), numba.get_num_threads()) == before


def test_more_jobs_than_processors_are_as_many_as_processors():
    with limit_threads(10_000) as n:
        assert n == joblib.cpu_count()
        assert numba.get_num_threads() == min(n, numba.config.NUMBA_NUM_THREADS)


def test_products_run_on_one_thread_within_the_block_and_within_blocks_inside_it():
    with limit_threads(2):
        before = blas_threads()
        with one_blas_thread():
            assert blas_threads() == {1}
            with one_blas_thread():
                assert blas_threads() == {1}
            assert blas_threads() == {1}
        assert blas_threads() == before


def test_libraries_loaded_after_the_first_block_are_bounded_as_well():
    """SciPy brings a BLAS of its own, which compiled loops call."""
    code = """
from threadpoolctl import threadpool_info
from tacit.core.threads import limit_threads, one_blas_thread
with one_blas_thread():
    pass
import scipy.linalg
with limit_threads(2), one_blas_thread():
    print({each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{1}"


def test_blocks_that_overlap_leave_things_as_they_were():
    first, second = one_blas_thread(), one_blas_thread()
    with limit_threads(2):
        before = blas_threads()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert blas_threads() == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == before


def test_a_function_can_be_made_to_run_on_one_blas_thread():
    with limit_threads(2):
        before = blas_threads()
        assert one_blas_thread()(blas_threads)() == {1}
        assert blas_threads() == before


def test_negative_numbers_count_back_from_all_processors():
    every = joblib.cpu_count()
    assert n_threads(-1) == every
    assert n_threads(-2) == max(every - 1, 1)
    assert n_threads(-every - 5) == 1
    assert n_threads(np.int64(1)) == 1


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
def test_numbers_of_jobs_that_make_no_sense_are_refused(n_jobs):
    with pytest.raises(ArgumentError, match="n_jobs="):
        n_threads(n_jobs)


def test_items_made_ahead_are_all_of_them_in_order():
    assert list(ahead(range(5))) == list(range(5))
    assert list(ahead(())) == []


def test_errors_of_items_made_ahead_come_in_their_turn():
    items = ahead(1 / one for one in (1, 2, 0, 4))
    assert [next(items), next(items)] == [1.0, 0.5]
    with pytest.raises(ZeroDivisionError):
        next(items)


def test_items_that_nobody_asks_for_are_not_waited_for():
    go_on = Event()

    def slow():
        yield 1
        go_on.wait()
        yield 2

    items = ahead(slow())
    assert next(items) == 1
    closing = Thread(target=items.close)
    closing.start()
    closing.join(5)
    waited = closing.is_alive()
    go_on.set()
    closing.join()
    assert not waited
