"""How many joint states of a separator groups of leaves can show, against a walk along every path."""

from itertools import pairwise

import numpy as np
import pytest

from tacit.junction.learn.separators import separator_plan
from tacit.junction.structure.graphs import VariableGraph
from tacit.junction.structure.junction_tree import junction_tree
from tacit.toy import (
    random_factorial_model,
    random_graph_model,
    random_hmm_model,
    random_loopy_model,
)


def path(parent, leaf, target):
    """The nodes from a leaf to another node, both included."""
    up = [leaf]
    while up[-1] >= 0:
        up.append(int(parent[up[-1]]))
    place = {node: at for at, node in enumerate(up)}
    down = [target]
    while down[-1] not in place:
        down.append(int(parent[down[-1]]))
    return [*up[: place[down[-1]]], *reversed(down)]


def walked(junction, group, edge, above):
    """Ranks carried from the leaves to the separator, node by node."""
    tree = junction.tree
    target = int(tree.parent[edge]) if above else edge
    towards = {}
    for leaf in group:
        towards.update(pairwise(path(tree.parent, leaf, target)))
    needs = {leaf: set(junction.conditioned_on[leaf]) for leaf in group}
    ranks = {leaf: junction.n_states[leaf] for leaf in group}
    while towards:
        node = next(start for start in towards if start not in towards.values())
        onward = towards.pop(node)
        cap = junction.caps[node if tree.parent[node] == onward else onward]
        rank = min(ranks[node], junction.count(needs[node]), cap)
        ranks[onward] = ranks.get(onward, 1) * rank
        needs.setdefault(onward, set()).update(needs[node])
    return min(ranks.get(target, 1), junction.count(needs.get(target, ())), junction.caps[edge])


def branching(rng):
    """A tree of hidden variables, some of which have two parents that are joined."""
    parents = {"h0": (), "h1": ("h0",)}
    for number in range(2, 9):
        first = int(rng.integers(0, number))
        near = parents[f"h{first}"][:1]
        parents[f"h{number}"] = (f"h{first}", *near)
    observed = []
    for number in range(10):
        above = int(rng.integers(0, 9))
        observed.append(f"x{number}")
        parents[f"x{number}"] = (f"h{above}", *parents[f"h{above}"][: int(rng.integers(0, 2))])
    counts = rng.integers(2, 6, size=10).tolist()
    states = {f"h{number}": int(rng.integers(2, 4)) for number in range(9)}
    return random_graph_model(
        parents, observed, n_states=states, n_categories=counts, random_state=rng
    )


MODELS = {
    "second order": lambda _: random_hmm_model(9, order=2, random_state=0),
    "third order": lambda _: random_hmm_model(8, order=3, random_state=0),
    "factorial": lambda _: random_factorial_model(6, random_state=0),
    "loopy": lambda _: random_loopy_model(random_state=0),
    "branching": branching,
}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_ranks_of_groups_are_those_of_walking_every_path(kind, seed):
    rng = np.random.default_rng(seed)
    model = MODELS[kind](rng)
    states = {**model.n_states, **dict(zip(model.names, model.cards, strict=True))}
    junction = junction_tree(VariableGraph.of(model.graph), model.names, states)
    plan = separator_plan(junction)
    n_groups = 0
    for _ in range(300):
        edge = int(rng.integers(0, junction.tree.n_nodes - 1))
        above = bool(rng.integers(0, 2))
        side = np.flatnonzero(~plan.inside[edge] if above else plan.inside[edge])
        if not len(side):
            continue
        size = int(rng.integers(1, min(len(side), 4) + 1))
        group = tuple(rng.permutation(side)[:size].tolist())
        n_groups += 1
        expected = walked(junction, group, edge, above)
        assert plan.rank(group, edge, above=above) == expected, (group, edge, above)
    assert n_groups > 200
