"""`LatentTree(preset="printed")`: the algorithms of the papers without Tacit's additions.

No table is divided by roots of probabilities, no singular value is cut, and views have equal weight. All
hidden nodes have the same number of states, at most that of any column's categories.

- ``learn="spectral"``, ``representation="tensor"``: Parikh (2015), Algorithm 4; with more than one view, the
  linear systems of 4.4.3. The thesis leaves the leaves of both sides of an edge open; here they are the pair
  with the largest singular value at the number of states, or at the largest number up to it, but at least
  two, that some pair shows above noise (`best_views`).
- ``learn="spectral"``, ``representation="matrix"``: Parikh, Song & Xing (2011), Algorithm 1, or with
  ``siblings="uncle"`` Parikh (2015), Algorithm 13 (`printed_matrices`).
- ``learn="hierarchical"``: Song et al. (2013), Algorithm 1 with equation 6 (`printed_hierarchical`).
- ``learn="mossel-roch"``: Mossel and Roch (2006), whom the papers compare with (`printed_mossel_roch`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import ArgumentError
from tacit.trees.learn.spectral.operators import spectral
from tacit.trees.learn.spectral.printed_hierarchical import printed_hierarchical
from tacit.trees.learn.spectral.printed_matrices import printed_matrices
from tacit.trees.learn.spectral.printed_mossel_roch import printed_mossel_roch

if TYPE_CHECKING:
    from tacit.messages.network import Network, Tables
    from tacit.messages.rooted_tree import RootedTree
    from tacit.trees.learn.learners import Job


def printed_decomposition(job: Job) -> tuple[Network, dict[str, Any]]:
    """The network of the hierarchical decomposition, and its diagnostics."""
    if job.table.weights is not None:
        raise ArgumentError(
            "the printed decomposition looks at the rows one by one and ignores weights; repeat rows"
        )
    n_states = _checked_states(job)
    factored = printed_hierarchical(job.tree, job.moments, n_states, codes=job.table.codes)
    return factored.network, factored.report.as_dict()


def printed_operators(job: Job) -> tuple[Network, dict[str, Any]]:
    """The network of observable operators, and its diagnostics."""
    n_states = _checked_states(job)
    tree, moments, settings = job.tree, job.moments, job.settings
    if settings.representation == "tensor":
        options: dict[str, Any] = {"representation": "tensor", "whiten": False, "cut": 0.0}
        factored = spectral(tree, moments, job.n_states, n_views=settings.n_views, **options)
        return factored.network, factored.report.as_dict()
    _check_degrees(tree, "the printed products of matrices need")
    fitted = printed_matrices(tree, moments, n_states, siblings=settings.siblings)
    names, siblings = tree.names, fitted.siblings
    return fitted.network, {
        "method": "spectral",
        "siblings": {
            names[node]: {
                "leaf": names[siblings.leaf[node]],
                "left": names[siblings.left[node]],
                "right": names[siblings.right[node]],
            }
            for node in sorted(siblings.left)
        },
    }


def printed_tables(job: Job) -> tuple[Tables, dict[str, Any]]:
    """The tables by eigenvectors, and their diagnostics."""
    n_states = _checked_states(job)
    _check_degrees(job.tree, "the printed algorithm of Mossel and Roch needs")
    seed = job.settings.seed
    tables = printed_mossel_roch(job.tree, job.moments, n_states, random_state=seed)
    return tables, {"method": "mossel-roch"}


def _check_degrees(tree: RootedTree, who_needs: str) -> None:
    for node in tree.hidden:
        count = tree.degree(node)
        if count < 3:
            raise ArgumentError(f"{tree.names[node]!r} has {count} neighbours; {who_needs} three")


def _checked_states(job: Job) -> int:
    """The number of states of all hidden nodes, once the printed algorithms can learn them."""
    tree = job.tree
    states = set(job.n_states[tree.n_leaves :])
    if len(states) != 1:
        raise ArgumentError(
            f"inner nodes have {sorted(states)} states (observed ones as many as categories); with "
            'preset="printed" all have the same number'
        )
    (n_states,) = states
    fewest = min(range(tree.n_leaves), key=lambda leaf: job.n_states[leaf])
    if job.n_states[fewest] < n_states:
        raise ArgumentError(
            f"{n_states} states, but the column {tree.names[fewest]!r} has {job.n_states[fewest]} "
            'categories; with preset="printed" every column has at least as many as there are states'
        )
    return n_states
