"""What can be asked of leaves that hold numbers: densities, means, quantiles, draws.

The engine gives each row a vector v at a leaf, what all other cells say of this one; the leaf's encoder turns
it into a density, ``likelihoods(x) @ v``. Vectors of probability tables are not negative, and neither are
their densities. Those of operators may be: where a density or a quantile is wanted, what is negative is cut
off, the rest brought back to integral one, and the share that was cut off is reported. Means are taken of
the vector as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.encoders import BinEncoder, Encoder
from tacit.core.threads import one_blas_thread
from tacit.errors import ArgumentError
from tacit.messages.conditionals import cell_estimates, check_leaves
from tacit.messages.evidence import Codes, Evidence, check_evidence, nothing
from tacit.messages.repairs import Repairs
from tacit.messages.sampling import sample
from tacit.messages.weighted_networks import Learnt, Parts, parts_of

Array = NDArray[np.float64]

# Draws from operators that are made together.
DRAWS_AT_ONCE = 4096
# Places at which densities are cumulated.
N_PLACES = 400
# A vector whose integral is a smaller share of its parts than this is noise.
_NOTHING = 1e-9
# Shares of the mass beyond which nothing is looked at.
_ENDS = np.array([1e-6, 1e-5, 1e-4])


@dataclass(frozen=True, eq=False)
class Densities:
    """A density at some places for each row."""

    places: Array  # (place,)
    values: Array  # (row, place)  not negative; the integral over the whole line is one
    negative_mass: Array  # (row,)  share of the estimate that was negative and is cut off


@dataclass(frozen=True, eq=False)
class Coefficients:
    """What all other cells say of one leaf, as a vector for each row."""

    encoder: Encoder
    values: Array  # (row, feature)  ``encoder.total @ v`` is one
    undefined: NDArray[
        np.bool_
    ]  # (row,)  nothing could be said, the leaf's own distribution is given

    @cached_property
    def proper(self) -> bool:
        """Whether nothing can be negative."""
        return self.encoder.kind != "kernel" and bool((self.values >= 0).all())

    def densities(self, places: Array) -> Densities:
        """The densities at some places, which need not span all numbers."""
        found = self.values @ self.encoder.likelihoods(places).T
        if self.proper:
            return Densities(places, found, np.zeros(len(found)))
        kept, cut = self._masses
        whole = kept.sum(axis=1)
        return Densities(
            places, np.maximum(found, 0.0) / whole[:, None], cut / np.maximum(cut + whole, 1e-300)
        )

    def expectations(self, function: Callable[[Array], Array] | None = None) -> Array:
        """(row,) The mean of a function of the number, by default of the number itself.

        A linear functional of the vector, not the mean of a density that was cut off: blurring by a kernel
        has no part in it. It is kept within the range that the function has on the column.
        """
        values = self._places if function is None else _applied(function, self._places)
        weights = self.encoder.functional(_itself if function is None else function)
        return (self.values @ weights).clip(values.min(), values.max())

    def quantiles(self, shares: Array) -> Array:
        """(row, share) The numbers below which these shares of the mass lie."""
        wrong = ~((shares >= 0) & (shares <= 1))
        if wrong.any():
            raise ArgumentError(f"quantile {shares[wrong][0]} asked for; give shares from 0 to 1")
        return np.array([self._inverse(row, shares) for row in range(len(self.values))]).reshape(
            len(self.values), len(shares)
        )

    def draws(self, uniforms: Array) -> Array:
        """(row,) A number for each row, from a uniform number for each row."""
        pairs = enumerate(uniforms[:, None])
        return np.array([self._inverse(row, share)[0] for row, share in pairs], dtype=np.float64)

    def draws_within(self, codes: Codes, uniforms: Array) -> Array:
        """(draw,) Numbers from the densities of these rows of the vectors."""
        found = np.empty(len(codes))
        for row in range(len(self.values)):
            mine = np.flatnonzero(codes == row)
            found[mine] = self._inverse(row, uniforms[mine])
        return found

    def _inverse(self, row: int, shares: Array) -> Array:
        """The numbers below which shares of a row's mass lie."""
        reached = np.cumsum(self._masses[0][row])
        # What lies beyond the places is at their ends.
        return np.asarray(np.interp(shares * reached[-1], reached[:-1], self._places))

    @cached_property
    def _places(self) -> Array:
        return places_of(self.encoder)

    @cached_property
    def _masses(self) -> tuple[Array, Array]:
        """(row, cell) Masses before, between and after the places, none negative; (row,) what was cut off."""
        below = self.encoder.cumulative(self._places)
        nothing_yet, all_of_it = np.zeros((1, below.shape[1])), self.encoder.total[None]
        found = self.values @ np.diff(below, axis=0, prepend=nothing_yet, append=all_of_it).T
        cut = -np.minimum(found, 0.0).sum(axis=1)
        np.maximum(found, 0.0, out=found)
        found[found.sum(axis=1) <= 0] = 1.0
        return found, cut

    @property
    def places(self) -> Array:
        """(place,) Numbers that span the column, between which masses are summed."""
        return self._places

    @property
    def cell_masses(self) -> Array:
        """(row, place + 1) Masses before, between and after the places, none negative; about one together."""
        return self._masses[0]

    def repairs(self) -> Repairs:
        """How much of the densities is negative, and how many vectors are undefined."""
        if self.proper:
            share = np.zeros(len(self.values))
        else:
            kept, cut = self._masses
            share = cut / (kept.sum(axis=1) + cut)
        return Repairs(
            n_answers=len(self.values),
            n_negative=int(np.count_nonzero(share > _NOTHING)),
            n_undefined=int(self.undefined.sum()),
            negative_mass=float(share.sum()),
        )


def _itself(values: Array) -> Array:
    return values


def _applied(function: Callable[[Array], Array], values: Array) -> Array:
    """A function of an array, checked."""
    found = np.asarray(function(values), dtype=np.float64)
    if found.shape != values.shape or not np.isfinite(found).all():
        raise ArgumentError(
            f"the function must give one finite number for each of {values.shape[0]} numbers; it gives an "
            f"array of shape {found.shape}, or numbers that are not finite"
        )
    return found


def places_of(encoder: Encoder, n: int = N_PLACES) -> Array:
    """Numbers that span all but the farthest tails of a column, dense where its mass is."""
    places = encoder.grid(n)
    if isinstance(encoder, BinEncoder):
        ends = encoder.margin.inverse(np.concatenate([_ENDS, 1 - _ENDS]))
        places = np.concatenate([places, ends])
    return np.unique(places)


@one_blas_thread()
def leaf_coefficients(
    learnt: Learnt,
    evidence: Evidence,
    leaves: Sequence[int],
    encoders: Sequence[Encoder],
    *,
    block_rows: int | None = None,
) -> tuple[Coefficients, ...]:
    """What all other cells of its row say of a cell, for each row and each leaf asked for.

    Parameters
    ----------
    learnt : Network, Tables or Mixture
    evidence : Evidence
        What it says of the leaf itself is not used for that leaf.
    leaves : sequence of int
    encoders : sequence of Encoder
        Of all leaves.
    block_rows : int, optional
        See `row_blocks`.

    Returns
    -------
    tuple of Coefficients
        One for each leaf asked for. Where the other cells have no probability at all by the model, or what
        is left of it is noise, the leaf's distribution without evidence is given.
    """
    parts = parts_of(learnt)
    check_evidence(parts.first, evidence)
    check_leaves(parts, leaves)
    values = {leaf: np.empty((evidence.n_rows, parts.cards[leaf])) for leaf in leaves}
    undefined = {leaf: np.zeros(evidence.n_rows, dtype=np.bool_) for leaf in leaves}
    for part in parts.blocks(evidence.n_rows, block_rows):
        for cells in cell_estimates(parts, evidence.rows(part), leaves, own_counts=False):
            found, nothing_said = _normalised(parts, cells.leaf, cells.estimates.values, encoders)
            values[cells.leaf][part] = found.T[cells.rows]
            undefined[cells.leaf][part] = nothing_said[cells.rows]
    return tuple(Coefficients(encoders[leaf], values[leaf], undefined[leaf]) for leaf in leaves)


def _normalised(
    parts: Parts, leaf: int, estimates: Array, encoders: Sequence[Encoder]
) -> tuple[Array, NDArray[np.bool_]]:
    """Vectors (feature, row) of integral one; the leaf's own where there is nothing but noise."""
    total = encoders[leaf].total
    mass, size = total @ estimates, np.abs(total) @ np.abs(estimates)
    # What is left of a small probability may be negative; its shape is as good as that of its opposite.
    noise = ~(np.abs(mass) > _NOTHING * size)
    found = estimates / np.where(noise, 1.0, mass)
    if noise.any():
        found[:, noise] = leaf_means(parts, leaf, encoders)[:, None]
    return found, noise


def leaf_means(learnt: Learnt | Parts, leaf: int, encoders: Sequence[Encoder]) -> Array:
    """(feature,) The vector of a leaf when nothing was observed."""
    parts = parts_of(learnt)
    unknown = nothing(parts.n_leaves)
    cells = next(cell_estimates(parts, unknown, [leaf], own_counts=False))
    estimates = cells.estimates.values[:, 0]
    total = encoders[leaf].total
    mass = float(total @ estimates)
    if abs(mass) <= _NOTHING * float(np.abs(total) @ np.abs(estimates)):
        return total / (total @ total)
    return np.asarray(estimates / mass)


@dataclass(frozen=True, eq=False)
class DrawnCells:
    """Drawn rows: numbers where a leaf holds numbers, codes elsewhere."""

    columns: tuple[NDArray[np.float64] | Codes, ...]  # per leaf: (draw,)
    repairs: Repairs


def draw_rows(
    learnt: Learnt,
    n: int,
    rng: np.random.Generator,
    encoders: Sequence[Encoder],
    evidence: Evidence | None = None,
) -> DrawnCells:
    """Rows drawn from a model, or from its conditional given one row of evidence.

    Probability tables draw hidden states and bins (see `sampling.sample`), then a number within
    each bin's bump. Operators draw column by column, each given the evidence and the columns before it.

    Parameters
    ----------
    learnt : Network, Tables or Mixture
    n : int
    rng : numpy.random.Generator
    encoders : sequence of Encoder
    evidence : Evidence, optional
        One row. Numbers that it tells (leaves in `Evidence.signed`) are known and not drawn: whatever
        stands in their columns has no meaning. Cells known through likelihoods are drawn, these counting.
    """
    parts = parts_of(learnt)
    known = nothing(parts.n_leaves) if evidence is None else evidence
    if parts.has_tables:
        return _draw_in_bins(learnt, n, rng, encoders, known)
    blocks = [
        _draw_in_turn(learnt, min(DRAWS_AT_ONCE, n - start), rng, encoders, known)
        for start in range(0, max(n, 1), DRAWS_AT_ONCE)
    ]
    columns = zip(*(block.columns for block in blocks), strict=True)
    repairs = sum((block.repairs for block in blocks), Repairs())
    return DrawnCells(tuple(np.concatenate(each) for each in columns), repairs)


def _draw_in_bins(
    learnt: Learnt, n: int, rng: np.random.Generator, encoders: Sequence[Encoder], known: Evidence
) -> DrawnCells:
    """Bins drawn exactly, and numbers within them."""
    drawn = sample(learnt, n, rng, known)
    columns: list[NDArray[np.float64] | Codes] = []
    for leaf, encoder in enumerate(encoders):
        codes = drawn.codes[:, leaf]
        if encoder.kind == "indicator":
            columns.append(codes)
            continue
        bumps = Coefficients(encoder, np.eye(encoder.size), np.zeros(encoder.size, dtype=np.bool_))
        columns.append(bumps.draws_within(codes, rng.random(n)))
    return DrawnCells(tuple(columns), drawn.repairs)


def _draw_in_turn(
    learnt: Learnt,
    n: int,
    rng: np.random.Generator,
    encoders: Sequence[Encoder],
    known: Evidence,
) -> DrawnCells:
    """Columns drawn one after the other, each given those before."""
    rows = known.rows(np.zeros(n, dtype=np.int64))
    codes, soft, signed = rows.codes.copy(order="F"), dict(rows.soft), set(rows.signed)
    uniforms = rng.random((n, len(encoders)))
    columns: list[NDArray[np.float64] | Codes] = []
    repairs = Repairs()
    for leaf, encoder in enumerate(encoders):
        if leaf in known.signed or (codes[:, leaf] >= 0).all():
            columns.append(codes[:, leaf].copy())
            continue
        so_far = Evidence(codes, soft, frozenset(signed)).without([leaf])
        (found,) = leaf_coefficients(learnt, so_far, [leaf], encoders)
        if encoder.kind == "indicator":
            weights = np.maximum(found.values, 0.0) * soft.pop(leaf, np.ones(1))
            reached = np.cumsum(weights, axis=1)
            wanted = uniforms[:, leaf] * reached[:, -1]
            drawn = (reached <= wanted[:, None]).sum(axis=1).clip(max=encoder.size - 1)
            codes[:, leaf] = drawn
            columns.append(codes[:, leaf].copy())
        else:
            repairs += found.repairs()
            numbers = found.draws(uniforms[:, leaf])
            soft[leaf] = encoder.likelihoods(numbers)
            signed.add(leaf)
            columns.append(numbers)
    return DrawnCells(tuple(columns), repairs)
