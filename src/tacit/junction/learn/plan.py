"""The size of a junction tree and the cost of learning it, before anything is learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.junction.model.shared_tables import Ties
    from tacit.junction.structure.junction_tree import JunctionTree

_BYTES = 8


@dataclass(frozen=True)
class JunctionPlan:
    """The size of a junction tree and the cost of learning it.

    Attributes
    ----------
    treewidth : int
    largest_clique : tuple of str
    n_nodes : int
        Hidden nodes of the tree that messages run over.
    most_states : int
        Joint states of the largest node.
    separators : dict of str to int
        Joint states of the separator above each hidden node.
    n_entries : int
        Entries of all tables together.
    n_parameters : int
        Free parameters that EM learns.
    step_operations : float
        Multiplications of one EM step if all rows differ.
    message_bytes : int
        Memory of the messages of one EM step.
    moment_cells : int
        Cells of the largest joint table of spectral learning.
    """

    treewidth: int
    largest_clique: tuple[str, ...]
    n_nodes: int
    most_states: int
    separators: dict[str, int]
    n_entries: int
    n_parameters: int
    step_operations: float
    message_bytes: int
    moment_cells: int

    def __str__(self) -> str:
        """The plan in a few lines."""
        widest = max(self.separators.values(), default=1)
        megabytes = self.message_bytes / 1e6
        return "\n".join(
            [
                f"treewidth {self.treewidth}: {', '.join(self.largest_clique)}",
                f"{self.n_nodes} hidden nodes of up to {self.most_states} joint states",
                f"separators of up to {widest} joint states",
                f"{self.n_entries} table entries made of {self.n_parameters} free parameters",
                f"one EM step: at most {self.step_operations:.2g} multiplications",
                f"messages of one EM step: at most {megabytes:.1f} MB",
                f"spectral: joint tables of up to {self.moment_cells} cells",
            ]
        )


def plan_of(junction: JunctionTree, ties: Ties, n_rows: int, features: int) -> JunctionPlan:
    """The plan of a junction tree for a number of rows."""
    tree, layout = junction.tree, ties.layout
    hidden = list(tree.hidden)
    entries = [rows * columns for rows, columns in layout.shapes]
    widths = [rows for rows, _ in layout.shapes]
    return JunctionPlan(
        treewidth=junction.treewidth,
        largest_clique=junction.clique,
        n_nodes=len(hidden),
        most_states=max(junction.n_states[node] for node in hidden),
        separators={tree.names[node]: junction.caps[node] for node in hidden[:-1]},
        n_entries=layout.size,
        n_parameters=ties.n_parameters,
        step_operations=3.0 * n_rows * sum(entries[node] for node in hidden),
        message_bytes=2 * _BYTES * n_rows * sum(widths[node] for node in hidden),
        moment_cells=_largest_table(junction, features),
    )


def _largest_table(junction: JunctionTree, features: int) -> int:
    """Cells of the largest joint table of a node's branches, with every side as wide as possible."""
    from tacit.junction.learn.separators import MOST_GROUP_CELLS

    tree, most = junction.tree, 1
    card = max(junction.n_states[: tree.n_leaves])
    shown = max(2, min(junction.caps[: tree.n_leaves]))  # rank that one column has at least
    for node in tree.hidden:
        cells = 1
        sides = [*tree.children[node], *([node] if node != tree.root else [])]
        for side in sides:
            if side < tree.n_leaves:
                cells *= junction.n_states[side]
                continue
            size = 1
            while shown**size < junction.caps[side] and size < features:
                size += 1
            cells *= min(card**size, MOST_GROUP_CELLS)
        most = max(most, cells)
    return most
