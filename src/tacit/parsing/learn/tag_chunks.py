"""EM for groups of words, from which tags stand between marks (after Ponvert, Baldridge & Erk 2011)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.parsing.model.tag_chunks import TagShape
from tacit.parsing.moments.tag_runs import TagRuns
from tacit.parsing.structure.predicates import needed_tags

Array = NDArray[np.float64]
# Which state may begin a run, and what may follow each: outside, first, inside, the end.
MAY_BEGIN = np.array([1.0, 1.0, 0.0])
MAY_FOLLOW = np.array([[1.0, 1, 0, 1], [1, 1, 1, 1], [1, 1, 1, 1]])
SMOOTHING = 0.1


def learn_shape(runs: TagRuns, max_iter: int = 40) -> TagShape:
    """Groups and predicates of a text; see `learn_groups` and `needed_tags`.

    A text may have sentences with tags of several sets; from each set is learnt by itself.
    """
    parts = runs.by_tag_set()
    learnt = [learn_groups(part, max_iter) for part in parts]
    first, following, emitted = (
        np.concatenate([chain[place] for chain in learnt], axis=1) for place in range(3)
    )
    # A tag that was never seen is as likely in every state, and the rest as on average in the largest part.
    unknown = [table.mean(axis=1, keepdims=True) for table in learnt[0][:2]]
    needed = [part.tags[number] for part in parts for number in needed_tags(*part.presence())]
    with np.errstate(divide="ignore"):
        return TagShape(
            tuple(tag for part in parts for tag in part.tags),
            np.log(np.concatenate([first, unknown[0]], axis=1)),
            np.log(np.concatenate([following, unknown[1]], axis=1)),
            np.log(np.concatenate([emitted, np.full((3, 1), 1.0 / len(runs.tags))], axis=1)),
            frozenset(needed),
        )


def learn_groups(runs: TagRuns, max_iter: int = 40) -> tuple[Array, Array, Array, list[float]]:
    """A chain over the tags of runs: outside of groups, first in one, further inside.

    What follows a word depends on its state and its tag. EM begins where all that is allowed is equally
    likely. A group ends as a run does: after a tag that seldom stands last in a run, the end of a group
    weighs as much less as that is rarer than for any word. This is what tells inside from outside.

    Parameters
    ----------
    runs : TagRuns
    max_iter : int

    Returns
    -------
    first : (3, tag)
        Of the state of the first word of a run, the same for all tags.
    following : (3, tag, 4)
        With the weights of the ends of groups.
    emitted : (3, tag)
    likelihoods : list of float
        Logarithms, which those weights are part of; they never fall but for the smoothing.
    """
    from tacit.parsing.loops.chunking import group_counts

    seen = runs.runs()
    tags = runs.tags
    numbers = {tag: number for number, tag in enumerate(tags)}
    words = np.array([numbers[tag] for run in seen for tag in run], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum([len(run) for run in seen])])
    weights = np.array(list(seen.values()), dtype=np.float64)
    ends = _end_weights(runs)
    first = _shares(MAY_BEGIN)
    following = np.repeat(_shares(MAY_FOLLOW)[:, None], len(tags), axis=1)
    every = np.bincount(words, weights=np.repeat(weights, np.diff(starts)), minlength=len(tags))
    emitted = np.tile(_shares(np.asarray(every + SMOOTHING, np.float64)), (3, 1))
    likelihoods: list[float] = []
    for _ in range(max_iter):
        of_first, of_next, of_tags = np.zeros(3), np.zeros_like(following), np.zeros_like(emitted)
        likelihoods.append(
            group_counts(
                *(words, starts, weights, first, following * ends, emitted),
                *(of_first, of_next, of_tags),
            )
        )
        usual = _shares(of_next.sum(axis=1) + _TINY * MAY_FOLLOW)
        first = _shares(of_first)
        following = _shares(of_next + SMOOTHING * usual[:, None])
        emitted = _shares(of_tags + SMOOTHING)
    return np.tile(first[:, None], len(tags)), following * ends, emitted, likelihoods


def _end_weights(runs: TagRuns) -> Array:
    """Of what follows each state and tag: (3, tag, 4); 1 but where a group ends."""
    weights = np.ones((3, len(runs.tags), 4))
    for state in (1, 2):
        weights[state, :, [0, 1, 3]] = np.exp(np.minimum(runs.endings(), 0.0))
    return weights


def _shares(counts: Array) -> Array:
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))


_TINY = 1e-9
