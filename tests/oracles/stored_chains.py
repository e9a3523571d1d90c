"""Writes the stored model files of sequences of numbers, and what the models say before they are saved.

Like `stored_models`: written once, when the format is new, and then never again.
"""

import json
from pathlib import Path

import numpy as np

from tacit import KernelHMM

FOLDER = Path(__file__).parents[1] / "files" / "stored"
MODELS = {
    "kernel-hmm-1-bells": lambda: KernelHMM(
        2, n_basis=4, bandwidth=1.0, n_components=2, max_iter=20
    ),
    "kernel-hmm-1-kernels": lambda: KernelHMM(2, "spectral", bandwidth=0.5),
    "kernel-hmm-3-vectors": lambda: KernelHMM(2, "spectral", bandwidth=3.0),
}


def series(n=300, seed=0):
    """Calm and wild stretches, with a gap."""
    rng = np.random.default_rng(seed)
    wild = np.repeat(rng.integers(0, 2, -(-n // 20)), 20)[:n]
    values = (rng.normal(size=n) * np.where(wild == 1, 2.0, 0.5)).round(6)
    values[5] = np.nan
    return values


def vectors(n=80, seed=0):
    """The same in two columns."""
    return np.column_stack([series(n, seed), series(n, seed + 10)])


def answers(model):
    """Numbers that depend on everything that is stored."""
    if len(model.names_) > 1:
        queries = vectors(30, seed=1)
        return {
            "log_predictive": model.log_predictive(queries).tolist(),
            "mean": float(model.expectation(queries, target="x1")),
            "filter": model.filter(queries)[-1].tolist(),
        }
    queries = series(30, seed=1)
    return {
        "log_predictive": model.log_predictive(queries).tolist(),
        "score": model.score_samples([queries[:10], queries[10:]]).tolist(),
        "quantiles": model.quantiles(queries, [0.1, 0.5, 0.9]).tolist(),
        "mean": float(model.expectation(queries, np.abs)),
        "density": model.predict_next_density(queries, [-1.0, 0.0, 1.0])[1].tolist(),
        "filter": model.filter(queries)[-1].tolist(),
    }


if __name__ == "__main__":
    for name, make in MODELS.items():
        path = FOLDER / f"{name}.tacit"
        if not path.exists():
            model = make().fit(vectors() if name.endswith("vectors") else series())
            model.save(path)
            path.with_suffix(".json").write_text(json.dumps(answers(model), indent=1) + "\n")
