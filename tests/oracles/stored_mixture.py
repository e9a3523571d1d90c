"""Writes the stored file of a mixture of spherical Gaussians, and what the model says before it is saved.

Like `stored_models`: written once, when the format is new, and then never again.
"""

import json
from pathlib import Path

import numpy as np

from oracles.spherical import random_mixture
from tacit.numbers.gaussian_mixture import GaussianMixtureMoments
from tacit.numbers.query.gaussian_mixture import sample

STORED = Path(__file__).parents[1] / "files" / "stored" / "gaussian-mixture-1.tacit"


def rows(n=200, seed=0):
    """Rows of three components."""
    rng = np.random.default_rng(seed)
    return sample(random_mixture(rng, 3, 4), n, rng)[0].round(6)


def answers(model):
    """Numbers that depend on everything that is stored."""
    queries = rows(10, seed=1)
    start = model.as_start("spherical")
    return {
        "log_density": model.score_samples(queries).tolist(),
        "chances": model.predict_proba(queries).tolist(),
        "start": {name: start[name].tolist() for name in sorted(start)},
        "n_iter": model.n_iter_,
    }


if __name__ == "__main__":
    if not STORED.exists():
        fitted = GaussianMixtureMoments(3).fit(rows())
        fitted.save(STORED)
        STORED.with_suffix(".json").write_text(json.dumps(answers(fitted), indent=1) + "\n")
