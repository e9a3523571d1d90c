"""The right model of a table."""

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.errors import ColumnError

RNG = np.random.default_rng(0)
GROUP = RNG.integers(2, size=200)
TABLE = {
    "group": np.where(GROUP, "one", "two"),
    "answer": np.where(RNG.random(200) < 0.8, GROUP, 1 - GROUP),
    "size": RNG.normal(GROUP, 1.0),
}


def test_numbers_make_a_kernel_tree_and_categories_a_latent_tree():
    assert isinstance(tacit.fit_table(TABLE), tacit.KernelTree)
    assert isinstance(tacit.fit_table(TABLE, columns={"size": "ignore"}), tacit.LatentTree)
    categories = {name: TABLE[name] for name in ("group", "answer")}
    assert isinstance(tacit.fit_table(categories), tacit.LatentTree)
    assert isinstance(tacit.fit_table(categories, columns={"answer": "number"}), tacit.KernelTree)


def test_it_is_the_same_model_as_that_of_the_class():
    model = tacit.fit_table(pd.DataFrame(TABLE), n_jobs=1)
    alike = tacit.KernelTree(n_jobs=1).fit(pd.DataFrame(TABLE))
    assert np.array_equal(model.score_samples(TABLE), alike.score_samples(TABLE))


def test_arguments_go_to_the_model():
    said = []
    model = tacit.fit_table(
        TABLE,
        sample_weight=np.ones(200),
        validation=TABLE,
        effort="low",
        unknown="missing",
        progress=lambda *report: said.append(report),
        random_state=3,
    )
    assert said
    assert (model.effort, model.unknown, model.random_state) == ("low", "missing", 3)
    assert model.predict_proba({"group": ["three"]}, target="answer").shape == (1, 2)


def test_a_misspelt_column_is_named():
    with pytest.raises(ColumnError, match="did you mean 'size'"):
        tacit.fit_table(TABLE, columns={"siz": "number"})


def test_chunks_are_read_like_one_table():
    frame = pd.DataFrame(TABLE)
    together = tacit.fit_table(frame, n_jobs=1)
    apart = tacit.fit_table([frame.iloc[:70], frame.iloc[70:]], n_jobs=1)
    assert apart.score(frame) == pytest.approx(together.score(frame), rel=1e-12)


@pytest.mark.parametrize(
    "model",
    [tacit.KernelTree(), tacit.KernelTree(experts="tree"), tacit.GaussianTree()],
    ids=["experts", "tree", "Gaussian"],
)
def test_drawn_counts_are_whole_and_other_numbers_are_not(model):
    rng = np.random.default_rng(3)
    visits = rng.poisson(np.where(GROUP, 40.0, 15.0))
    drawn = model.fit(TABLE | {"visits": visits}).sample(50, random_state=0)
    counts = np.asarray(drawn["visits"], dtype=np.float64)
    assert np.array_equal(counts, np.rint(counts))
    assert (counts >= 0).all()
    sizes = np.asarray(drawn["size"], dtype=np.float64)
    assert not np.array_equal(sizes, np.rint(sizes))
