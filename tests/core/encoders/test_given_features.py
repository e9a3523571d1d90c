"""Features that users give: by name, as arrays, as functions; and what is refused."""

import numpy as np
import pytest

from tacit.core.encoders.given_features import GivenFeatures, are_given, plain_features
from tacit.errors import ArgumentError, ArgumentTypeError, TooExpensiveError

NAMES = ("colour", 7)
CATEGORIES = (("blue", "green", "red"), (0, 1))
CODES = np.array([[0, 1], [2, 0], [1, 1]])


def given(features):
    return GivenFeatures.of(features, NAMES, CATEGORIES)


def test_what_is_given_and_what_is_a_number():
    for features in ("joint", "concatenated", np.eye(2), {"colour": np.eye(3)}, len, [[1.0]]):
        assert are_given(features)
    for number in (3, np.int64(3), "auto"):
        assert not are_given(number)


def test_concatenated_and_joint_indicators_by_hand():
    assert given("concatenated")(CODES, (0, 1)).tolist() == [
        [1, 0, 0, 0, 1],
        [0, 0, 1, 1, 0],
        [0, 1, 0, 0, 1],
    ]
    assert given("joint")(CODES, (0, 1)).argmax(axis=1).tolist() == [1, 4, 3]
    assert given("joint")(CODES[:, [1]], (1,)).tolist() == [[0, 1], [1, 0], [0, 1]]
    assert given("joint")(CODES[:, :0], ()).shape == (3, 0)


def test_arrays_stand_for_categories_and_columns_not_named_have_indicators():
    vectors = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    expected = np.concatenate([vectors[CODES[:, 0]], np.eye(2)[CODES[:, 1]]], axis=1)
    assert np.array_equal(given({"colour": vectors})(CODES, (0, 1)), expected)
    both = GivenFeatures.of(vectors, ("x", "y"), (("a", "b", "c"), ("d", "e", "f")))
    assert both(np.array([[2, 0]]), (0, 1)).tolist() == [[5, 6, 1, 2]]


def test_a_function_gets_the_categories_of_the_variables_by_name():
    sides = []

    def phi(side):
        sides.append(side)
        return np.stack([side["colour"] == "red", side[7]], axis=1)

    assert given(phi)(CODES, (0, 1)).tolist() == [[0, 1], [1, 0], [0, 1]]
    assert list(sides[0]) == ["colour", 7]
    assert sides[0]["colour"].tolist() == ["blue", "red", "green"]
    mixed = GivenFeatures.of(phi, ("colour", 7), (("red", 3, None), (0, 1)))
    mixed(CODES, (0, 1))
    assert sides[1]["colour"].tolist() == ["red", None, 3]


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ("jont", "features='jont' is not known; did you mean 'joint'?"),
        (np.eye(4), r"features has the shape \(4, 4\), but 'colour' has 3 categories"),
        ({"colour": np.eye(2)}, r"features\['colour'\] has the shape \(2, 2\)"),
        ({"colour": np.ones(3)}, r"features\['colour'\] has the shape \(3,\)"),
        ({"colour": np.full((3, 1), np.nan)}, r"features\['colour'\] holds a number that is not"),
        (
            {"color": np.eye(3)},
            "features name 'color', which is no variable; did you mean 'colour'",
        ),
    ],
)
def test_wrong_names_and_shapes_get_one_clear_line(features, message):
    with pytest.raises(ArgumentError, match=message) as caught:
        given(features)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "features", [None, 2.5, True, {"colour": "red"}, {"colour": [[1, 2], [3]]}]
)
def test_what_is_no_feature_is_refused(features):
    with pytest.raises(ArgumentTypeError, match="give an integer"):
        given(features)


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        (
            np.zeros(3),
            ArgumentError,
            r"of \['colour', 7\] gave an array of shape \(3,\) for 3 rows",
        ),
        (np.zeros((2, 4)), ArgumentError, r"shape \(2, 4\) for 3 rows"),
        (np.zeros((3, 0)), ArgumentError, r"shape \(3, 0\) for 3 rows"),
        (np.full((3, 1), np.inf), ArgumentError, "a number that is not finite"),
        (np.full((3, 1), 1e51), ArgumentError, r"not finite, or beyond 1e[+]50"),
        ("text", ArgumentTypeError, "gave str, which is no array of numbers"),
        (np.zeros((3, 5000)), TooExpensiveError, "5,000 features of"),
    ],
)
def test_wrong_results_of_a_function_get_one_clear_line(result, error, message):
    with pytest.raises(error, match=message) as caught:
        given(lambda _: result)(CODES, (0, 1))
    assert "\n" not in str(caught.value)


def test_joint_categories_that_are_too_many_are_refused():
    many = GivenFeatures.of("joint", range(13), [(0, 1)] * 13)
    with pytest.raises(TooExpensiveError, match="8,192 features"):
        many(np.zeros((1, 13), dtype=int), range(13))


def test_files_hold_all_but_functions():
    class Model:
        features = None

    model = Model()
    for features, expected in (
        (3, 3),
        ("joint", "joint"),
        (np.eye(2), [[1, 0], [0, 1]]),
        ({"x": np.eye(1)}, {"x": [[1.0]]}),
        (len, None),
    ):
        model.features = features
        assert plain_features(model) == expected
