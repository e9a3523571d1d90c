"""Small hidden Markov models, what they say of strings, and the moments of their windows, by enumeration."""

from itertools import product

import numpy as np

from tacit.sequences.model.chains import ChainTables
from tacit.sequences.moments.windows import WindowMoments, windows_of


def random_chain(n_states, n_symbols, seed, *, stationary=False, n_columns=1):
    """A hidden Markov model with random tables, well away from degenerate ones."""
    rng = np.random.default_rng(seed)
    transitions = rng.dirichlet(np.full(n_states, 0.6), n_states) + 0.05
    transitions /= transitions.sum(axis=1, keepdims=True)
    emit = tuple(rng.dirichlet(np.full(n_symbols, 0.5), n_states) for _ in range(n_columns))
    initial = rng.dirichlet(np.ones(n_states))
    chain = ChainTables(initial, transitions, emit)
    return ChainTables(chain.stationary, transitions, emit) if stationary else chain


def string_probability(chain, likelihoods):
    """Sum over all paths; `likelihoods` is (time, state)."""
    total = 0.0
    n_states = chain.n_states
    for path in product(range(n_states), repeat=len(likelihoods)):
        value = 1.0
        for time, state in enumerate(path):
            value *= chain.initial[state] if time == 0 else chain.transitions[path[time - 1], state]
            value *= likelihoods[time, state]
        total += value
    return total


def forward_probability(chain, likelihoods):
    """The same by products of matrices, for longer strings."""
    state = chain.initial
    for row in likelihoods:
        state = (state * row) @ chain.transitions
    return state.sum()


def population_moments(chain, features, stretches=(1,), left=None, right=None):
    """Exact moments of all windows of strings of one symbol column, of the shortest length with a window.

    Parameters
    ----------
    features : (symbol, feature)
    """
    length = 2 * sum(stretches) + 1
    n_symbols = chain.emit[0].shape[1]
    total = None
    for string in product(range(n_symbols), repeat=length):
        chance = forward_probability(chain, chain.emit[0][:, list(string)].T)
        windows = windows_of(features[list(string)], np.array([length]), stretches)
        moments = WindowMoments.of(windows, left, right, np.array([chance]))
        moments = WindowMoments(
            **{
                name: getattr(moments, name)
                for name in WindowMoments.__dataclass_fields__
                if name != "first"
            },
            first=chance * moments.first,
        )
        total = moments if total is None else total + moments
    return WindowMoments(
        **{
            name: getattr(total, name)
            for name in WindowMoments.__dataclass_fields__
            if name != "n_firsts"
        },
        n_firsts=np.array(1.0),
    )


def prefix_values(walk):
    """Sign and log of the absolute value of what stands before each place: (place,) each."""
    values = walk.operators.stop @ walk.states.values
    with np.errstate(divide="ignore"):
        log_abs = np.log(np.abs(values))
    if walk.states.exponent is not None:
        log_abs += walk.states.exponent * np.log(2)
    return np.sign(values), log_abs
