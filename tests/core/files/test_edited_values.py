"""Model files edited and signed again so that an answer would be NaN or a raw error: each is refused."""

import math

import numpy as np
import pytest

import tacit
from oracles.edited_files import edited
from oracles.stored_again import FOLDER
from tacit.core.files.container import read_file
from tacit.errors import ArgumentError, FileFormatError
from tacit.parsing.model.tag_chunks import TagChunker


@pytest.fixture
def stored(tmp_path):
    """A function that copies a stored file with a change of its header and arrays."""

    def change(name, change):
        path = tmp_path / f"{name}.tacit"
        path.write_bytes((FOLDER / path.name).read_bytes())
        edited(path, change=change)
        return path

    return change


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_symbol_that_is_no_finite_number_is_refused(stored, value):
    def change(header, _):
        header["symbols"][0] = value

    with pytest.raises(FileFormatError, match="no symbol"):
        tacit.load(stored("automaton-3-em", change))


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("name", ["format-3-chow-liu", "kernel-tree-3-bins"])
def test_a_category_that_is_no_finite_number_is_refused(stored, name, value):
    def change(header, _):
        column = next(one for one in header["schema"] if one.get("categories"))
        column["categories"][0] = value

    with pytest.raises(FileFormatError, match="no finite number"):
        tacit.load(stored(name, change))


@pytest.mark.parametrize(("field", "value"), [("centers", 1e100), ("widths", 1e100)])
def test_a_density_far_from_its_column_is_refused(stored, field, value):
    def change(_, arrays):
        arrays[f"encoders.0.{field}"][3] = value

    with pytest.raises(FileFormatError, match="far from all numbers"):
        tacit.load(stored("kernel-hmm-3-bells", change))


def test_features_that_are_not_those_of_the_kernel_are_refused(stored):
    def change(_, arrays):
        name = next(name for name in arrays if name.endswith(".inverse"))
        arrays[name][:] = 5e-324

    with pytest.raises(FileFormatError, match="not those of its kernel"):
        tacit.load(stored("kernel-hmm-3-kernels", change))


@pytest.mark.parametrize("value", [0.0, 1e-300, 1e13, 1e308])
def test_mean_counts_that_cannot_be_drawn_from_are_refused(stored, value):
    def change(_, arrays):
        arrays["parameters.density.rates"][0, 1] = value

    with pytest.raises(FileFormatError, match=r"rates.* is not between"):
        tacit.load(stored("hmm-3-poisson", change))


@pytest.mark.parametrize("name", ["hmm-3-poisson", "hmm-3-numbers", "hmm-3-tables"])
def test_symbols_beside_states_that_emit_numbers_and_columns_beside_others_are_refused(
    stored, name
):
    def change(header, _):
        header["names" if header["symbols"] else "symbols"] = ["a"]

    with pytest.raises(FileFormatError, match="but its states emit"):
        tacit.load(stored(name, change))


@pytest.mark.parametrize("value", [1.0, 7.0, 1e30])
def test_a_threshold_that_leaves_no_tree_is_refused(stored, value):
    def change(header, _):
        header["arguments"]["threshold"] = value

    model = tacit.load(stored("grammar-3-plain", change))
    with pytest.raises(ArgumentError, match="leaves no tree"):
        model.parse("Ann hears the dog of Bob")
    with pytest.raises(ArgumentError, match="leaves no tree"):
        tacit.LatentPCFG(threshold=value).fit(["(S (A a) (B b))"] * 3)


def test_a_sentence_whose_trees_have_no_probability_left_has_a_flat_tree(stored):
    def change(_, arrays):
        start = arrays["coarse.start"]
        arrays["coarse.start"] = np.where(start > 0, 1e-310, start)

    try:
        model = tacit.load(stored("grammar-3-plain", change))
    except FileFormatError:
        return
    assert model.parse("Ann hears the dog of Bob").leaves()[0][0] == "Ann"


def test_other_shrinkage_than_a_number_is_no_raw_error(stored):
    def change(header, _):
        header["diagnostics"]["shrinkage"] = "much"

    assert tacit.load(stored("gaussian-tree-3", change)).n_parameters_ > 0


def test_a_graph_with_other_variables_than_its_arguments_give_is_refused(stored):
    def change(header, _):
        header["arguments"]["order"] = 1
        edges = header["graph"]["edges"]
        edges[-1] = edges[-1][::-1]

    path = stored("other-3-higher-order", change)
    try:
        model = tacit.load(path)
    except FileFormatError:
        return
    with pytest.raises(FileFormatError, match="that its arguments give"):
        _ = model.n_parameters_


@pytest.mark.parametrize(
    ("name", "array"),
    [("hmm-3-operators", "parameters.operators.stop"), ("kernel-hmm-3-kernels", "parameters.stop")],
)
def test_operators_whose_products_vanish_are_refused(stored, name, array):
    def change(_, arrays):
        arrays[array] = np.full_like(arrays[array], 5e-324)

    with pytest.raises(FileFormatError, match="no probability"):
        tacit.load(stored(name, change))


def test_a_chunker_that_begins_inside_of_a_group_is_read_as_one_that_begins_it():
    inside = np.full((3, 3), -np.inf)
    inside[2] = 0.0
    chunker = TagChunker(("A", "B"), inside, np.zeros((3, 3, 4)), inside, frozenset())
    assert chunker.groups([("a", "A"), ("b", "B"), ("c", "A")]) == [(0, 3)]


@pytest.mark.parametrize("end", ["low", "high"])
def test_ends_of_a_column_that_are_no_numbers_are_refused(stored, end):
    def change(header, _):
        column = next(one for one in header["schema"] if end in one)
        column[end] = math.nan

    with pytest.raises(FileFormatError, match="two finite ends"):
        tacit.load(stored("gaussian-tree-3", change))


def test_extreme_weights_of_a_grammar_are_refused(stored):
    def change(_, arrays):
        name = next(name for name in arrays if name.endswith("start"))
        arrays[name] = np.full_like(arrays[name], 1e308)

    with pytest.raises(FileFormatError, match="exceeds"):
        tacit.load(stored("grammar-3-auto", change))


def test_an_extreme_dirichlet_distribution_is_refused(stored):
    def change(header, _):
        header["topics"]["alpha0"] = 1e308

    with pytest.raises(FileFormatError, match="alpha0"):
        tacit.load(stored("topics-3-lda", change))


def test_a_file_of_few_bytes_cannot_announce_many_symbols(tmp_path):
    path = tmp_path / "1.pautomac.train"
    path.write_text("2 9223372036854775807\n2 0 2\n0\n")
    with pytest.raises(FileFormatError, match="announces too many symbols"):
        tacit.HMM(n_states=2).fit(path)


def test_all_arrays_of_stored_files_are_as_they_were():
    """The new checks refuse no file that a model wrote."""
    for path in FOLDER.glob("*.tacit"):
        assert read_file(path)
        assert tacit.load(path).summary()
