"""Writes the stored model files of kernel trees, and what the models say before they are saved.

Like `stored_models`: written once, when the format is new, and then never again.
"""

import json
from pathlib import Path

import numpy as np

from tacit import KernelTree

FOLDER = Path(__file__).parents[1] / "files" / "stored"
MODELS = {
    "kernel-tree-1-bins": lambda: KernelTree(2, "star", n_bins=4),
    "kernel-tree-1-kernels": lambda: KernelTree(
        2, "star", "spectral", bandwidth=0.5, n_features=8, n_views=2
    ),
    "kernel-tree-2-mixture": lambda: KernelTree(2, n_components=2, n_bins=3, blend=False),
    "kernel-tree-3-experts": lambda: KernelTree(2, "star", n_bins=4, blend=False),
    "kernel-tree-3-atoms": lambda: KernelTree(2, "star", n_bins=4, blend=False),
    "kernel-tree-3-neighbours": lambda: KernelTree(2, "star", n_bins=6, experts=()),
    "kernel-tree-3-groups": lambda: KernelTree(
        2, "star", "spectral", kernel="laplacian", groups={"both": ["été; 'a'", "b"]}, n_features=8
    ),
    "kernel-tree-3-observed": lambda: KernelTree(
        structure="chow-liu", learn="spectral", n_features=8, blend=False
    ),
}


def rows(n_rows=150, seed=0, *, atoms=False, repeats=False):
    """Numbers, some of them missing or often zero, and categories that all lean on one number.

    With repeats: rows that are near one of twelve.
    """
    if repeats:
        return repeated_rows(n_rows, seed)
    rng = np.random.default_rng(seed)
    z = rng.choice([-1.0, 1.0], size=n_rows)
    noise = rng.normal(size=(n_rows, 4))
    first = np.exp(z + noise[:, 0]).round(6)
    return {
        "été; 'a'": np.where(atoms & (noise[:, 0] < -0.3 * z - 0.5), 0.0, first).tolist(),
        "b": [None if abs(x) > 2.2 else round(x, 6) for x in (z + noise[:, 1]).tolist()],
        "size": np.array(["s", "m", "l"])[np.digitize(z + noise[:, 2], [-0.5, 0.5])].tolist(),
        "flag": (z + noise[:, 3] > 0).tolist(),
    }


def repeated_rows(n_rows, seed):
    """Rows that are near one of twelve."""
    kinds = np.random.default_rng(0).uniform(-3, 3, size=(12, 2))
    rng = np.random.default_rng(seed)
    drawn = rng.integers(12, size=n_rows)
    numbers = (kinds[drawn] + 0.02 * rng.normal(size=(n_rows, 2))).round(6)
    return {
        "été; 'a'": numbers[:, 0].tolist(),
        "b": numbers[:, 1].tolist(),
        "size": np.array(["s", "m", "l"])[drawn % 3].tolist(),
        "flag": (drawn < 6).tolist(),
    }


def answers(model):
    """Numbers that depend on everything that is stored."""
    atoms = bool(model.atoms_)
    repeats = getattr(model.blend_, "neighbours", None) is not None
    queries = {
        name: column[:8] for name, column in rows(seed=1, atoms=atoms, repeats=repeats).items()
    }
    known = {}
    if repeats:
        gaps = queries | {"b": [None, *queries["b"][1:]], "size": [*queries["size"][:7], None]}
        imputed = model.impute(gaps)
        known["imputed"] = [float(imputed["b"][0]), ["s", "m", "l"].index(imputed["size"][7])]
    if atoms:
        known["atoms"] = model.atom_probabilities(queries, "été; 'a'").ravel().tolist()
    return known | {
        "columns": model.schema_.to_json(),
        "newick": model.topology_.to_newick(),
        "log_density": model.score_samples(queries).tolist(),
        "median": model.quantiles(queries, "b", 0.5).tolist(),
        "mean": model.expectation(queries, "été; 'a'").tolist(),
        "shares": model.predict_proba(queries, "size").ravel().tolist(),
        "density": model.conditional_density(queries, "b", [-1.0, 0.0, 1.0])[1].ravel().tolist(),
    }


if __name__ == "__main__":
    for name, make in MODELS.items():
        path = FOLDER / f"{name}.tacit"
        if not path.exists():
            repeats = name.endswith("neighbours")
            model = make().fit(rows(atoms=name.endswith("atoms"), repeats=repeats))
            model.save(path)
            path.with_suffix(".json").write_text(json.dumps(answers(model), indent=1) + "\n")
