"""Small random networks of every kind, and the full joint table of what they say.

The same distribution is written as probability tables, as `Dense` cores, as `Chain` nodes and as a mixture
of all three; in the last three every edge gets a random change of basis, so that entries are negative.
"""

import itertools

import numpy as np

from tacit.messages.evidence import Evidence
from tacit.messages.network import Chain, Dense, Hadamard, Network, Tables
from tacit.messages.rooted_tree import RootedTree

KINDS = ("tables", "dense", "chain", "mixed")


def rooted_tree(parent, n_leaves, copies=None):
    """A tree from the parent of each node; `copies` leads from hidden nodes to the leaves they repeat."""
    copy_of = np.full(len(parent), -1, dtype=np.int32)
    for node, leaf in (copies or {}).items():
        copy_of[node] = leaf
    names = tuple(f"x{v}" if v < n_leaves else f"h{v}" for v in range(len(parent)))
    return RootedTree(names, n_leaves, np.array(parent, dtype=np.int32), copy_of)


def random_tree(rng, n_leaves, most_children=5):
    """Leaves in random order, two to `most_children` at a time joined under a new node."""
    parent = [-1] * n_leaves
    loose = list(rng.permutation(n_leaves))
    while len(loose) > 1:
        count = min(int(rng.integers(2, most_children + 1)), len(loose))
        rng.shuffle(loose)
        taken, loose = loose[:count], loose[count:]
        parent.append(-1)
        for node in taken:
            parent[node] = len(parent) - 1
        loose.append(len(parent) - 1)
    return rooted_tree(parent, n_leaves)


def caterpillar(n_leaves):
    """A chain of hidden nodes, each with one leaf; the lowest has two."""
    parent = [n_leaves, *range(n_leaves, 2 * n_leaves - 1)]
    parent += [*range(n_leaves + 1, 2 * n_leaves - 1), -1]
    return rooted_tree(parent, n_leaves)


def random_tables(rng, tree, n_states):
    """Tables with rows from a flat Dirichlet distribution; the tables of copies are the identity."""
    tables = []
    for node, states in enumerate(n_states):
        above = int(tree.parent[node])
        if above >= 0 and tree.copy_of[above] == node:
            tables.append(np.eye(states))
        else:
            n_rows = 1 if above < 0 else n_states[above]
            tables.append(rng.dirichlet(np.ones(states), size=n_rows))
    return Tables.of(tree, tables)


def random_model(rng, n_leaves=5, most_children=5, most_states=4):
    """A random tree with random tables; categories and states differ from node to node."""
    tree = random_tree(rng, n_leaves, most_children)
    return random_tables(rng, tree, tuple(rng.integers(2, most_states + 1, size=tree.n_nodes)))


def full_joint(tables):
    """P(leaves, hidden nodes): one axis per node, in the tree's order."""
    tree, n_states = tables.tree, tables.layout.n_states
    joint = np.ones(n_states)
    for node in range(tree.n_nodes):
        above = int(tree.parent[node])
        table = tables.table(node)
        shape = [1] * tree.n_nodes
        shape[node] = n_states[node]
        if above >= 0:  # parents have higher numbers: the own axis comes first
            shape[above] = n_states[above]
            table = table.T
        joint = joint * table.reshape(shape)
    return joint


def leaf_joint(tables):
    """P(leaves): one axis per leaf."""
    return full_joint(tables).sum(axis=tuple(tables.tree.hidden))


def cell_likelihoods(evidence, row, cards, leave_out=()):
    """For one row the likelihood vector of each leaf: indicator, soft evidence, or ones."""
    likelihoods = []
    for leaf, card in enumerate(cards):
        code = evidence.codes[row, leaf]
        if leaf in leave_out:
            likelihoods.append(np.ones(card))
        elif code >= 0:
            likelihoods.append(np.eye(card)[code])
        elif leaf in evidence.soft:
            likelihoods.append(evidence.soft[leaf][row])
        else:
            likelihoods.append(np.ones(card))
    return likelihoods


def weighed(joint, evidence, row, leave_out=()):
    """The joint table (leaves first) of one row with its evidence multiplied in; not normalised."""
    n_leaves = evidence.codes.shape[1]
    likelihoods = cell_likelihoods(evidence, row, joint.shape[:n_leaves], leave_out)
    for leaf, likelihood in enumerate(likelihoods):
        shape = [1] * joint.ndim
        shape[leaf] = -1
        joint = joint * likelihood.reshape(shape)
    return joint


def random_evidence(rng, cards, n_rows=30, missing=0.4, soft_leaves=0):
    """Random rows with missing cells; some leaves have likelihoods, which count where a cell is missing."""
    codes = np.column_stack([rng.integers(0, card, size=n_rows) for card in cards])
    codes[rng.random(codes.shape) < missing] = -1
    soft = {
        int(leaf): rng.exponential(size=(n_rows, cards[leaf]))
        for leaf in rng.choice(len(cards), size=soft_leaves, replace=False)
    }
    return Evidence(codes, soft)


def all_rows(cards):
    """Every combination of categories, one per row."""
    return np.array(list(itertools.product(*map(range, cards))), dtype=np.int16).reshape(
        -1, len(cards)
    )


def in_kind(rng, tables, kind):
    """The same distribution as a network of `kind`: one of KINDS, or a list with one per hidden node."""
    if kind == "tables":
        return tables.network
    tree, n_states = tables.tree, tables.layout.n_states
    kinds = [kind] * len(tree.hidden) if isinstance(kind, str) else list(kind)
    if kind == "mixed":
        order = rng.permutation(3)
        kinds = [("tables", "dense", "chain")[order[i % 3]] for i in range(len(tree.hidden))]
    basis = []  # what is done to the message of each node to its parent
    for node in range(tree.n_nodes):
        above = int(tree.parent[node])
        if above < 0:
            basis.append(np.eye(1))
        elif kinds[above - tree.n_leaves] == "tables":
            basis.append(np.eye(n_states[above]))
        else:
            basis.append(_invertible(rng, n_states[above]))
    nodes = []
    for node, form in zip(tree.hidden, kinds, strict=True):
        table = basis[node] @ tables.table(node)  # (parent, own)
        undo = [np.linalg.inv(basis[child]) for child in tree.children[node]]  # (own, child)
        if form == "tables":
            nodes.append(Hadamard(table))
        else:
            nodes.append(_dense(table, undo) if form == "dense" else _chain(rng, table, undo))
    leaves = range(tree.n_leaves)
    return Network(
        tree=tree,
        emit=tuple(tables.table(leaf).T @ basis[leaf].T for leaf in leaves),
        total=tuple(basis[leaf].sum(axis=1) for leaf in leaves),
        nodes=tuple(nodes),
    )


def _invertible(rng, size):
    while True:
        matrix = rng.normal(size=(size, size))
        if np.linalg.cond(matrix) < 20:
            return matrix


def _dense(table, undo):
    core = table.T  # (own, parent)
    for matrix in undo:  # each child's mode goes in before the parent's
        core = np.einsum("s...p,sc->s...cp", core, matrix)
    return Dense(core.sum(axis=0))


def _chain(rng, table, undo):
    """Diagonal matrices, with a change to another (often larger) basis between each two."""
    n_states = table.shape[1]
    enter = []  # (own, m)
    for _ in range(len(undo) + 1):
        wide = np.eye(n_states, n_states + int(rng.integers(0, 3)))
        enter.append(_invertible(rng, n_states) @ wide @ _invertible(rng, wide.shape[1]))
    leave = [np.linalg.pinv(diagonal) for diagonal in enter]  # (m, own)
    steps = tuple(
        np.einsum("ms,sc,sn->cmn", leave[place], diagonal, enter[place + 1])
        for place, diagonal in enumerate(undo)
    )
    return Chain(table @ enter[0], steps, leave[-1].sum(axis=1))
