"""Trees of numbers and categories to files and back."""

import numpy as np
import pytest

import tacit
from oracles.edited_files import edited
from oracles.number_tables import groups, laplaces
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


DAMAGE = {
    "no encoders": {"encoders": None},
    "too few encoders": {"encoders": lambda plain: plain[:-1]},
    "text for an encoder": {"encoders": lambda plain: ["bins", *plain[1:]]},
    "another kind": {"encoders": lambda plain: [{**plain[0], "kind": "basis"}, *plain[1:]]},
    "categories for numbers": {"encoders": lambda plain: [plain[3], *plain[1:]]},
    "other categories": {
        "encoders": lambda plain: [*plain[:3], {**plain[3], "size": 9}, *plain[4:]]
    },
    "no cuts": {"encoders.0.edges": None},
    "fewer cuts": {"encoders.0.edges": lambda array: array[:-1]},
    "NaN": {"encoders.0.margin.heights": lambda array: array * np.nan},
    "no weights": {"blend.weights": None},
    "fewer columns": {"schema": lambda plain: plain[:-1]},
    "an infinite limit": {"schema": lambda plain: [{**plain[0], "low": -np.inf}, *plain[1:]]},
    "other leaves": {"parameters.n_states": lambda array: array + 1},
}


def damaged(changes):
    def change(header, arrays):
        for name, new in changes.items():
            content = arrays if name in arrays else header
            if new is None:
                del content[name]
            else:
                content[name] = new(content[name])

    return change


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_file_is_refused(what, tmp_path):
    path = tmp_path / "model.tacit"
    tacit.KernelTree(2, "star", n_bins=8).fit(groups(200)).save(path)
    assert tacit.load(path).blend_ is not None
    edited(path, change=damaged(DAMAGE[what]))
    with pytest.raises(FileFormatError):
        tacit.load(path)


@pytest.mark.parametrize("what", ["margins.3.probabilities", "margins.0.heights"])
def test_operators_need_the_distributions_of_all_columns(what, tmp_path):
    path = tmp_path / "model.tacit"
    model = tacit.KernelTree(2, "star", "spectral").fit(groups(200))
    model.save(path)
    edited(path, {what: None})
    with pytest.raises(FileFormatError, match=what):
        tacit.load(path)
    model.save(path)
    edited(path, change=damaged({"margins": lambda plain: plain[::-1]}))
    with pytest.raises(FileFormatError, match="margins"):
        tacit.load(path)
