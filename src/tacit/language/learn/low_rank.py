"""Non-negative low rank factors of sparse matrices of counts that keep the sums of rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.language.learn.block_matrix import BlockMatrix

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Factor = NDArray[Any]  # of single or double precision

# A factor is shrunk by this fraction (doubled as often as needed), so that a non-negative matrix of rank one
# can correct the sums for rounding.
SHRINKING = 2.0**-16
PIECES = 8  # tasks per thread
RELAXATION = 0.8  # over-relaxation of collapsed sweeps; none in the last, so that sums are kept


@dataclass(frozen=True, slots=True, eq=False)
class LowRank:
    """Two factors whose product has given row and column sums.

    Factors have single precision; one more product, of `left_rest` and `right_rest`, makes the sums exact. No
    entry is negative.
    """

    left: Factor  # (row, rank)
    right: Factor  # (column, rank)
    left_rest: Array  # (row,)
    right_rest: Array  # (column,)

    @property
    def rank(self) -> int:
        """Length of the rows of the factors."""
        return int(self.left.shape[1])

    def at(self, rows: NDArray[np.integer[Any]], columns: NDArray[np.integer[Any]]) -> Array:
        """(pair,) Entries of the product; 0 where a row or column is -1. Both must be of the same block."""
        from tacit.language.loops.low_rank import products

        out = np.zeros(len(rows))
        products(self.left, self.right, self.left_rest, self.right_rest, rows, columns, out)
        return out


def fit_low_rank(
    matrix: BlockMatrix,
    values: Array,
    rank: int,
    *,
    n_sweeps: int = 20,
    n_collapsed: int = 0,
    prior: float = 0.0,
    random_state: int | np.random.Generator | None = None,
    start: tuple[Factor, Factor] | None = None,
    n_jobs: int = 1,
) -> LowRank:
    """Non-negative factors of each block, minimising generalised Kullback-Leibler divergence.

    Parameters
    ----------
    values : (entry,)
        One for each of `matrix.entries`, not negative.
    rank
        Columns of the factors.
    n_sweeps
        Sweeps of EM. Sums are exact after any number, even zero (then only the sums are learnt).
    n_collapsed, prior
        Steps of `collapsed_sweep` after those, for a matrix of one block.
    start
        Left and right factors instead of random ones; their scale does not matter. Factors in double
        precision stay so.
    n_jobs
        Threads. Results do not depend on their number.
    """
    left, right = start_factors(matrix, rank, random_state) if start is None else start
    left, right = sweep(matrix, values, left, right, n_sweeps=n_sweeps, n_jobs=n_jobs)
    if n_collapsed and matrix.n_blocks:
        left, right = collapsed_sweep(
            matrix, values, left, right, n_sweeps=n_collapsed, prior=prior, n_jobs=n_jobs
        )
    return with_exact_sums(matrix, values, left, right)


def start_factors(
    matrix: BlockMatrix, rank: int, random_state: int | np.random.Generator | None = None
) -> tuple[Factor, Factor]:
    """Random factors in single precision."""
    rng = np.random.default_rng(random_state)
    n_rows, n_columns = matrix.shape
    left = rng.random((n_rows, rank), dtype=np.float32) + np.float32(0.5)
    right = rng.random((n_columns, rank), dtype=np.float32) + np.float32(0.5)
    return left, right


def sweep(
    matrix: BlockMatrix,
    values: Array,
    left: Factor,
    right: Factor,
    *,
    n_sweeps: int,
    n_jobs: int = 1,
) -> tuple[Factor, Factor]:
    """Factors after some sweeps of EM; the arguments are not changed."""
    from tacit.language.loops.low_rank import sweep_blocks

    left, right = left.copy(), right.copy()
    values = np.ascontiguousarray(values, left.dtype)
    ratios = np.empty(len(values), left.dtype)
    if matrix.n_blocks == 1:
        return _sweep_one(matrix, values, left, right, ratios, n_sweeps, n_jobs)
    by_rows = (matrix.starts, matrix.columns, values)
    by_columns = (matrix.column_starts, matrix.column_rows, matrix.column_entries)
    arguments = (*by_rows, *by_columns, left, right, ratios, n_sweeps)

    def work(blocks: Ints) -> None:
        sweep_blocks(blocks, matrix.block_rows, matrix.block_columns, *arguments)

    _run(work, _pieces(np.diff(matrix.starts[matrix.block_rows]), n_jobs), n_jobs)
    return left, right


def _sweep_one(
    matrix: BlockMatrix,
    values: Factor,
    left: Factor,
    right: Factor,
    ratios: Factor,
    n_sweeps: int,
    n_jobs: int,
) -> tuple[Factor, Factor]:
    """The same for a matrix of one block: threads divide its rows, then its columns."""
    from tacit.language.loops.low_rank import em_columns, em_rows, normalise

    rows, columns = _ranges(matrix.starts, n_jobs), _ranges(matrix.column_starts, n_jobs)
    spare, rank = np.empty_like(left), left.shape[1]

    def by_rows(low: int, high: int) -> None:
        places = (matrix.starts, matrix.columns, values)
        em_rows(*places, left, right, ratios, spare[low:high], low, high, np.empty(rank))

    def by_columns(low: int, high: int) -> None:
        places = (matrix.column_starts, matrix.column_rows, matrix.column_entries)
        em_columns(*places, ratios, left, right, low, high, np.empty(rank))

    for _ in range(n_sweeps):
        _run(lambda at: by_rows(*at), rows, n_jobs)
        _run(lambda at: by_columns(*at), columns, n_jobs)
        normalise(right, 0, len(right), np.empty(rank))
        left, spare = spare, left
    return left, right


def collapsed_sweep(
    matrix: BlockMatrix,
    values: Array,
    left: Factor,
    right: Factor,
    *,
    n_sweeps: int,
    prior: float,
    n_jobs: int = 1,
) -> tuple[Factor, Factor]:
    """Factors of one block after collapsed variational sweeps (CVB0; Asuncion et al. 2009).

    The responsibilities of an entry are computed from factors without its own contribution, with a prior of
    mass `prior` for each row and column. Where EM overfits single entries, this does not, and sums are kept
    all the same. All sweeps but the last are over-relaxed (Peters & Walker, 1978), which saves about half of
    them.
    """
    from tacit.language.loops.low_rank import collapsed_columns, collapsed_rows, normalise

    left, right, spare = left.copy(), right.copy(), np.empty_like(left)
    values = np.ascontiguousarray(values, left.dtype)
    ratios, scaled = np.empty_like(values), np.empty_like(values)
    rows, columns = _ranges(matrix.starts, n_jobs), _ranges(matrix.column_starts, n_jobs)
    kind = left.dtype.type

    def by_rows(low: int, high: int) -> None:
        places = (matrix.starts, matrix.columns, values)
        collapsed_rows(*places, *common, spare[low:high], low, high)

    def by_columns(low: int, high: int) -> None:
        places = (matrix.column_starts, matrix.column_rows, matrix.column_entries)
        collapsed_columns(*places, *common, low, high)

    for at in range(n_sweeps):
        sums = left.sum(axis=0, dtype=np.float64)
        scale = prior / max(float(sums.sum()), 1e-300)
        common = (
            left,
            right,
            sums.astype(left.dtype),
            (scale * sums).astype(left.dtype),
            kind(scale),
            kind(RELAXATION if at < n_sweeps - 1 else 0.0),
            ratios,
            scaled,
        )
        _run(lambda at: by_rows(*at), rows, n_jobs)
        _run(lambda at: by_columns(*at), columns, n_jobs)
        normalise(right, 0, len(right), np.empty(left.shape[1]))
        left, spare = spare, left
    return left, right


def with_exact_sums(matrix: BlockMatrix, values: Array, left: Factor, right: Factor) -> LowRank:
    """Factors in single precision, with a correction of rank one for each block that makes its sums exact.

    The left factor is shrunk a little, so that the sums of rows and columns miss ``d`` and ``e``, which have
    the same total. The correction is ``d e' / sum(d)``: not negative, with row sums ``d`` and column sums
    ``e``.
    """
    values = np.asarray(values, np.float64)
    wanted_rows = np.add.reduceat(np.append(values, 0.0), matrix.starts[:-1])
    wanted_columns = np.add.reduceat(
        np.append(values[matrix.column_entries], 0.0), matrix.column_starts[:-1]
    )
    right = right.astype(np.float32, copy=False)
    fraction = SHRINKING
    while True:
        shrunk = (left * (1.0 - fraction)).astype(np.float32)
        rows, columns = _margins(matrix, shrunk, right)
        missing_rows, missing_columns = wanted_rows - rows, wanted_columns - columns
        if fraction >= 1.0 or (missing_rows.min(initial=0) >= 0 <= missing_columns.min(initial=0)):
            break
        fraction *= 2.0
    return LowRank(shrunk, right, *_rests(matrix, missing_rows, missing_columns))


def _margins(matrix: BlockMatrix, left: Factor, right: Factor) -> tuple[Array, Array]:
    """Row and column sums of the product, block by block."""
    from tacit.language.loops.low_rank import margins, totals

    sums_of = []
    rows = (matrix.block_rows[:-1], matrix.block_rows[1:])
    columns = (matrix.block_columns[:-1], matrix.block_columns[1:])
    for factor, at, other, other_at in (
        (left, rows, right, columns),
        (right, columns, left, rows),
    ):
        sums = np.empty((matrix.n_blocks, left.shape[1]))
        totals(other, *other_at, sums)
        out = np.empty(len(factor))
        margins(factor, *at, sums, out)
        sums_of.append(out)
    return sums_of[0], sums_of[1]


def _rests(matrix: BlockMatrix, rows: Array, columns: Array) -> tuple[Array, Array]:
    """Factors of rank one in each block, with given row and column sums."""
    sizes = np.diff(matrix.block_columns)
    sums = np.add.reduceat(np.append(columns, 0.0), matrix.block_columns[:-1])
    over = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
    return rows, columns * np.repeat(over, sizes)


def _ranges(starts: Ints, n_jobs: int) -> list[tuple[int, int]]:
    """Ranges of rows with about equally many entries."""
    if n_jobs == 1:
        return [(0, len(starts) - 1)]
    n_pieces = n_jobs * PIECES
    cuts = np.searchsorted(starts, np.linspace(0, starts[-1], n_pieces + 1)[1:-1])
    ends = np.unique(np.concatenate([[0], cuts, [len(starts) - 1]]))
    return [(int(a), int(b)) for a, b in pairwise(ends)]


def _pieces(sizes: Ints, n_jobs: int) -> list[Ints]:
    """Groups of blocks with about equally many entries, the largest blocks first."""
    order = np.argsort(-sizes, kind="stable")
    if n_jobs == 1 or len(sizes) == 0:
        return [np.sort(order)]
    reach = np.cumsum(sizes[order])
    n_pieces = n_jobs * PIECES
    cuts = np.searchsorted(reach, np.linspace(0, reach[-1], n_pieces + 1)[1:-1])
    return [piece for piece in np.split(order, np.unique(cuts)) if len(piece)]


def _run(work: Any, pieces: Sequence[Any], n_jobs: int) -> None:
    """Run tasks on several threads."""
    if n_jobs == 1 or len(pieces) == 1:
        for piece in pieces:
            work(piece)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        list(pool.map(work, pieces))
