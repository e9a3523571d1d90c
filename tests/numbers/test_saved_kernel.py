"""Trees of numbers and categories to files and back."""

import numpy as np
import pytest

import tacit
from oracles.number_tables import groups, laplaces
from tacit.core.files.model_files import read_model, write_model
from tacit.errors import FileFormatError

MODELS = {
    "bins": lambda: tacit.KernelTree(2, "star"),
    "chosen": tacit.KernelTree,
    "several": lambda: tacit.KernelTree(4, n_components=2, n_bins=6),
    "kernels": lambda: tacit.KernelTree(3, learn="spectral"),
    "kernels of numbers": lambda: tacit.KernelTree(3, learn="spectral", normal_scores=False),
    "alone": lambda: tacit.KernelTree(2, "star", blend=False),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_answers_like_the_saved_one(name, tmp_path):
    table = groups(500, missing=0.1)
    model = MODELS[name]().fit(table)
    path = tmp_path / "model.tacit"
    model.save(path)
    loaded = tacit.load(path)
    assert loaded.get_params() == model.get_params()
    known = {key: column for key, column in table.items() if key != "plain"}
    for ask in (
        lambda each: each.score_samples(table),
        lambda each: each.expectation(known, "plain"),
        lambda each: each.quantiles(known, "plain", [0.1, 0.9]),
        lambda each: each.conditional_density(known, "plain")[1],
        lambda each: each.predict_proba(known, "word"),
    ):
        assert np.array_equal(ask(loaded), ask(model))
    assert loaded.sample(5, random_state=0) == model.sample(5, random_state=0)
    assert loaded.impute(known) == model.impute(known)
    assert loaded.topology_ == model.topology_
    assert loaded.categories_ == model.categories_
    assert loaded.diagnostics_.keys() == model.diagnostics_.keys()
    assert loaded.feature_names_in_.tolist() == list(table)


def test_a_hidden_node_between_two_columns_survives(tmp_path):
    rows = laplaces(300)
    model = tacit.KernelTree().fit(rows)
    model.save(tmp_path / "model.tacit")
    loaded = tacit.load(tmp_path / "model.tacit")
    assert loaded.topology_.hidden == ("h",)
    assert loaded.node_states_ == model.node_states_
    assert np.array_equal(loaded.score_samples(rows), model.score_samples(rows))
    assert np.array_equal(loaded.fit(rows).score_samples(rows), model.score_samples(rows))


def damaged(header, arrays, what):
    """A header and arrays of which one thing is wrong."""
    header, arrays = dict(header), dict(arrays)
    if what == "no encoders":
        del header["encoders"]
    elif what == "too few encoders":
        header["encoders"] = header["encoders"][:-1]
    elif what == "text for an encoder":
        header["encoders"] = ["bumps", *header["encoders"][1:]]
    elif what == "another kind":
        header["encoders"] = [{"kind": "bells", "bandwidth": 1.0}, *header["encoders"][1:]]
    elif what == "categories for numbers":
        header["encoders"] = [{"kind": "indicator", "size": 8}, *header["encoders"][1:]]
    elif what == "other categories":
        header["encoders"] = [*header["encoders"][:3], {"kind": "indicator", "size": 9}]
        header["encoders"].append({})
    elif what == "no cuts":
        del arrays["encoder.0.edges"]
    elif what == "fewer cuts":
        arrays["encoder.0.edges"] = arrays["encoder.0.edges"][:-1]
    elif what == "NaN":
        arrays["encoder.0.heights"] = np.full_like(arrays["encoder.0.heights"], np.nan)
    elif what == "no weights":
        del arrays["blend.weights"]
    elif what == "fewer columns":
        header["schema"] = header["schema"][:-1]
    return header, arrays


@pytest.mark.parametrize(
    "what",
    [
        "no encoders",
        "too few encoders",
        "text for an encoder",
        "another kind",
        "categories for numbers",
        "other categories",
        "no cuts",
        "fewer cuts",
        "NaN",
        "no weights",
        "fewer columns",
    ],
)
def test_a_damaged_file_is_refused(what, tmp_path):
    path = tmp_path / "model.tacit"
    tacit.KernelTree(2, "star", n_bins=8).fit(groups(200)).save(path)
    assert tacit.load(path).blend_ is not None
    write_model(path, *damaged(*read_model(path), what))
    with pytest.raises(FileFormatError):
        tacit.load(path)


@pytest.mark.parametrize("what", ["probabilities", "heights"])
def test_operators_need_the_distributions_of_all_columns(what, tmp_path):
    path = tmp_path / "model.tacit"
    tacit.KernelTree(2, "star", "spectral").fit(groups(200)).save(path)
    header, arrays = read_model(path)
    place = 3 if what == "probabilities" else 0
    write_model(path, header, {k: v for k, v in arrays.items() if k != f"margin.{place}.{what}"})
    with pytest.raises(FileFormatError):
        tacit.load(path)
    header["margins"] = None
    write_model(path, header, arrays)
    with pytest.raises(FileFormatError, match="margins"):
        tacit.load(path)
