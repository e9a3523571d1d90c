"""Hidden states of chains, compared with enumeration over all paths and strings."""

from itertools import pairwise, product

import numpy as np
import pytest

from tacit.sequences.loops.viterbi import draw_paths, draw_symbols, viterbi_paths
from tacit.sequences.model.chains import ChainTables
from tacit.sequences.query.hidden_states import (
    drawn_states,
    drawn_symbols,
    filtered,
    smoothed,
    symbol_evidence,
    viterbi,
)
from tacit.sequences.query.operators import evidence_messages, states_now, walked

N_STATES, N_SYMBOLS = 3, 2


def random_tables(seed, zeros=False):
    rng = np.random.default_rng(seed)
    shapes = (N_STATES,), (N_STATES, N_STATES), (N_STATES, N_SYMBOLS)
    initial, transitions, emit = (rng.random(shape) + 0.05 for shape in shapes)
    if zeros:
        initial[0] = transitions[1, 2] = transitions[2, 0] = emit[1, 1] = 0.0
    initial, transitions, emit = (
        table / table.sum(axis=-1, keepdims=True) for table in (initial, transitions, emit)
    )
    return ChainTables(initial, transitions, (emit,))


def joint(tables, codes, states):
    """P(states, symbols), a missing symbol summed out."""
    value = 1.0
    for t, (code, state) in enumerate(zip(codes, states, strict=True)):
        value *= tables.initial[state] if t == 0 else tables.transitions[states[t - 1], state]
        value *= 1.0 if code < 0 else tables.emit[0][state, code]
    return value


def all_paths(tables, codes):
    """(path, state) all paths, and P(path, symbols) of each."""
    paths = list(product(range(N_STATES), repeat=len(codes)))
    return paths, np.array([joint(tables, codes, path) for path in paths])


STRINGS = [
    np.array(codes, dtype=np.int32)
    for length in range(5)
    for codes in product((-1, 0, 1), repeat=length)
]
TABLES = [random_tables(0), random_tables(1), random_tables(2, zeros=True)]


def evidence(tables, strings):
    ends = np.concatenate([[0], np.cumsum([len(codes) for codes in strings])]).astype(np.int64)
    codes = np.concatenate(strings) if strings else np.zeros(0, dtype=np.int32)
    return symbol_evidence(tables.emit[0], codes, ends)


def parts(values, strings):
    ends = np.cumsum([0] + [len(codes) for codes in strings])
    return [values[a:b] for a, b in pairwise(ends)]


@pytest.mark.parametrize("tables", TABLES)
def test_probabilities_of_strings_are_sums_over_all_paths(tables):
    log_probs = filtered(tables, evidence(tables, STRINGS)).log_probs()
    for codes, value in zip(STRINGS, log_probs, strict=True):
        _, weights = all_paths(tables, codes)
        assert np.exp(value) == pytest.approx(weights.sum(), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("tables", TABLES)
def test_filtered_states_use_all_up_to_the_position(tables):
    states = filtered(tables, evidence(tables, STRINGS))
    for codes, now in zip(STRINGS, parts(states.now, STRINGS), strict=True):
        for t in range(len(codes)):
            paths, weights = all_paths(tables, codes[: t + 1])
            last = np.array([path[-1] for path in paths])
            masses = np.bincount(last, weights, minlength=N_STATES)
            if masses.sum() > 0:
                assert now[t] == pytest.approx(masses / masses.sum(), abs=1e-12)
            else:
                assert not now[t].any()


@pytest.mark.parametrize("tables", TABLES)
def test_smoothed_states_use_the_whole_sequence(tables):
    states = smoothed(tables, evidence(tables, STRINGS))
    for codes, now in zip(STRINGS, parts(states, STRINGS), strict=True):
        paths, weights = all_paths(tables, codes)
        for t in range(len(codes)):
            masses = np.bincount([path[t] for path in paths], weights, minlength=N_STATES)
            if masses.sum() > 0:
                assert now[t] == pytest.approx(masses / masses.sum(), abs=1e-12)
            else:
                assert not now[t].any()


@pytest.mark.parametrize("tables", TABLES)
def test_the_most_likely_path_is_that_of_the_largest_product(tables):
    path, values = viterbi(tables, evidence(tables, STRINGS))
    for codes, best, value in zip(STRINGS, parts(path, STRINGS), values, strict=True):
        _, weights = all_paths(tables, codes)
        assert np.exp(value) == pytest.approx(weights.max(), rel=1e-12)
        assert joint(tables, codes, best) == pytest.approx(weights.max(), rel=1e-12)


@pytest.mark.parametrize("tables", TABLES)
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_what_comes_next_is_the_ratio_of_strings(tables, steps):
    strings = [codes for codes in STRINGS if len(codes) < 4]
    states = filtered(tables, evidence(tables, strings))
    after = states.after(steps) @ tables.emit[0]
    before = parts(states.before(steps) @ tables.emit[0], strings)

    def expected(codes):
        """P(symbol `steps` later | codes)."""
        longer = [[*codes, *[-1] * (steps - 1), symbol] for symbol in range(N_SYMBOLS)]
        masses = np.array([all_paths(tables, extended)[1].sum() for extended in longer])
        return masses / masses.sum() if masses.sum() > 0 else np.zeros(N_SYMBOLS)

    for codes, last, rows in zip(strings, after, before, strict=True):
        assert last == pytest.approx(expected(codes), abs=1e-12)
        for t in range(len(codes)):
            assert rows[t] == pytest.approx(expected(codes[:t]), abs=1e-12)


def test_the_compiled_pass_agrees_with_the_general_walk():
    tables = TABLES[0]
    likelihoods = evidence(tables, STRINGS)
    messages = evidence_messages(
        tables.operators, [np.where(one_hot().sum(1) > 0, one_hot().T, np.nan).T]
    )
    walk = walked(tables.operators, messages, likelihoods.lengths)
    assert filtered(tables, likelihoods).now == pytest.approx(states_now(walk, messages), abs=1e-12)


def one_hot():
    codes = np.concatenate(STRINGS)
    return np.vstack([np.eye(N_SYMBOLS), np.zeros(N_SYMBOLS)])[codes]


def test_an_impossible_sequence_has_log_probability_minus_infinity():
    tables = ChainTables(np.array([1.0, 0.0]), np.eye(2), (np.eye(2),))
    strings = [np.array(codes, dtype=np.int32) for codes in ([0, 0], [0, 1], [], [1], [0, 1, 1, 1])]
    likelihoods = evidence(tables, strings)
    with np.errstate(divide="raise", invalid="raise"):
        assert filtered(tables, likelihoods).log_probs().tolist() == [
            0,
            -np.inf,
            0,
            -np.inf,
            -np.inf,
        ]
        assert viterbi(tables, likelihoods)[1].tolist() == [0, -np.inf, 0, -np.inf, -np.inf]
        assert smoothed(tables, likelihoods).sum(axis=1).tolist() == [1, 1, 0, 0, 0, 0, 0, 0, 0]


def test_long_sequences_do_not_underflow():
    tables = TABLES[0]
    codes = np.random.default_rng(3).integers(0, 2, 20_000).astype(np.int32)
    likelihoods = evidence(tables, [codes])
    log_prob = filtered(tables, likelihoods).log_probs()[0]
    path, value = viterbi(tables, likelihoods)
    assert -40_000 < value[0] < log_prob < -1_000
    assert smoothed(tables, likelihoods).sum(axis=1) == pytest.approx(1, abs=1e-9)
    assert len(path) == 20_000


def test_no_sequences_give_no_answers():
    likelihoods = evidence(TABLES[0], [])
    states = filtered(TABLES[0], likelihoods)
    assert states.log_probs().shape == (0,)
    assert states.after().shape == (0, N_STATES)
    assert states.before().shape == (0, N_STATES)
    assert smoothed(TABLES[0], likelihoods).shape == (0, N_STATES)
    assert viterbi(TABLES[0], likelihoods)[1].shape == (0,)


def test_draws_follow_the_tables():
    tables, rng = TABLES[2], np.random.default_rng(5)
    states = drawn_states(tables, tables.initial, (200_000, 2), rng)
    codes = drawn_symbols(tables.emit[0], states, rng)
    frequencies = np.zeros((N_STATES, N_STATES, N_SYMBOLS))
    np.add.at(frequencies, (states[:, 0], states[:, 1], codes[:, 1]), 1 / len(states))
    truth = tables.initial[:, None, None] * tables.transitions[:, :, None] * tables.emit[0][None]
    assert frequencies == pytest.approx(truth, abs=0.005)  # several standard errors of 0.001
    assert not frequencies[truth == 0].any()


def test_compiled_loops_agree_with_their_python_source():
    rng = np.random.default_rng(0)
    logs, ends = np.log(rng.random((7, 3))), np.array([0, 3, 3, 7])
    tables = np.log(rng.random(3)), np.log(rng.random((3, 3)))
    outs = [(np.zeros(7, dtype=np.int32), np.zeros(3)) for _ in range(2)]
    viterbi_paths(*tables, logs, ends, *outs[0])
    viterbi_paths.py_func(*tables, logs, ends, *outs[1])
    assert np.array_equal(outs[0][0], outs[1][0])
    assert np.array_equal(outs[0][1], outs[1][1])
    sums = np.cumsum(rng.random((3, 3)), axis=1)
    uniforms = rng.random((4, 5))
    drawn = [np.zeros((4, 5), dtype=np.int32) for _ in range(4)]
    draw_paths(sums[0], sums, uniforms, drawn[0])
    draw_paths.py_func(sums[0], sums, uniforms, drawn[1])
    assert np.array_equal(drawn[0], drawn[1])
    draw_symbols(sums, drawn[0], uniforms, drawn[2])
    draw_symbols.py_func(sums, drawn[0], uniforms, drawn[3])
    assert np.array_equal(drawn[2], drawn[3])
