"""Writes the stored model file of a Gaussian tree, and what the model says before it is saved.

Like `stored_models`: written once, when the format is new, and then never again.
"""

import json
from pathlib import Path

import numpy as np

from tacit import GaussianTree

STORED = Path(__file__).parents[1] / "files" / "stored" / "gaussian-tree-1.tacit"


def rows(n_rows=120, seed=0):
    """Numbers, some of them missing, and categories that all lean on one number."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n_rows)
    noise = rng.normal(size=(n_rows, 4))
    return {
        "été; 'a'": np.exp(z + noise[:, 0]).round(6).tolist(),
        "b": [None if abs(x) > 1.5 else round(x, 6) for x in (z + noise[:, 1]).tolist()],
        "size": np.array(["s", "m", "l"])[np.digitize(z + noise[:, 2], [-0.5, 0.5])].tolist(),
        "flag": (z + noise[:, 3] > 0).tolist(),
    }


def answers(model):
    """Numbers that depend on everything that is stored."""
    queries = {name: column[:8] for name, column in rows(seed=1).items()}
    return {
        "columns": model.schema_.to_json(),
        "newick": model.topology_.to_newick(),
        "log_density": model.score_samples(queries).tolist(),
        "median": model.quantiles(queries, "b", 0.5).tolist(),
        "mean": model.expectation(queries, "été; 'a'").tolist(),
        "shares": model.predict_proba(queries, "size").tolist(),
    }


if __name__ == "__main__" and not STORED.exists():
    model = GaussianTree(margins="normal-scores", shrinkage=0.3).fit(rows())
    model.save(STORED)
    STORED.with_suffix(".json").write_text(json.dumps(answers(model), indent=1) + "\n")
