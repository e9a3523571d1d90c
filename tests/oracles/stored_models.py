"""Writes the stored model files of the current formats, and what the models say before they are saved.

A stored file is written once, when its format is new, and then never again: it proves that later versions
still read it. Run `python tests/oracles/stored_models.py` only before a format is released.
"""

import json
import warnings
from pathlib import Path

import numpy as np

from tacit import ChowLiuTree, LatentTree
from tacit.errors import TacitWarning
from tacit.messages.mixture import Mixture

STORED = Path(__file__).parents[1] / "files" / "stored"

# Every kind of column, and names that are hard to write down.
COLUMNS = ["colour; 'a'", "size", "flag", "weight", "été\n木"]

MODELS = {
    "tables": LatentTree(2),
    "operators": LatentTree(2, learn="spectral", structure="star"),
    "chow-liu": ChowLiuTree(),
}
MIXTURES = {"mixture": (LatentTree(2, "star"), LatentTree(3))}


def rows(n_rows=240, seed=0):
    """Columns that all lean on one coin, with a few cells missing."""
    rng = np.random.default_rng(seed)
    coin = rng.integers(0, 2, n_rows)

    def noisy(rate):
        return np.where(rng.random(n_rows) < rate, 1 - coin, coin)

    table = {
        COLUMNS[0]: np.array(["red", "blue, green"], dtype=object)[noisy(0.1)],
        COLUMNS[1]: (noisy(0.2) * 3 - 1).astype(object),
        COLUMNS[2]: noisy(0.15).astype(bool).astype(object),
        COLUMNS[3]: coin + rng.normal(0, 0.5, n_rows),
        COLUMNS[4]: np.array(["", "é"], dtype=object)[noisy(0.3)],
    }
    for name in COLUMNS[:3]:
        table[name][rng.random(n_rows) < 0.1] = None
    return {name: column.tolist() for name, column in table.items()}


def answers(model):
    """Numbers that depend on everything that is stored."""
    queries = {name: column[:12] for name, column in rows(seed=1).items()}
    return {
        "components": [[tree.weight, tree.topology.to_newick()] for tree in model.trees_],
        "columns": model.schema_.to_json(),
        "newick": model.topology_.to_newick(),
        "log_prob": model.score_samples(queries).tolist(),
        "predicted": model.predict_proba(queries, target=COLUMNS[0]).tolist(),
        "imputed": model.impute({COLUMNS[2]: [True, None]}),
    }


def fitted(model):
    """The model, learnt from the rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TacitWarning)  # weights are cut into bins
        return model.fit(rows())


def mixed(models, weights=(0.375, 0.625)):
    """The first model with the trees of all."""
    model, *others = [fitted(name) for name in models]
    parts = (model.tables_, *(other.tables_ for other in others))
    mixture = Mixture(np.array(weights), parts)
    heaviest = (model, *others)[mixture.heaviest]
    model.topology_, model.tree_, model.parameters_ = heaviest.topology_, heaviest.tree_, mixture
    return model


def store(model, name):
    """Write the model and what it says, unless a file of that name was stored before."""
    path = STORED / f"{name}.tacit"
    if path.exists():
        print(path.name, "is there already: kept")
        return
    model.save(path)
    path.with_suffix(".json").write_text(json.dumps(answers(model), indent=1) + "\n")
    print(path.name, path.stat().st_size, "bytes")


if __name__ == "__main__":
    for name, model in MODELS.items():
        store(fitted(model), f"format-1-{name}")
    for name, models in MIXTURES.items():
        store(mixed(models), f"format-2-{name}")
