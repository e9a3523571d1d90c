"""Sequences whose states last for times that are far from geometric."""

import numpy as np


def paths_of(durations, n, length, n_states=3, seed=0):
    """(sequence, time) states; `durations(rng, state)` draws how long a segment lasts."""
    rng = np.random.default_rng(seed)
    paths = []
    for _ in range(n):
        path, state = [], int(rng.integers(n_states))
        while len(path) < length:
            path += [state] * int(durations(rng, state))
            state = (state + 1 + int(rng.integers(n_states - 1))) % n_states
        paths.append(path[:length])
    return np.array(paths)


def two_lengths(rng, state):
    """Short or long, never between."""
    return (3 if rng.random() < 0.5 else 15) + state


def regular(rng, state):
    """Near one length for each state."""
    mean = 5.0 + 4 * state
    return 1 + rng.negative_binomial(30, 30 / (30 + mean))


def geometric(rng, state):
    """As plain hidden Markov models have them."""
    return rng.geometric(1 / (5.0 + 3 * state))


def emitted(paths, kind, seed=0):
    """A list of sequences that such states emit."""
    rng = np.random.default_rng([seed, 1])
    if kind == "categorical":
        other = rng.integers(3, size=paths.shape)
        return list(np.where(rng.random(paths.shape) < 0.6, paths, other))
    if kind in ("poisson", "negative-binomial"):
        return list(rng.poisson(np.array([3.0, 6.0, 11.0])[paths]).astype(float))
    if kind == "von-mises":
        return list(rng.vonmises(np.array([-2.0, 0.0, 2.0])[paths], 2.0))
    if kind == "multinomial":
        chances = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]])
        return [np.array([rng.multinomial(4, chances[s]) for s in path]) for path in paths]
    return list(1.7 * paths + rng.normal(size=paths.shape))
