"""The picture of states and transitions: what is drawn, what is left out, and that labels do not meet."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.patches import Circle, FancyArrowPatch

from oracles.letters import letters
from tacit import plot
from tacit.errors import ArgumentError, NotAvailableError
from tacit.sequences.hmm import HMM
from tacit.sequences.model.chains import ChainTables
from tacit.sequences.model.gaussian_hmm import GaussianChain
from tacit.sequences.probabilistic_automaton import ProbabilisticAutomaton
from tacit.sequences.weighted_automaton import WeightedAutomaton


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def model_of(transitions, emissions=None, start=None, symbols=None):
    """A fitted model with these tables."""
    k = len(transitions)
    model = HMM(k)
    table = np.eye(k) if emissions is None else np.asarray(emissions, dtype=float)
    first = np.full(k, 1 / k) if start is None else np.asarray(start, dtype=float)
    model.parameters_ = ChainTables(first, np.asarray(transitions, dtype=float), (table,))
    model.symbols_ = tuple(symbols or [f"s{n}" for n in range(table.shape[1])])
    model.names_, model.diagnostics_ = (), {}
    return model


def random_model(n_states, n_symbols, seed=0):
    rng = np.random.default_rng(seed)
    transitions = 0.5 * rng.dirichlet(np.full(n_states, 0.2), size=n_states) + 0.5 * np.eye(
        n_states
    )
    return model_of(transitions, rng.dirichlet(np.full(n_symbols, 0.3), size=n_states))


def discs(ax):
    return [patch for patch in ax.patches if isinstance(patch, Circle) and patch.get_fill()]


def rings(ax):
    return [patch for patch in ax.patches if isinstance(patch, Circle) and not patch.get_fill()]


def arrows(ax):
    return [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]


def test_lines_are_the_transitions_above_the_least():
    transitions = [[0.5, 0.46, 0.04], [0.2, 0.0, 0.8], [1.0, 0.0, 0.0]]
    ax = plot.transitions(model_of(transitions))
    assert (len(discs(ax)), len(arrows(ax)), len(rings(ax))) == (3, 4, 1)
    (widest,) = (
        arrow
        for arrow in arrows(ax)
        if arrow.get_linewidth() == max(other.get_linewidth() for other in arrows(ax))
    )
    places = {text.get_text(): text.get_position() for text in ax.texts[:3]}
    middle = widest.get_path().vertices
    np.testing.assert_allclose(
        widest._posA_posB, [places["2"], places["0"]], atol=1e-9
    )  # the move that is certain
    assert np.isfinite(middle).all()
    ax = plot.transitions(model_of(transitions), least=0.01)
    assert len(arrows(ax)) == 5


def test_what_is_left_out_is_noted():
    transitions = [[0.0, 0.96, 0.04], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    model = model_of(transitions)
    visits = model.parameters_.stationary
    note = plot.transitions(model).texts[-1].get_text().replace("\n", " ")
    assert "transitions of 5% and more" in note
    assert f"({100 * visits[0] * 0.04:.0f}% of all transitions are not drawn)" in note
    assert "not drawn" not in plot.transitions(model, least=0.0).texts[-1].get_text()


def test_states_that_are_visited_more_have_larger_discs():
    model = model_of([[0.3, 0.5, 0.2]] * 3)
    radii = [disc.get_radius() for disc in discs(plot.transitions(model))]
    assert np.argsort(radii).tolist() == np.argsort(model.parameters_.stationary).tolist()


def test_the_likeliest_symbols_stand_beside_each_state():
    emissions = [[0.7, 0.2, 0.1, 0.0], [0.0, 0.0, 0.0, 1.0]]
    model = model_of([[0.5, 0.5], [0.5, 0.5]], emissions, symbols=["a", "$b", "c", "d" * 30])
    labels = [text.get_text() for text in plot.transitions(model, n_symbols=2).texts]
    assert "a 70%\n$b 20%" in labels
    assert "d" * 15 + "… 100%" in labels


@pytest.mark.parametrize(("n_states", "n_symbols"), [(1, 2), (2, 2), (8, 50), (30, 50), (30, 2)])
def test_no_two_labels_meet_and_nothing_is_cut_off(n_states, n_symbols):
    ax = plot.transitions(random_model(n_states, n_symbols))
    renderer = ax.figure.canvas.get_renderer()
    frame = ax.get_window_extent(renderer)
    shown = [text for text in ax.texts if text.get_text()]
    # The box of turned text is not its own: those are checked by where they begin.
    upright = [text.get_window_extent(renderer) for text in shown if not text.get_rotation() % 180]
    for one, other in itertools.combinations(upright, 2):
        assert not one.overlaps(other)
    for text in shown:
        box = text.get_window_extent(renderer)
        assert box.x0 >= frame.x0 - 1
        assert box.x1 <= frame.x1 + 1
        assert box.y0 >= frame.y0 - 1
        assert box.y1 <= frame.y1 + 1


def test_of_very_many_states_the_most_visited_are_drawn():
    model = random_model(60, 5)
    ax = plot.transitions(model, max_states=12)
    shown = {int(text.get_text()) for text in ax.texts[:12]}
    assert shown == set(np.argsort(-model.parameters_.stationary)[:12].tolist())
    assert "12 of 60 states" in ax.texts[-1].get_text().replace("\n", " ")
    assert len(arrows(ax)) <= 36


def test_of_an_automaton_the_end_is_named():
    model = ProbabilisticAutomaton(n_states=2, learn="em", tied=False).fit(
        ["ab", "abab", "ab", ""] * 10
    )
    ax = plot.transitions(model)
    assert any("(end)" in text.get_text() for text in ax.texts)
    assert len(discs(ax)) == 2


def test_of_numbers_means_and_deviations_are_reported():
    model = HMM(2, emissions="gaussian")
    spread = np.array([[[4.0]], [[0.25]]])
    transitions = np.array([[0.9, 0.1], [0.1, 0.9]])
    model.parameters_ = GaussianChain(
        np.array([1.0, 0.0]), transitions, np.array([[1.5], [-3.0]]), spread, False
    )
    model.symbols_, model.names_, model.diagnostics_ = (), ("x0",), {}
    labels = {text.get_text() for text in plot.transitions(model).texts}
    assert {"1.5 ± 2", "-3 ± 0.5"} <= labels


def test_a_picture_goes_into_axes_that_are_there():
    _, axes = plt.subplots(1, 2, figsize=(6, 3))
    assert plot.transitions(random_model(8, 5), axes[1]) is axes[1]


def test_models_without_states_are_refused():
    weighted = WeightedAutomaton(rank=2).fit(letters(["ab", "abab", "ab"] * 10))
    with pytest.raises(NotAvailableError, match="no hidden states"):
        plot.transitions(weighted)
    with pytest.raises(NotAvailableError, match="fitted HMM"):
        plot.transitions(HMM(2))
    with pytest.raises(ArgumentError, match="least"):
        plot.transitions(random_model(2, 2), least=2)
