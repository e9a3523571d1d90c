"""The number of threads, of BLAS and of the compiled loops alike."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from typing import Any, TypeVar, cast

from tacit.core.limits import shown
from tacit.errors import ArgumentError

_LOCK = threading.Lock()
# The blocks of `one_blas_thread` that now run: what the first of them changed, then None for each more.
_RUNNING: list[Any] = []

Item = TypeVar("Item")


def n_threads(n_jobs: int | None) -> int | None:
    """Number of threads meant by scikit-learn's `n_jobs`; None leaves things as they are.

    Parameters
    ----------
    n_jobs : int or None
        A positive number, at most that of the processors, or a negative one that counts back from all of
        them: -1 all, -2 all but one.

    Examples
    --------
    >>> n_threads(1)
    1
    """
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ArgumentError(
            f"n_jobs={shown(n_jobs)}; give a positive number of threads, -1 for all processors, or None"
        )
    # Knows of processors that are there but not ours.
    from joblib import cpu_count  # type: ignore[import-untyped]

    every = int(cpu_count())
    return min(int(n_jobs), every) if n_jobs > 0 else max(every + 1 + int(n_jobs), 1)


@contextmanager
def limit_threads(n_jobs: int | None) -> Iterator[int | None]:
    """Within the block, BLAS, OpenMP and numba use at most so many threads together.

    What held before holds again afterwards. Numba's bound holds for the calling thread.

    Parameters
    ----------
    n_jobs : int or None
        See `n_threads`.

    Yields
    ------
    int or None
        The number of threads, for work that is split by hand.
    """
    limit = n_threads(n_jobs)
    if limit is None:
        yield None
        return
    import numba
    from threadpoolctl import threadpool_limits

    before = numba.get_num_threads()
    with threadpool_limits(limits=limit):
        # Numba refuses more threads than it was started with.
        numba.set_num_threads(min(limit, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
        try:
            yield limit
        finally:
            numba.set_num_threads(before)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within the block (or, as a decorator, the function) matrix products run on one thread.

    For work that is many products with one short side: there BLAS loses more by waking its threads than it
    gains, up to ten times the whole when processors are busy. Blocks may overlap in several threads: what
    held before the first holds again after the last.
    """
    with _LOCK:
        _RUNNING.append(None if _RUNNING else _blas().limit(limits=1))
    try:
        yield
    finally:
        with _LOCK:
            # Blocks may end in any order; what the first changed is kept until none is left.
            if len(_RUNNING) > 1:
                _RUNNING.pop()
            else:
                _RUNNING.pop().restore_original_limits()


@cache
def _blas() -> Any:
    """The BLAS libraries; looking for them takes longer than many a query."""
    import numpy as np  # noqa: F401  (loads one of them)
    import scipy.linalg  # noqa: F401  (and another, which compiled loops call)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The same items, the next one computed by another thread while the last is in use."""
    from concurrent.futures import ThreadPoolExecutor

    source, pool = iter(items), ThreadPoolExecutor(1)
    end = object()
    try:
        coming = pool.submit(next, source, end)
        while (item := coming.result()) is not end:
            coming = pool.submit(next, source, end)
            yield cast("Item", item)
    finally:
        # Unused generators are collected at any time, also while another thread begins:
        # waiting here for our own thread would never end.
        pool.shutdown(wait=False)
