"""EM for the chain of chunks, from runs of tags between marks (after Ponvert, Baldridge & Erk 2011)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.parsing.model.tag_chunks import TagChunker
from tacit.parsing.moments.tag_runs import TagRuns
from tacit.parsing.structure.predicates import needed_tags

Array = NDArray[np.float64]
# Outside, first, inside; and the end of the run.
ALLOWED_INITIAL = np.array([1.0, 1.0, 0.0])
ALLOWED_TRANSITIONS = np.array([[1.0, 1, 0, 1], [1, 1, 1, 1], [1, 1, 1, 1]])
SMOOTHING = 0.1
_TINY = 1e-9


def learn_chunker(runs: TagRuns, max_iter: int = 40) -> TagChunker:
    """Groups and predicates of a text; see `chunker_em` and `needed_tags`.

    Sentences with tags of different sets are learnt from apart.
    """
    parts = runs.by_tag_set()
    learnt = [chunker_em(part, max_iter) for part in parts]
    initial, transitions, emissions = (
        np.concatenate([chain[place] for chain in learnt], axis=1) for place in range(3)
    )
    # An unseen tag is equally likely in every state, and behaves like the average tag of the largest part.
    unseen = [table.mean(axis=1, keepdims=True) for table in learnt[0][:2]]
    predicates = [part.tags[code] for part in parts for code in needed_tags(*part.presence())]
    with np.errstate(divide="ignore"):
        return TagChunker(
            tuple(tag for part in parts for tag in part.tags),
            np.log(np.concatenate([initial, unseen[0]], axis=1)),
            np.log(np.concatenate([transitions, unseen[1]], axis=1)),
            np.log(np.concatenate([emissions, np.full((3, 1), 1.0 / len(runs.tags))], axis=1)),
            frozenset(predicates),
        )


def chunker_em(runs: TagRuns, max_iter: int = 40) -> tuple[Array, Array, Array, list[float]]:
    """EM for the chain over the tags of runs: outside of groups, first in one, further inside.

    Transitions depend on the state and the tag of a word. EM starts with all that is allowed equally likely.
    A group ends as a run does: after a tag that is rarely last in a run, ending a group is less likely in
    proportion. This is what distinguishes inside from outside.

    Parameters
    ----------
    runs : TagRuns
    max_iter : int

    Returns
    -------
    initial : (3, tag)
        Probabilities of the state of the first word of a run, the same for all tags.
    transitions : (3, tag, 4)
        With the weights of the ends of groups.
    emissions : (3, tag)
    log_likelihoods : list of float
        With those weights; they never fall but for the smoothing.
    """
    from tacit.parsing.loops.chunking import expected_counts

    run_counts = runs.runs()
    tags = runs.tags
    codes = {tag: code for code, tag in enumerate(tags)}
    words = np.array([codes[tag] for run in run_counts for tag in run], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum([len(run) for run in run_counts])])
    weights = np.array(list(run_counts.values()), dtype=np.float64)
    ends = _end_weights(runs)
    initial = _normalised(ALLOWED_INITIAL)
    transitions = np.repeat(_normalised(ALLOWED_TRANSITIONS)[:, None], len(tags), axis=1)
    totals = np.bincount(words, weights=np.repeat(weights, np.diff(starts)), minlength=len(tags))
    emissions = np.tile(_normalised(np.asarray(totals + SMOOTHING, np.float64)), (3, 1))
    log_likelihoods: list[float] = []
    for _ in range(max_iter):
        counts = np.zeros(3), np.zeros_like(transitions), np.zeros_like(emissions)
        log_likelihoods.append(
            expected_counts(words, starts, weights, initial, transitions * ends, emissions, counts)
        )
        of_any_tag = _normalised(counts[1].sum(axis=1) + _TINY * ALLOWED_TRANSITIONS)
        initial = _normalised(counts[0])
        transitions = _normalised(counts[1] + SMOOTHING * of_any_tag[:, None])
        emissions = _normalised(counts[2] + SMOOTHING)
    return np.tile(initial[:, None], len(tags)), transitions * ends, emissions, log_likelihoods


def _end_weights(runs: TagRuns) -> Array:
    """(3, tag, 4) weights of transitions by state and tag: 1 but where a group ends."""
    weights = np.ones((3, len(runs.tags), 4))
    for state in (1, 2):
        weights[state, :, [0, 1, 3]] = np.exp(np.minimum(runs.endings(), 0.0))
    return weights


def _normalised(counts: Array) -> Array:
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))
