"""Contraction of edges whose lengths are not significant."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.trees.structure.draft import Draft
from tacit.trees.structure.interchange import refit
from tacit.trees.structure.quartets import Quartets
from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]

# Without noise, lengths below this fraction of the longest distance are rounding errors.
ROUNDING = 1e-7
# Weight of the prior, in squared misfits; see `noise_factor`.
PRIOR_MISFITS = 8.0


def contract_short(topology: Topology, least: float, *, observed: bool = False) -> Topology:
    """The tree without edges shorter than a given length.

    The two ends of such an edge become one node, the shortest edge first; other lengths stay as they are.
    Edges without a length, and those between two observed variables, stay.

    Parameters
    ----------
    topology : Topology
    least : float
        Edges at least this long stay.
    observed : bool
        Whether an observed variable may take the place of a hidden node that is so near to it. Without this,
        only edges between hidden nodes go.

    Examples
    --------
    >>> tree = Topology.from_newick("((a:1,b:0.01)h:0.02,(c:1,d:1)k:1,e:1)r;")
    >>> contract_short(tree, 0.1).to_newick()
    '(a:1.0,b:0.01,(c:1.0,d:1.0)k:1.0,e:1.0)r;'
    >>> contract_short(tree, 0.1, observed=True).to_newick()
    '(a:1.0,(c:1.0,d:1.0)k:1.0,e:1.0)b;'
    """
    if math.isnan(least):
        raise ArgumentError("least is NaN; give the length below which edges are contracted")
    observed_names = set(topology.observed)
    short = [
        (length, one, other)
        for (one, other), length in zip(topology.edges, topology.lengths, strict=True)
        if length is not None and length < least
    ]
    home = {name: name for name in topology.nodes}

    def now(name: str) -> str:
        while home[name] != name:
            name = home[name]
        return name

    for _, one, other in sorted(short, key=lambda edge: edge[0]):
        remaining, removed = sorted(
            (now(one), now(other)), key=lambda name: name not in observed_names
        )
        if removed not in observed_names and (observed or remaining not in observed_names):
            home[removed] = remaining
    left = [
        (now(one), now(other), length)
        for (one, other), length in zip(topology.edges, topology.lengths, strict=True)
        if now(one) != now(other)
    ]
    nodes = tuple(name for name in topology.nodes if home[name] == name)
    return Topology(
        nodes=nodes,
        edges=tuple((one, other) for one, other, _ in left),
        observed=topology.observed,
        lengths=tuple(length for _, _, length in left),
        n_states={name: n for name, n in topology.n_states.items() if name in nodes},
    ).contracted()


def contract_insignificant(
    draft: Draft, similarity: Array, n_rows: float | None, least: float = 0.0
) -> None:
    """Merge the ends of edges whose lengths could be chance; the draft changes.

    An edge stays if its squared length is at least log(n_rows) + 1.5 log(number of edges) times its
    variance: the Bayesian criterion, extended by the number of edges to choose from, so that with growing
    data wrong edges go and right ones stay. The variance is that of a model of noise, made larger if the
    distances fit the tree worse than it allows. The least significant edge goes first, and what is around
    it is estimated anew.

    Parameters
    ----------
    draft : Draft
        Of few misplaced branches: see `refine`.
    similarity : (variable, variable)
        exp(-distance).
    n_rows : float or None
        Rows times singular values per distance; None if distances are exact.
    least : float
        Edges shorter than this go in any case.
    """
    factor = None
    while draft.edges():
        quartets = refit(draft, similarity, n_rows)
        if n_rows is None:
            limits = np.full(len(quartets.ends), ROUNDING * max(draft.paths().max(), 1e-300))
        else:
            if factor is None:  # of the tree before anything was contracted: more is left to fit
                factor = noise_factor(quartets, n_rows)
            bar = math.log(n_rows) + 1.5 * math.log(max(len(quartets.ends), 1))
            limits = np.sqrt(bar * factor * quartets.variances / n_rows)
        limits = np.maximum(limits, max(least, 1e-300))  # equal variables: no length, no noise
        if not merge_shortest(draft, quartets, quartets.lengths / limits):
            return


def noise_factor(quartets: Quartets, n_rows: float) -> float:
    """How much larger than by the model of noise the variance of distances is, by how they misfit the tree.

    Of two pairings that every tree says are equally long, the difference is noise alone.
    """
    misfits = n_rows * quartets.misfits[np.isfinite(quartets.misfits)]
    if not len(misfits):
        return 1.0
    # Some edges are misplaced, and their misfits are not noise: the largest are cut.
    misfits = np.minimum(misfits, 9.0 * max(float(np.median(misfits)), 0.5))
    return max(1.0, (float(misfits.sum()) + PRIOR_MISFITS) / (len(misfits) + PRIOR_MISFITS))


def merge_shortest(draft: Draft, quartets: Quartets, ratios: Array) -> int:
    """Merge the ends of edges with ratio below one, of neighbouring ones the smallest only; how many."""
    touched: set[int] = set()
    n_merged = 0
    for edge in np.argsort(ratios):
        if ratios[edge] >= 1.0:
            break
        remaining, removed = quartets.ends[
            edge
        ].tolist()  # the lower number first, so observed before hidden
        if removed < draft.n_observed or touched & {remaining, removed}:
            continue
        touched |= {remaining, removed, *draft.near[remaining], *draft.near[removed]}
        draft.merge(remaining, removed)
        n_merged += 1
    return n_merged
