"""One bound for all threads: those of BLAS and those of the compiled loops."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral

from tacit.errors import ArgumentError


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
            f"n_jobs={n_jobs!r}; give a positive number of threads, -1 for all processors, or None"
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
