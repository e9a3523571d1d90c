"""Random trees over observed and hidden nodes, for laws; a tree refined by distances."""

from hypothesis import strategies as st

from tacit.trees.structure.draft import Draft
from tacit.trees.structure.interchange import effective_rows, refine, similarity_of
from tacit.trees.structure.topology import Topology

names = st.text(st.sampled_from(list("abxyz '\"():;,[]_\né木")), max_size=5)


@st.composite
def topologies(draw, max_nodes=14, hidden_leaves=True, names=names):
    """Any tree: hostile names, hidden nodes of any degree, some lengths, some numbers of states."""
    labels = draw(st.lists(names, min_size=1, max_size=max_nodes, unique=True))
    edges = [(labels[draw(st.integers(0, n - 1))], labels[n]) for n in range(1, len(labels))]
    ends = [name for pair in edges for name in pair]
    seen = [draw(st.booleans()) for _ in labels]
    if not hidden_leaves:
        seen = [is_seen or ends.count(n) < 2 for n, is_seen in zip(labels, seen, strict=True)]
    if not any(seen):
        seen[draw(st.integers(0, len(labels) - 1))] = True
    observed = [name for name, is_seen in zip(labels, seen, strict=True) if is_seen]
    lengths = [draw(st.none() | st.floats(0, 10)) for _ in edges]
    n_states = {name: 2 + len(name) for name in labels if name not in observed and "a" in name}
    return Topology(tuple(labels), tuple(edges), tuple(observed), tuple(lengths), n_states)


def refine_topology(topology, distances, names, *, n_rows=None, n_states=2):
    """The tree with neighbouring branches interchanged wherever the distances say so, and new lengths.

    Distances are exact without `n_rows`.
    """
    similarity = similarity_of(distances, names, n_states)
    draft = Draft.of(topology, names)
    refine(draft, similarity, effective_rows(n_rows, n_states))
    return draft.topology(names, scale=n_states - 1)
