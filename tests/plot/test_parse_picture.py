"""Pictures of parse trees: what stands where."""

import itertools

import pytest

from tacit.errors import ArgumentError, ArgumentTypeError
from tacit.parsing.data.parse_trees import read_trees

plt = pytest.importorskip("matplotlib.pyplot")

from tacit.plot import style  # noqa: E402
from tacit.plot.parse_trees import parse  # noqa: E402

TEXT = "(S (NP (D the) (N cat)) (VP (V saw) (NP (D a) (N dog))))"


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def places(axes):
    return [(text.get_text(), *text.get_position()) for text in axes.texts]


def test_words_stand_from_left_to_right_on_one_line():
    axes = parse(TEXT)
    words = {"the", "cat", "saw", "a", "dog"}
    leaves = [(x, word) for word, x, y in places(axes) if word in words and y == 0]
    assert [word for _, word in sorted(leaves)] == ["the", "cat", "saw", "a", "dog"]


def test_brackets_stand_above_what_they_hold():
    axes = parse(read_trees([TEXT])[0])
    at = {text: (x, y) for text, x, y in places(axes)}
    assert at["S"][1] > at["VP"][1] > at["V"][1] > at["saw"][1]
    assert at["the"][0] < at["S"][0] < at["dog"][0]
    x, y = axes.get_xlim(), axes.get_ylim()
    assert all(x[0] < a < x[1] and y[0] < b < y[1] for a, b in at.values())


def test_lines_cross_nothing():
    axes = parse("(S (A (N a)) (M b) (V (V c) (V (W d) (X (Y e) (Z f)))) (M g))")
    pieces = []  # level or upright: (fixed, from, to)
    for line in axes.lines:
        xs, ys = line.get_data()
        for (x, y), (u, v) in itertools.pairwise(zip(xs, ys, strict=True)):
            assert x == u or y == v
            pieces.append(((x, u), (y, v)))
    for (x, _), (y, v) in (piece for piece in pieces if piece[0][0] == piece[0][1]):
        for (left, right), (level, _) in (piece for piece in pieces if piece[1][0] == piece[1][1]):
            inside = min(left, right) + 1e-9 < x < max(left, right) - 1e-9
            # What meets a bar ends there.
            assert not (inside and min(y, v) + 1e-9 < level < max(y, v) - 1e-9)


def test_what_the_other_tree_has_not_is_seen():
    other = "(S (NP (D the) (N cat)) (VP (V saw) (D a) (N dog)))"
    axes = parse(TEXT, compare=other)
    odd = [text.get_text() for text in axes.texts if text.get_color() == style.VERMILION]
    assert odd == ["NP"]
    assert axes.get_title(loc="left").startswith("1 ")


def test_it_draws_where_it_is_reported():
    _, axes = plt.subplots()
    assert parse(TEXT, axes) is axes


def test_what_is_no_tree_is_refused():
    with pytest.raises(ArgumentTypeError, match="a list is no tree"):
        parse(["a"])
    with pytest.raises(ArgumentError, match="holds 2 trees"):
        parse("(A b) (C d)")
    with pytest.raises(ArgumentError, match="different words"):
        parse(TEXT, compare="(S (N x))")
    with pytest.raises(ArgumentError, match="max_words=3"):
        parse(TEXT, max_words=3)
