"""Distances of the words of a sentence from a table."""

import numpy as np

from tacit.parsing.model.tag_distances import TagDistances

TABLE = np.arange(8.0).reshape(2, 2, 2)


def test_distances_go_by_the_tags_in_order_and_stop_at_the_end_of_the_table():
    actual = TagDistances(("N", "V"), TABLE).of_sentence("NVNN")
    assert np.array_equal(actual, actual.T)
    assert actual[0, 1] == TABLE[0, 1, 0]
    assert actual[1, 2] == TABLE[1, 0, 0]
    assert actual[0, 2] == TABLE[0, 0, 1]
    assert actual[0, 3] == TABLE[0, 0, 1]


def test_unknown_tags_have_mean_distances():
    actual = TagDistances(("N", "V"), TABLE).of_sentence("N?")
    assert actual[0, 1] == TABLE[0, :, 0].mean()
    assert TagDistances(("N", "V"), TABLE).of_sentence("").shape == (0, 0)
