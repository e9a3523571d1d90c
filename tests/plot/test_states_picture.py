"""The picture of the states of a sequence shows the Viterbi path beside the posterior."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_rgb

from tacit import plot
from tacit.errors import DataError, NotAvailableError
from tacit.plot import style
from tacit.sequences.hmm import HMM
from tacit.sequences.model.chains import ChainTables
from tacit.sequences.weighted_automaton import WeightedAutomaton


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def random_model(n_states, symbols, seed=0):
    rng = np.random.default_rng(seed)
    transitions = 0.3 * rng.dirichlet(np.ones(n_states), size=n_states) + 0.7 * np.eye(n_states)
    emit = rng.dirichlet(np.full(len(symbols), 0.3), size=n_states)
    model = HMM(n_states)
    model.parameters_ = ChainTables(np.full(n_states, 1 / n_states), transitions, (emit,))
    model.symbols_, model.names_, model.diagnostics_ = tuple(symbols), (), {}
    return model


def strip_of(ax):
    """(left, right, colour) of the boxes above the bands."""
    boxes = []
    for area in ax.collections:
        corners = area.get_paths()[0].vertices
        if corners[:, 1].min() > 1:
            boxes.append((corners[:, 0].min(), corners[:, 0].max(), tuple(area.get_facecolor()[0])))
    return sorted(boxes)


@pytest.mark.parametrize(("first", "last"), [(0, None), (4, 25)])
def test_the_strip_holds_the_path_in_the_colours_of_the_bands(first, last):
    model = random_model(3, "abcd")
    (sequence,) = model.sample(1, 30, random_state=3)
    path = model.predict([sequence])[0]
    assert len(set(path.tolist())) > 1
    ax = plot.states(model, sequence, first=first, last=last)
    drawn = {}
    for left, right, colour in strip_of(ax):
        for position in range(int(left + 0.5), int(right + 0.5)):
            drawn[position] = colour[:3]
    positions = range(first, 30 if last is None else last)
    assert drawn == {t: to_rgb(style.COLOURS[path[t]]) for t in positions}
    runs = [int(text.get_text()) for text in ax.texts]
    assert set(runs) <= set(path[first:last].tolist())
    assert ax.get_yticklabels()[-1].get_text() == "path"


def test_many_states_have_a_line_through_their_rows():
    model = random_model(9, "abcdef")
    (sequence,) = model.sample(1, 20, random_state=0)
    fig, ax = plt.subplots()
    assert plot.states(model, [sequence], ax) is ax
    assert any(isinstance(collection, QuadMesh) for collection in ax.collections)
    (line,) = ax.patches
    assert line.get_data().values.tolist() == model.predict([sequence])[0].tolist()
    assert fig.axes[0] is ax


def test_numbers_with_gaps_are_drawn_too():
    rng = np.random.default_rng(0)
    numbers = np.repeat([0.0, 5.0, 0.0], 20) + rng.normal(size=60)
    numbers[25:30] = np.nan
    model = HMM(2).fit(numbers)
    ax = plot.states(model, numbers)
    path = model.predict(numbers).tolist()
    runs = [path[t] for t in range(60) if t == 0 or path[t] != path[t - 1]]
    assert [int(text.get_text()) for text in ax.texts] == runs


def test_what_cannot_be_drawn_is_said():
    texts = [list("aabbab"), list("abab"), list("bbaab")]
    with pytest.raises(NotAvailableError, match="hidden states over time"):
        plot.states(WeightedAutomaton(2).fit(texts), "ab")
    with pytest.raises(DataError, match="one can be drawn"):
        plot.states(random_model(2, "ab"), texts)
