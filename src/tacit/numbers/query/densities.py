"""Densities, means, quantiles and samples of leaves that hold numbers.

Message passing gives each row a vector v at a leaf, from all other cells; the encoder of the leaf turns it
into a density, ``likelihoods(x) @ v``. Vectors of probability tables are not negative, and neither are their
densities. Those of operators may be: for densities and quantiles the negative part is cut off, the rest
normalised, and the fraction that was cut off reported. Means are taken of the vector as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.encoders import N_PLACES, BinEncoder, Encoder
from tacit.core.threads import one_blas_thread
from tacit.errors import ArgumentError
from tacit.messages.conditionals import cell_estimates, check_leaves
from tacit.messages.evidence import Codes, Evidence, check_evidence, nothing
from tacit.messages.repairs import Repairs
from tacit.messages.sampling import sample
from tacit.messages.weighted_networks import Learnt, Parts, parts_of

Array = NDArray[np.float64]

# Samples from operators that are drawn together.
BLOCK_SAMPLES = 4096
# A vector whose integral is smaller than this, relative to its absolute values, is noise.
_NOISE = 1e-9


@dataclass(frozen=True, eq=False)
class Densities:
    """Densities at some places, of each row."""

    places: Array  # (place,)
    values: Array  # (row, place)  not negative; the integral over the whole line is one
    negative_mass: Array  # (row,)  fraction of the estimate that was negative, and cut off


@dataclass(frozen=True, eq=False)
class Coefficients:
    """The vector of each row at one leaf, given all other cells."""

    encoder: Encoder
    values: Array  # (row, feature)  ``encoder.total @ v`` is one
    undefined: NDArray[
        np.bool_
    ]  # (row,)  not defined; the marginal distribution of the leaf is given

    @cached_property
    def proper(self) -> bool:
        """Whether nothing can be negative."""
        return self.encoder.kind != "kernel" and bool((self.values >= 0).all())

    @property
    def atoms(self) -> Array:
        """(atom,) the numbers that have a probability."""
        return self.encoder.atoms if isinstance(self.encoder, BinEncoder) else np.empty(0)

    @property
    def atom_masses(self) -> Array:
        """(row, atom) their probabilities."""
        n_atoms = len(self.atoms)
        if not n_atoms:
            return np.empty((len(self.values), 0))
        assert isinstance(self.encoder, BinEncoder)
        return self.values[:, -n_atoms:] * (1.0 - self.encoder.leak)

    def densities(self, places: Array) -> Densities:
        """The densities at some places, which need not span all numbers; atoms are left out."""
        if isinstance(self.encoder, BinEncoder):
            densities = self.values @ self.encoder.densities(places).T
        else:
            densities = self.values @ self.encoder.likelihoods(places).T
        if self.proper:
            return Densities(places, densities, np.zeros(len(densities)))
        positive, negative = self._masses
        total = positive.sum(axis=1)
        return Densities(
            places,
            np.maximum(densities, 0.0) / total[:, None],
            negative / np.maximum(negative + total, 1e-300),
        )

    def densities_of_rows(self, numbers: Array) -> Array:
        """(row,) the density of each row at a number of its own; at an atom its probability."""
        likelihoods = self.encoder.likelihoods(numbers)
        densities = np.einsum("if,if->i", self.values, likelihoods)
        if self.proper:
            return np.asarray(densities)
        return np.asarray(np.maximum(densities, 0.0) / self._masses[0].sum(axis=1))

    def expectations(self, function: Callable[[Array], Array] | None = None) -> Array:
        """(row,) The mean of a function of the number, by default of the number itself.

        A linear functional of the vector, not the mean of a density that was cut off, so that the bandwidth
        of a kernel has no part in it. It is clipped to the range of the function on the column.
        """
        values = self._places if function is None else _applied(function, self._places)
        weights = self.encoder.functional(_itself if function is None else function)
        return (self.values @ weights).clip(values.min(), values.max())

    def quantiles(self, levels: Array) -> Array:
        """(row, share) The quantiles of the density at some levels."""
        wrong = ~((levels >= 0) & (levels <= 1))
        if wrong.any():
            raise ArgumentError(f"quantile level {levels[wrong][0]}; must be from 0 to 1")
        return np.array([self._inverse(row, levels) for row in range(len(self.values))]).reshape(
            len(self.values), len(levels)
        )

    def medians(self) -> Array:
        """(row,) Medians of the density."""
        return self.quantiles(np.array([0.5]))[:, 0]

    def samples(self, uniforms: Array) -> Array:
        """(row,) A number for each row, from a uniform number for each row."""
        pairs = enumerate(uniforms[:, None])
        return np.array([self._inverse(row, level)[0] for row, level in pairs], dtype=np.float64)

    def samples_of_rows(self, codes: Codes, uniforms: Array) -> Array:
        """(draw,) Numbers from the densities of these rows of the vectors."""
        samples = np.empty(len(codes))
        for row in range(len(self.values)):
            of_row = np.flatnonzero(codes == row)
            samples[of_row] = self._inverse(row, uniforms[of_row])
        return samples

    def _inverse(self, row: int, levels: Array) -> Array:
        """Quantiles of one row."""
        cumulative = np.cumsum(self._masses[0][row])
        # Mass beyond the places is put at their ends.
        numbers = np.interp(levels * cumulative[-1], cumulative[:-1], self._places)
        return at_atoms(numbers, self.atoms)

    @cached_property
    def _places(self) -> Array:
        return places_of(self.encoder)

    @cached_property
    def _masses(self) -> tuple[Array, Array]:
        """(row, cell) Masses before, between and after the places, none negative; (row,) what was cut off."""
        below = self.encoder.cumulative(self._places)
        zero, total = np.zeros((1, below.shape[1])), self.encoder.total[None]
        masses = self.values @ np.diff(below, axis=0, prepend=zero, append=total).T
        cut = -np.minimum(masses, 0.0).sum(axis=1)
        np.maximum(masses, 0.0, out=masses)
        masses[masses.sum(axis=1) <= 0] = 1.0
        return masses, cut

    @property
    def places(self) -> Array:
        """(place,) Grid points that span the column."""
        return self._places

    @property
    def cell_masses(self) -> Array:
        """(row, place + 1) Masses before, between and after the places, none negative; about one together."""
        return self._masses[0]

    def repairs(self) -> Repairs:
        """How much of the densities is negative, and how many vectors are undefined."""
        if self.proper:
            fraction = np.zeros(len(self.values))
        else:
            positive, negative = self._masses
            fraction = negative / (positive.sum(axis=1) + negative)
        return Repairs(
            n_answers=len(self.values),
            n_negative=int(np.count_nonzero(fraction > _NOISE)),
            n_undefined=int(self.undefined.sum()),
            negative_mass=float(fraction.sum()),
        )


def at_atoms(numbers: Array, atoms: Array) -> Array:
    """Numbers of which those right below an atom are the atom itself."""
    if not len(atoms):
        return np.asarray(numbers)
    places = np.searchsorted(atoms, numbers).clip(max=len(atoms) - 1)
    return np.where(numbers == np.nextafter(atoms[places], -np.inf), atoms[places], numbers)


def _itself(values: Array) -> Array:
    return values


def _applied(function: Callable[[Array], Array], values: Array) -> Array:
    """The values of a function, checked."""
    results = np.asarray(function(values), dtype=np.float64)
    if results.shape != values.shape or not np.isfinite(results).all():
        raise ArgumentError(
            f"the function must give one finite number for each of {values.shape[0]} numbers; it gives an "
            f"array of shape {results.shape}, or numbers that are not finite"
        )
    return results


def places_of(encoder: Encoder) -> Array:
    """Numbers that span all but the farthest tails of a column, dense where its mass is."""
    if isinstance(encoder, BinEncoder):
        return encoder.places
    return np.unique(encoder.grid(N_PLACES))


@one_blas_thread()
def leaf_coefficients(
    learnt: Learnt,
    evidence: Evidence,
    leaves: Sequence[int],
    encoders: Sequence[Encoder],
    *,
    block_rows: int | None = None,
) -> tuple[Coefficients, ...]:
    """The vectors of some leaves, each given all other cells of its row.

    Parameters
    ----------
    learnt : Network, Tables or Mixture
    evidence : Evidence
        That of the leaf itself is not used for the leaf.
    leaves : sequence of int
    encoders : sequence of Encoder
        Of all leaves.
    block_rows : int, optional
        See `row_blocks`.

    Returns
    -------
    tuple of Coefficients
        One for each leaf. Where the other cells have probability zero under the model, or only noise is left
        of it, this is the marginal distribution of the leaf.
    """
    parts = parts_of(learnt)
    check_evidence(parts.first, evidence)
    check_leaves(parts, leaves)
    values = {leaf: np.empty((evidence.n_rows, parts.cards[leaf])) for leaf in leaves}
    undefined = {leaf: np.zeros(evidence.n_rows, dtype=np.bool_) for leaf in leaves}
    for part in parts.blocks(evidence.n_rows, block_rows):
        for cells in cell_estimates(parts, evidence.rows(part), leaves, include_cell=False):
            vectors, noise = _normalised(parts, cells.leaf, cells.estimates.values, encoders)
            values[cells.leaf][part] = vectors.T[cells.rows]
            undefined[cells.leaf][part] = noise[cells.rows]
    return tuple(Coefficients(encoders[leaf], values[leaf], undefined[leaf]) for leaf in leaves)


def _normalised(
    parts: Parts, leaf: int, estimates: Array, encoders: Sequence[Encoder]
) -> tuple[Array, NDArray[np.bool_]]:
    """Vectors (feature, row) of integral one; the marginal of the leaf where there is only noise."""
    total = encoders[leaf].total
    mass, size = total @ estimates, np.abs(total) @ np.abs(estimates)
    # The estimate of a small probability may be negative; its shape is still right.
    noise = ~(np.abs(mass) > _NOISE * size)
    vectors = estimates / np.where(noise, 1.0, mass)
    if noise.any():
        vectors[:, noise] = leaf_means(parts, leaf, encoders)[:, None]
    return vectors, noise


def leaf_means(learnt: Learnt | Parts, leaf: int, encoders: Sequence[Encoder]) -> Array:
    """(feature,) The vector of a leaf without evidence."""
    parts = parts_of(learnt)
    unknown = nothing(parts.n_leaves)
    cells = next(cell_estimates(parts, unknown, [leaf], include_cell=False))
    estimates = cells.estimates.values[:, 0]
    total = encoders[leaf].total
    mass = float(total @ estimates)
    if abs(mass) <= _NOISE * float(np.abs(total) @ np.abs(estimates)):
        return total / (total @ total)
    return np.asarray(estimates / mass)


@dataclass(frozen=True, eq=False)
class SampledCells:
    """Sampled rows: numbers where a leaf holds numbers, codes elsewhere."""

    columns: tuple[NDArray[np.float64] | Codes, ...]  # per leaf: (sample,)
    repairs: Repairs


def sample_rows(
    learnt: Learnt,
    n: int,
    rng: np.random.Generator,
    encoders: Sequence[Encoder],
    evidence: Evidence | None = None,
    *,
    intervals: Mapping[int, Array] | None = None,
) -> SampledCells:
    """Rows drawn from a model, or from its conditional given each row of evidence.

    From probability tables, hidden states and bins are drawn (see `messages.sampling`), then a number from
    the density of each bin. From operators, columns are drawn in turn, each given the evidence and those
    before it.

    Parameters
    ----------
    learnt : Network, Tables or Mixture
    n : int
        Draws for each row of the evidence.
    rng : numpy.random.Generator
    encoders : sequence of Encoder
    evidence : Evidence, optional
        By default one row of which nothing is known; several rows for probability tables only. Numbers that
        are given (leaves in `Evidence.signed`) are not drawn, and their columns are meaningless. Cells with
        likelihoods are drawn in proportion to these.
    intervals : mapping of leaf to (1, 2) array, optional
        Ends of intervals in which numbers lie; their masses are likelihoods in the evidence already. For
        probability tables only.
    """
    parts = parts_of(learnt)
    known = nothing(parts.n_leaves) if evidence is None else evidence
    if parts.has_tables:
        return _sample_bins(learnt, n, rng, encoders, known, intervals or {})
    blocks = [
        _sample_in_turn(learnt, min(BLOCK_SAMPLES, n - start), rng, encoders, known)
        for start in range(0, max(n, 1), BLOCK_SAMPLES)
    ]
    columns = zip(*(block.columns for block in blocks), strict=True)
    repairs = sum((block.repairs for block in blocks), Repairs())
    return SampledCells(tuple(map(np.concatenate, columns)), repairs)


def _sample_bins(
    learnt: Learnt,
    n: int,
    rng: np.random.Generator,
    encoders: Sequence[Encoder],
    known: Evidence,
    intervals: Mapping[int, Array],
) -> SampledCells:
    """Bins drawn exactly, and numbers within them."""
    samples = sample(learnt, n, rng, known)
    columns: list[NDArray[np.float64] | Codes] = []
    for leaf, encoder in enumerate(encoders):
        codes = samples.codes[:, leaf]
        if encoder.kind == "indicator":
            columns.append(codes)
            continue
        bin_densities = Coefficients(
            encoder, np.eye(encoder.size), np.zeros(encoder.size, dtype=np.bool_)
        )
        levels = rng.random(len(codes))
        if leaf not in intervals:
            columns.append(bin_densities.samples_of_rows(codes, levels))
            continue
        low, high = intervals[leaf][0]
        below = encoder.cumulative(np.array([np.nextafter(low, -np.inf), high]))[:, codes]
        levels = below[0] + levels * (below[1] - below[0])
        columns.append(bin_densities.samples_of_rows(codes, levels).clip(low, high))
    return SampledCells(tuple(columns), samples.repairs)


def _sample_in_turn(
    learnt: Learnt,
    n: int,
    rng: np.random.Generator,
    encoders: Sequence[Encoder],
    known: Evidence,
) -> SampledCells:
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
        (vectors,) = leaf_coefficients(learnt, so_far, [leaf], encoders)
        if encoder.kind == "indicator":
            weights = np.maximum(vectors.values, 0.0) * soft.pop(leaf, np.ones(1))
            cumulative = np.cumsum(weights, axis=1)
            levels = uniforms[:, leaf] * cumulative[:, -1]
            drawn = (cumulative <= levels[:, None]).sum(axis=1).clip(max=encoder.size - 1)
            codes[:, leaf] = drawn
            columns.append(codes[:, leaf].copy())
        else:
            repairs += vectors.repairs()
            numbers = vectors.samples(uniforms[:, leaf])
            soft[leaf] = encoder.likelihoods(numbers)
            signed.add(leaf)
            columns.append(numbers)
    return SampledCells(tuple(columns), repairs)
