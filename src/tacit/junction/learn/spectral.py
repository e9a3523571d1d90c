"""Latent junction trees by singular value decompositions of small sets of columns (thesis chapter 5)."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.errors import ArgumentError
from tacit.junction.learn.separators import separator_bases
from tacit.junction.structure.junction_tree import JunctionTree
from tacit.messages.network import Chain, Dense
from tacit.trees.learn.spectral.operators import assembled_network, node_cores
from tacit.trees.learn.spectral.ranks import checked_states
from tacit.trees.learn.spectral.reports import Factored, Report
from tacit.trees.learn.spectral.stars import pair_moments
from tacit.trees.moments.source import Moments


def junction_spectral(
    junction: JunctionTree,
    moments: Moments,
    *,
    n_views: int = 3,
    features: int = 4,
    whiten: bool = True,
    cut: float = 0.9,
    most: int | None = None,
) -> Factored:
    """A latent junction tree, up to a change of basis at every separator (thesis Algorithm 6).

    The basis of a separator are singular vectors of the joint table of some columns on one side and several
    sets of columns on the other; the tensor of a node is the joint table of its branches in these bases, with
    the basis towards the parent inverted by one linear system for all sets.

    Parameters
    ----------
    junction : JunctionTree
    moments : Moments
    n_views : int
        Sets of columns above a separator that its linear system uses.
    features : int
        Columns that a set has at most.
    whiten : bool
        Divide by the square roots of the frequencies of the categories. Without: as printed in the thesis.
    cut : float
        Directions are kept whose singular value exceeds this many times the expected noise (for tables that
        are not whitened, 0.5 / sqrt(n_rows)); never more than the separator has joint states. 0 keeps all.
    most : int, optional
        Directions of a separator that are kept at most.
    """
    checked_states(junction.tree, moments, junction.n_states)
    if n_views < 1 or features < 1 or not cut >= 0:
        raise ArgumentError(
            f"n_views={n_views}, features={features}, cut={cut}; give 1 or more, 1 or more, 0 or more"
        )
    n_values = max(2, min(max(junction.caps), max(moments.cards)))
    pairs = pair_moments(moments, n_values, whiten=whiten)
    bases = separator_bases(junction, moments, pairs, n_views=n_views, features=features, cut=cut)
    if most is not None:
        leading = slice(max(1, most))
        for edge in set(bases).intersection(junction.tree.hidden):
            basis = bases[edge]
            left, right, emit = (
                basis.left[:, leading],
                basis.right[:, leading],
                basis.emit[:, leading],
            )
            bases[edge] = basis._replace(left=left, right=right, emit=emit)
    nodes: Mapping[int, Dense | Chain] = node_cores(
        junction.tree, moments, bases, list(junction.tree.hidden)
    )
    network = assembled_network(junction.tree, moments, bases, nodes)
    spectra = {edge: basis.spectrum for edge, basis in bases.items()}
    return Factored(network, Report("spectral", junction.tree, spectra, {}))
