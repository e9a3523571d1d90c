"""The loops that choose leaves, against numpy, enumeration and their own source."""

import numpy as np
import pytest

from tacit.trees.loops import views as view_loops


def random_pairs(seed, cards):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(cards)])
    joint = rng.random((offsets[-1], offsets[-1]))
    return joint + joint.T, rng.random(offsets[-1]), rng.random(offsets[-1]), offsets


@pytest.mark.parametrize("n_values", [1, 2, 5])
def test_singular_values_of_pairs_are_numpy_s(n_values):
    joint, marginals, scale, offsets = random_pairs(0, [3, 4, 1, 5, 2])
    actual = view_loops.pair_spectra(joint, marginals, scale, offsets, n_values)
    scaled = scale[:, None] * (joint - np.outer(marginals, marginals)) * scale
    for i in range(5):
        for j in range(5):
            block = scaled[offsets[i] : offsets[i + 1], offsets[j] : offsets[j + 1]]
            values = np.linalg.svd(block, compute_uv=False)
            n_kept = min(len(values), n_values)
            if i != j and min(block.shape) <= n_values + view_loops.OVERSAMPLING:
                assert actual[i, j, :n_kept] == pytest.approx(values[:n_kept], rel=1e-9, abs=1e-12)
                assert not actual[i, j, n_kept:].any()


def test_of_a_large_table_they_are_a_close_lower_bound():
    rng = np.random.default_rng(0)
    low = rng.random((30, 3)) @ np.diag([1.0, 0.3, 0.1]) @ rng.random((3, 40))
    block = low + 1e-3 * rng.normal(size=low.shape)
    values = np.linalg.svd(block, compute_uv=False)[:3]
    actual = np.empty(5)
    view_loops.leading_values(block.copy(), 3, np.empty((5, 40)), actual)
    assert (actual[:3] <= values * (1 + 1e-9)).all()
    assert actual[:3] == pytest.approx(values, rel=0.1)


def test_zero_tables_have_no_singular_values():
    values = np.full(4, 7.0)
    view_loops.leading_values(np.zeros((3, 3)), 2, np.empty((4, 3)), values)
    assert not values.any()


def test_the_best_views_are_found_as_by_enumeration():
    rng = np.random.default_rng(1)
    spectra = rng.random((6, 6, 2))
    spectra = spectra + spectra.transpose(1, 0, 2)
    path_ranks = rng.integers(1, 3, size=(6, 6))
    path_ranks = np.maximum(path_ranks, path_ranks.T)
    spectra[:, :, 1] += 5 * (path_ranks < 2)  # what looks strongest cannot be of the rank
    inside = np.array([[1, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0], [0, 1, 0, 1, 1, 1]], dtype=bool)
    ranks = np.array([1, 2, 3])
    path_ranks[0, 3] = path_ranks[3, 0] = path_ranks[0, 5] = path_ranks[5, 0] = 3
    shown = np.full((6, 6), 2)  # nothing stands out at the rank of the last edge: it is judged at 2
    actual = view_loops.best_views(spectra, shown, path_ranks, inside, ranks, 2)
    chosen, views, strengths, reached = actual
    assert reached.tolist() == [1, 2, 2]
    for edge, rank in enumerate(ranks):
        usable = np.where(path_ranks >= rank, spectra[:, :, reached[edge] - 1], 0.0)
        scores = {
            leaf: np.sort(usable[leaf, ~inside[edge]])[::-1][:2]
            for leaf in np.flatnonzero(inside[edge])
        }
        best = max(scores, key=lambda leaf: (scores[leaf] ** 2).sum())
        assert chosen[edge] == best
        assert strengths[edge] == pytest.approx(scores[best])
        assert usable[best, views[edge]] == pytest.approx(scores[best])


def test_views_that_do_not_exist_are_marked():
    spectra = np.ones((2, 2, 1))
    inside = np.array([[True, False], [True, True]])
    ranks = np.array([1, 1])
    ones = np.ones((2, 2), np.int64)
    chosen, views, strengths, _ = view_loops.best_views(spectra, ones, ones, inside, ranks, 3)
    assert chosen.tolist() == [0, 0]
    assert views.tolist() == [[1, -1, -1], [-1, -1, -1]]
    assert strengths.tolist() == [[1, 0, 0], [0, 0, 0]]


def test_the_compiled_loops_agree_with_their_python_source(monkeypatch):
    joint, marginals, scale, offsets = random_pairs(2, [3, 2, 4])
    compiled = view_loops.pair_spectra(joint, marginals, scale, offsets, 2)
    path_ranks = shown = np.full((3, 3), 2)
    inside, ranks = np.eye(3, dtype=bool), np.array([1, 2, 2])
    chosen = view_loops.best_views(compiled, shown, path_ranks, inside, ranks, 2)
    monkeypatch.setattr(view_loops, "leading_values", view_loops.leading_values.py_func)
    assert compiled == pytest.approx(
        view_loops.pair_spectra.py_func(joint, marginals, scale, offsets, 2), rel=1e-12
    )
    for one, two in zip(
        chosen,
        view_loops.best_views.py_func(compiled, shown, path_ranks, inside, ranks, 2),
        strict=True,
    ):
        assert np.array_equal(one, two)
