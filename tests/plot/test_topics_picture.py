"""The picture of topics."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from tacit.errors import ArgumentError, NotAvailableError
from tacit.plot.topic_weights import topics
from tacit.topics.model.topics import Topics
from tacit.topics.topic_model import TopicModel


@pytest.fixture
def model():
    fitted = TopicModel(3)
    words = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7], [0.2, 0.7, 0.1]])
    fitted.topics_ = Topics(words, np.array([0.5, 0.3, 0.2]), 1.0)
    fitted.words_ = ("price", "$", "a" * 50)
    fitted.diagnostics_ = {}
    yield fitted
    plt.close("all")


def test_bars_are_weights_and_labels_are_words(model):
    ax = topics(model, n_words=2, max_label=12)
    assert [bar.get_width() for bar in ax.patches] == [0.5, 0.3, 0.2]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [r"0  price \$", "1  aaaaaaaaaaa…", r"2  \$ price"]
    assert ax.yaxis_inverted()  # the heaviest on top
    ax.figure.canvas.draw()


def test_topics_that_are_not_drawn_are_counted(model):
    _, axes = plt.subplots()
    ax = topics(model, axes, n_topics=2)
    assert ax is axes
    assert len(ax.patches) == 2
    assert ax.get_xlabel() == "share of all words\nand 1 more topic"


def test_words_begin_at_one_place_and_rows_do_not_overlap(model):
    weights = np.full(12, 1 / 12)
    model.topics_ = Topics(np.tile(model.topics_.words, (4, 1)), weights, 0.0)
    _, small = plt.subplots(figsize=(6, 1.5), layout="constrained")
    for ax in (topics(model), topics(model, small)):
        ax.figure.canvas.draw()
        boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
        assert np.ptp([box.x0 for box in boxes]) < 1.0  # of a pixel
        assert min(box.x0 for box in boxes) > ax.get_window_extent().x1
        assert max(box.x1 for box in boxes) <= ax.figure.bbox.x1
        middles = np.array([0.5 * (box.y0 + box.y1) for box in boxes])
        assert (-np.diff(middles) > [0.7 * box.height for box in boxes[1:]]).all()
        assert ax.get_xlabel() == "share of all documents"


def test_what_has_no_topics_is_refused(model):
    with pytest.raises(NotAvailableError, match="TopicModel has no topics"):
        topics(TopicModel(3))
    with pytest.raises(ArgumentError, match="n_words=0"):
        topics(model, n_words=0)
