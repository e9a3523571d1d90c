"""The picture of states over time shows what `smooth` says, with the symbols below."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import QuadMesh

from oracles.letters import letters
from tacit import plot
from tacit.errors import ArgumentError, CategoryError, DataError, NotAvailableError
from tacit.sequences.hmm import HMM
from tacit.sequences.model.chains import ChainTables
from tacit.sequences.weighted_automaton import WeightedAutomaton


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def random_model(n_states, symbols, seed=0):
    rng = np.random.default_rng(seed)
    transitions = 0.5 * rng.dirichlet(np.ones(n_states), size=n_states) + 0.5 * np.eye(n_states)
    emit = rng.dirichlet(np.full(len(symbols), 0.3), size=n_states)
    model = HMM(n_states)
    model.parameters_ = ChainTables(np.full(n_states, 1 / n_states), transitions, (emit,))
    model.symbols_, model.names_, model.diagnostics_ = tuple(symbols), (), {}
    return model


def areas(ax):
    """(time, state) heights of the areas."""
    paths = []
    for area in ax.collections:
        (path,) = area.get_paths()
        paths.append(path)
    return paths


def ticks(ax):
    return [text.get_text() for text in ax.get_xticklabels()]


def test_areas_of_few_states_are_their_probabilities():
    model = random_model(3, "ab")
    ax = plot.posterior(model, "abba")
    posterior = model.posterior(letters(["abba"]))[0]
    tops = np.cumsum(posterior, axis=1)
    for state, path in enumerate(areas(ax)):
        at_two = [y for x, y in path.vertices if x == 1.5]
        low = tops[2, state - 1] if state else 0.0
        assert any(abs(y - low) < 1e-9 for y in at_two)
        assert any(abs(y - tops[2, state]) < 1e-9 for y in at_two)
    assert ticks(ax) == list("abba")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "state 0",
        "state 1",
        "state 2",
    ]


def test_rows_of_many_states_are_their_probabilities():
    model = random_model(8, [f"word{n}" for n in range(50)])
    (sequence,) = model.sample(1, 30, random_state=0)
    ax = plot.posterior(model, [sequence])
    (mesh,) = [collection for collection in ax.collections if isinstance(collection, QuadMesh)]
    np.testing.assert_allclose(np.asarray(mesh.get_array()), model.posterior([sequence])[0].T)
    assert ticks(ax) == sequence


def test_a_part_is_shown_of_what_the_whole_says():
    model = random_model(8, "abc")
    sequence = "abcabcabca"
    ax = plot.posterior(model, sequence, first=3, last=7)
    (mesh,) = [collection for collection in ax.collections if isinstance(collection, QuadMesh)]
    np.testing.assert_allclose(
        np.asarray(mesh.get_array()), model.posterior([list(sequence)])[0][3:7].T
    )
    assert ax.get_xlim() == (2.5, 6.5)
    assert ticks(ax) == list("abca")


def test_a_list_of_words_is_one_sequence():
    model = random_model(2, ["dog", "cat"])
    assert ticks(plot.posterior(model, ["dog", None, "cat"])) == ["dog", "?", "cat"]
    assert ticks(plot.posterior(model, np.array(["cat"]))) == ["cat"]
    with pytest.raises(CategoryError, match="'cow' at position 1"):
        plot.posterior(model, ["dog", "cow"])


def test_missing_symbols_are_marked():
    model = random_model(2, "ab")
    assert ticks(plot.posterior(model, [["a", None, "b"]])) == ["a", "?", "b"]


@pytest.mark.parametrize("length", [1, 500])
def test_short_and_long_sequences_are_drawn(length):
    model = random_model(2, ["yes", "no"])
    ax = plot.posterior(model, model.sample(1, length, random_state=0))
    ax.figure.canvas.draw()
    assert ax.get_xlim() == (-0.5, length - 0.5)
    assert ax.get_xlabel() == ("symbols at the position 0" if length == 1 else "position")
    assert ax.figure.get_size_inches()[0] <= 14


def test_symbols_on_the_axis_do_not_meet():
    model = random_model(3, [f"word{n}" for n in range(20)])
    ax = plot.posterior(model, model.sample(1, 40, random_state=1))
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.get_xticklabels()]
    assert all(one.x1 <= other.x0 + 1 for one, other in itertools.pairwise(boxes))


def test_what_cannot_be_drawn_is_refused():
    model = random_model(2, "ab")
    with pytest.raises(DataError, match="2 sequences"):
        plot.posterior(model, [["a", "b"], ["b", "a"]])
    with pytest.raises(DataError, match="empty"):
        plot.posterior(model, [[]])
    with pytest.raises(CategoryError):
        plot.posterior(model, "abz")
    with pytest.raises(ArgumentError, match="positions 0 to 2"):
        plot.posterior(model, "aba", first=2, last=9)
    with pytest.raises(NotAvailableError, match="fitted HMM"):
        plot.posterior(HMM(2), "ab")
    weighted = WeightedAutomaton(rank=2).fit(letters(["ab", "abab", "ab"] * 10))
    with pytest.raises(NotAvailableError, match="hidden states"):
        plot.posterior(weighted, "ab")
