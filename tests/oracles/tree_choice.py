"""Which of several trees fits distances best."""

from tacit.trees.structure.draft import Draft
from tacit.trees.structure.interchange import (
    effective_rows,
    refit,
    similarity_of,
    surrogate_likelihood,
)


def choose_topology(candidates, distances, names, *, n_rows=None, n_states=2):
    """The name of the best, of the first of equals, and log-likelihoods per row beyond that of the best."""
    similarity = similarity_of(distances, names, n_states)
    rows = effective_rows(n_rows, n_states)
    scores = {}
    for name, topology in candidates.items():
        draft = Draft.of(topology, names)
        refit(draft, similarity, rows)
        scores[name] = surrogate_likelihood(draft, similarity)
    best = max(scores, key=scores.__getitem__)
    return best, {name: score - scores[best] for name, score in scores.items()}
