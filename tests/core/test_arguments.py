"""Arguments that make no sense are refused at the door, with words that say what to do."""

import numpy as np
import pytest

from tacit import ChowLiuTree, LatentClass, LatentTree
from tacit.core.arguments import check_choice, check_count, check_number, seed_from
from tacit.errors import ArgumentError, ArgumentTypeError, TacitError, TopologyError
from tacit.toy import random_tree_model

ROWS = random_tree_model(5, random_state=0).sample(60, random_state=1)


@pytest.mark.parametrize(
    ("argument", "value", "words"),
    [
        (
            "learn",
            "spectrall",
            "learn='spectrall' is not known; did you mean 'spectral'.*'mossel-roch'",
        ),
        ("learn", None, "learn=None is not known"),
        ("representation", "cube", "representation='cube'.*'matrix'"),
        ("negative", "zero", "negative='zero'.*'floor', 'nan', 'raise'"),
        ("unknown", "ignore", "unknown='ignore'.*'error', 'missing'"),
        ("n_views", 0, "n_views=0; give an integer of at least 1"),
        ("n_restarts", 0, "n_restarts=0"),
        ("max_iter", 0, "max_iter=0"),
        ("max_iter", "many", "max_iter='many'"),
        ("window", 0, "window=0.*None for all leaves"),
        ("tol", 0.0, "tol=0.0; give a positive number, or 'auto'"),
        ("tol", "small", "tol='small'"),
        ("tol", np.nan, "tol=nan"),
        ("stopping", "soon", "stopping='soon'.*'relative'"),
        ("pseudo_counts", -1.0, "pseudo_counts=-1.0.*'auto'"),
        ("pseudo_counts", "some", "pseudo_counts='some'"),
        ("pseudo_counts", np.inf, "pseudo_counts=inf"),
        ("n_bins", 1, "n_bins must be an integer of at least 2"),
        ("n_jobs", 0, "n_jobs=0; give a positive number"),
        ("n_jobs", 1.5, "n_jobs=1.5"),
        ("n_jobs", "all", "n_jobs='all'"),
        ("random_state", -1, "random_state=-1"),
        ("structure", "neighbor", "structure='neighbor' is not known.*'star'"),
        ("structure", "", "structure=''"),
        ("structure", "chow-li", "did you mean 'chow-liu'"),
    ],
)
def test_values_that_make_no_sense_are_refused(argument, value, words):
    model = LatentTree(2).set_params(**{argument: value})
    with pytest.raises(ArgumentError, match=words):
        model.fit(ROWS)
    assert not hasattr(model, "network_")


@pytest.mark.parametrize(
    ("argument", "value", "words"),
    [
        ("progress", "yes", "progress='yes'"),
        ("features", 1.5, "features=1.5"),
        ("random_state", "seed", "random_state='seed'"),
        ("structure", 7, "Newick"),
        ("structure", None, "Newick"),
    ],
)
def test_kinds_of_values_that_are_not_understood_are_refused(argument, value, words):
    with pytest.raises(ArgumentTypeError, match=words):
        LatentTree(2).set_params(**{argument: value}).fit(ROWS)


@pytest.mark.parametrize(
    ("structure", "words"),
    [
        ("((x0,x1),(x2,x3));", "columns missing from the tree: 'x4'"),
        ("((x0,x1),(x2,x3),(x4,y));", "leaves of the tree that are no columns: 'y'"),
        ("((x0,x1),(x2,x3),xx4);", "'x4' .did you mean 'xx4'"),
        ("((x0,x1),(x2,x3),x4", "the text ends before"),
        ([("h", "x0"), ("h", "x1"), ("x0", "x1")], "cycle"),
        ([("h", "x0"), ("g", "x1")], "nothing joins"),
    ],
)
def test_trees_that_do_not_fit_the_columns_say_where(structure, words):
    model = LatentTree(2, structure)
    with pytest.raises(TopologyError, match=words):
        model.fit(ROWS)
    assert not hasattr(model, "network_")


@pytest.mark.parametrize(
    ("argument", "value"),
    [("pseudo_counts", -1.0), ("unknown", "ignore"), ("n_jobs", 0), ("n_bins", 0)],
)
def test_a_chow_liu_tree_checks_its_arguments_too(argument, value):
    model = ChowLiuTree().set_params(**{argument: value})
    with pytest.raises(ArgumentError, match=argument):
        model.fit(ROWS)
    assert not hasattr(model, "network_")


def test_every_error_is_ours_and_a_built_in_one():
    for change in ({"learn": "x"}, {"n_states": 2.5}, {"structure": "(a,b);"}):
        with pytest.raises(TacitError):
            LatentTree().set_params(**change).fit(ROWS)
    with pytest.raises(ValueError, match="not known"):
        LatentClass(learn="x").fit(ROWS)


def test_policies_are_checked_when_used():
    model = LatentTree(2).fit(ROWS).set_params(unknown="ignore")
    with pytest.raises(ArgumentError, match="unknown='ignore'"):
        model.score(ROWS)
    with pytest.raises(ArgumentError, match="unknown='ignore'"):
        model.query("x0")
    with pytest.raises(ArgumentError, match="n_jobs=0"):
        model.set_params(unknown="error", n_jobs=0).score(ROWS)


def test_choices_that_are_near_are_suggested_and_others_listed():
    check_choice("way", "left", ("left", "right"))
    with pytest.raises(
        ArgumentError, match=r"did you mean 'right'\? Choose one of 'left', 'right'"
    ):
        check_choice("way", "rigth", ("left", "right"))
    with pytest.raises(ArgumentError, match=r"way=3 is not known\. Choose"):
        check_choice("way", 3, ("left", "right"))


def test_counts_and_numbers():
    check_count("n", np.int64(3))
    check_count("n", None, none_is="all")
    check_number("x", np.float32(0.0))
    check_number("x", 2, positive=True)
    check_number("x", "auto", word="auto")
    for value in (None, True, 1.0, "1"):
        with pytest.raises(ArgumentError, match="n="):
            check_count("n", value)
    for value in (None, True, "auto", -0.1, complex(1, 0)):
        with pytest.raises(ArgumentError, match="x="):
            check_number("x", value)


def test_seeds():
    assert seed_from(np.int64(7)) == 7
    assert seed_from(np.random.default_rng(0)) == seed_from(np.random.default_rng(0))
    assert seed_from(np.random.RandomState(0)) == seed_from(np.random.RandomState(0))
    assert seed_from(None) != seed_from(None)
    with pytest.raises(ArgumentTypeError, match="random_state=True"):
        seed_from(True)
