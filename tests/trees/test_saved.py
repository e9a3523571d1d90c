"""Models to files and back: the same answers, and clear words where a file is not one."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import tacit
from oracles.edited_files import edited
from tacit.core.files.saved_model import ModelFile
from tacit.errors import FileFormatError, MissingDataError, NotAvailableError, TopologyError


def words(n_rows, seed=0):
    """A table of strings, integers and missing cells, with dependence between its columns."""
    rng = np.random.default_rng(seed)
    cause = rng.integers(0, 2, n_rows)
    noisy = (cause[:, None] + (rng.random((n_rows, 4)) < 0.2)) % 2
    frame = pd.DataFrame(
        {
            "a b": np.array(["no", "yes"])[noisy[:, 0]],
            "ü": noisy[:, 1] * 10,
            'quoted "c"': noisy[:, 2].astype(bool),
            "d": np.array(["x", "y"])[noisy[:, 3]],
        }
    ).astype(object)
    return frame.mask(rng.random(frame.shape) < 0.1)


MODELS = {
    "auto": lambda: tacit.LatentTree(2, "star"),
    "spectral": lambda: tacit.LatentTree(2, "star", learn="spectral"),
    "chosen": tacit.LatentTree,
    "by node": lambda: tacit.LatentTree({"h": 3}, "('a b',ü,'quoted \"c\"',d)h;"),
    "chow-liu": tacit.ChowLiuTree,
    "class": lambda: tacit.LatentClass(2),
    "networkx": lambda: tacit.LatentTree(2, nx.star_graph(["h", "a b", "ü", 'quoted "c"', "d"])),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_answers_like_the_saved_one(name, tmp_path):
    rows = words(300)
    model = MODELS[name]().fit(rows)
    path = tmp_path / "model.tacit"
    model.save(path)
    loaded = tacit.load(path)
    assert type(loaded) is type(model)
    assert loaded.score_samples(rows).tolist() == model.score_samples(rows).tolist()
    assert loaded.categories_ == model.categories_
    assert loaded.node_states_ == model.node_states_
    assert loaded.topology_ == model.topology_
    assert loaded.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    assert loaded.sample(5, random_state=0).equals(model.sample(5, random_state=0))
    assert loaded.fit(rows).score(rows) == pytest.approx(model.score(rows), abs=1e-9)


def test_a_file_that_is_cut_off_or_foreign_is_refused(tmp_path):
    path = tmp_path / "model.tacit"
    tacit.ChowLiuTree().fit(words(50)).save(path)
    content = path.read_bytes()
    for part in (b"", content[:7], content[:100], content[:-8]):
        path.write_bytes(part)
        with pytest.raises(FileFormatError):
            tacit.load(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(FileFormatError):
        tacit.load(path)
    with pytest.raises(MissingDataError, match="nowhere"):
        tacit.load(tmp_path / "nowhere.tacit")


def test_a_model_that_was_not_fitted_leaves_no_file(tmp_path):
    with pytest.raises(Exception, match="not fitted"):
        tacit.LatentTree().save(tmp_path / "model.tacit")
    assert list(tmp_path.iterdir()) == []


def test_an_estimator_that_is_not_known_is_refused(tmp_path):
    path = tmp_path / "model.tacit"
    tacit.ChowLiuTree().fit(words(50)).save(path)
    edited(path, estimator="os.system")
    with pytest.raises(FileFormatError, match=r"os\.system"):
        tacit.load(path)


def test_every_estimator_that_can_be_saved_can_be_loaded():
    public = [getattr(tacit, name) for name in tacit.__all__]
    for kind in public:
        if isinstance(kind, type) and hasattr(kind, "save"):
            assert isinstance(kind._file, ModelFile)


def test_a_header_of_another_estimator_is_refused(tmp_path):
    path = tmp_path / "model.tacit"
    model = tacit.ChowLiuTree().fit([["a", "x"], ["b", "y"], ["b", "x"]])
    for name, lacking in (("KernelHMM", "names"), ("FactorialHMM", "graph")):
        model.save(path)
        edited(path, estimator=name)
        with pytest.raises(FileFormatError, match=f"'{lacking}' is missing"):
            tacit.load(path)
    model.save(path)
    edited(path, schema={})
    with pytest.raises(FileFormatError, match="columns"):
        tacit.load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda schema: schema[::-1],
        lambda schema: schema[1:],
        lambda schema: [schema[0], schema[0], *schema[2:]],
        lambda schema: [{**schema[0], "categories": ["x"]}, *schema[1:]],
        lambda schema: [{**schema[0], "categories": ["no", "no"]}, *schema[1:]],
        lambda schema: [{**schema[0], "name": 3}, *schema[1:]],
    ],
)
def test_columns_that_do_not_fit_the_tree_are_refused(tmp_path, change):
    path = tmp_path / "model.tacit"
    tacit.ChowLiuTree().fit(words(50)).save(path)
    edited(path, change=lambda header, _: header.update(schema=change(header["schema"])))
    with pytest.raises(FileFormatError):
        tacit.load(path)


def test_bif_and_back_is_the_same_distribution(tmp_path):
    rows = words(300)
    for model in (tacit.LatentTree(3, "star"), tacit.ChowLiuTree()):
        model.fit(rows).to_bif(tmp_path / "model.bif")
        restored = tacit.LatentTree.from_bif(tmp_path / "model.bif")
        assert restored.score_samples(rows) == pytest.approx(model.score_samples(rows), abs=1e-9)
        assert restored.query("d", {"ü": 10}) == pytest.approx(
            model.query("d", {"ü": 10}), abs=1e-9
        )
        restored.save(tmp_path / "back.tacit")
        assert tacit.load(tmp_path / "back.tacit").score(rows) == pytest.approx(
            restored.score(rows)
        )


def test_operators_have_no_bif_and_a_network_that_is_no_tree_is_refused(tmp_path):
    path = tmp_path / "model.bif"
    with pytest.raises(NotAvailableError, match="learn="):
        tacit.LatentTree(2, "star", learn="spectral").fit(words(300)).to_bif(path)
    assert not path.exists()
    path.write_text(
        "network n { }\n"
        + "".join(f"variable {v} {{ type discrete [ 2 ] {{ p, q }}; }}\n" for v in "abc")
        + "probability ( a ) { table 0.5, 0.5; }\nprobability ( b ) { table 0.5, 0.5; }\n"
        "probability ( c | a, b ) { (p, p) 0.5, 0.5; (p, q) 0.5, 0.5; (q, p) 0.5, 0.5; (q, q) 0.1, 0.9; }\n"
    )
    with pytest.raises(TopologyError, match="'c' depends on 2"):
        tacit.LatentTree.from_bif(path)
