"""Writes the stored model files of hidden Markov models, and what the models say before they are saved.

Like `stored_models`: written once, when the format is new, and then never again.
"""

import json
from pathlib import Path

import numpy as np

from tacit.sequences.hmm import HMM

FOLDER = Path(__file__).parents[1] / "files" / "stored"
MODELS = {
    "hmm-1-tables": lambda: HMM(2, max_iter=20),
    "hmm-1-operators": lambda: HMM(2, "spectral"),
    "hmm-1-numbers": lambda: HMM(2, emissions="gaussian", max_iter=20),
    "hmm-3-poisson": lambda: HMM(2, emissions="poisson", max_iter=20),
    "hmm-3-durations": lambda: HMM(2, durations="table", max_duration=5, max_iter=20),
    "hmm-3-durations-numbers": lambda: HMM(
        2, emissions="gaussian", durations="negative-binomial", transitions="cyclic", max_iter=20
    ),
    "hmm-3-gaussian-mixture": lambda: HMM(2, emissions="gaussian-mixture", max_iter=20),
    "hmm-3-negative-binomial": lambda: HMM(2, emissions="negative-binomial", max_iter=20),
    "hmm-3-multinomial": lambda: HMM(2, emissions="multinomial", max_iter=20),
    "hmm-3-von-mises": lambda: HMM(2, emissions="von-mises", max_iter=20),
    "hmm-3-tied-numbers": lambda: HMM(
        3, covariance="tied", transitions="banded", tied=[[0, 2]], max_iter=20
    ),
    "hmm-3-cyclic-tables": lambda: HMM(3, transitions="cyclic", max_iter=20),
    "hmm-3-columns": lambda: HMM(2, emissions=KINDS, max_iter=20),
}
KINDS = {"mood": "categorical", "speed": "gaussian", "clicks": "poisson", "slope": "gaussian"}
COUNTS = ("poisson", "binomial", "multinomial")
SYMBOLS = ("tables", "operators", "durations")


def sequences(n=40, seed=0):
    """Stretches of one or the other symbol, with gaps, and a symbol that is a pair."""
    rng = np.random.default_rng(seed)
    states = np.cumsum(rng.random((n, 10)) < 0.2, axis=1) % 2
    codes = np.where(rng.random((n, 10)) < 0.85, states, rng.integers(0, 3, (n, 10)))
    symbols = ["a", 7, ("b", 1.5)]
    drawn = [[symbols[code] for code in row] for row in codes]
    drawn[1][3] = None
    return drawn


def numbers(n=40, seed=0):
    """Rows of two numbers in two states, with gaps."""
    rng = np.random.default_rng(seed)
    states = np.cumsum(rng.random((n, 10)) < 0.2, axis=1) % 2
    values = (rng.normal(size=(n, 10, 2)) + 3 * states[..., None]).round(6)
    values[1, 3, 0] = np.nan
    return list(values)


def counts(n=40, seed=0):
    """Rows of two counts in two states, with gaps."""
    rng = np.random.default_rng(seed)
    states = np.cumsum(rng.random((n, 10)) < 0.2, axis=1) % 2
    values = rng.poisson(np.array([[2.0, 9.0], [11.0, 1.0]])[states]).astype(float)
    values[1, 3, 0] = np.nan
    return list(values)


def columns(seed=0):
    """Tables of columns of several kinds, with gaps."""
    pairs = zip(numbers(seed=seed), counts(seed=seed), strict=True)
    return [
        {
            "mood": [None if np.isnan(x) else ("good", "bad", 3)[int(x) % 3] for x in clicks[:, 0]],
            "speed": rows[:, 0].tolist(),
            "clicks": clicks[:, 1].tolist(),
            "slope": rows[:, 1].tolist(),
        }
        for rows, clicks in pairs
    ]


def data_for(name, seed=0):
    """What a model is fitted with or asked about."""
    if name.endswith(COUNTS):
        return counts(seed=seed)
    if name.endswith("columns"):
        return columns(seed=seed)
    return sequences(seed=seed) if name.endswith(SYMBOLS) else numbers(seed=seed)


def answers(name, model):
    """Numbers that depend on everything that is stored."""
    queries = data_for(name, seed=1)[:5]
    said = {
        "score": model.score_samples(queries).tolist(),
        "filter": [states.tolist() for states in model.filter(queries)],
    }
    if not name.endswith((*SYMBOLS, "columns")):
        return said | {"next": np.asarray(model.expectation(queries)).tolist()}
    return said | {"next": model.predict_next_proba(queries).tolist()}


if __name__ == "__main__":
    for name, make in MODELS.items():
        path = FOLDER / f"{name}.tacit"
        if not path.exists():
            model = make().fit(data_for(name))
            model.save(path)
            path.with_suffix(".json").write_text(json.dumps(answers(name, model), indent=1) + "\n")
