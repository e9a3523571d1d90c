"""Writes the stored model files of automata, and what the models say before they are saved.

Like `stored_models`: written once, when the format is new, and then never again.
"""

import json
from pathlib import Path

import numpy as np

from tacit.sequences.probabilistic_automaton import ProbabilisticAutomaton
from tacit.sequences.weighted_automaton import WeightedAutomaton

FOLDER = Path(__file__).parents[1] / "files" / "stored"
MODELS = {
    "automaton-1-weighted": lambda: WeightedAutomaton(
        3, "substring", basis=12, scaled=True, mixing=0.1
    ),
    "automaton-1-em": lambda: ProbabilisticAutomaton(2, "em", tied=True, max_iter=20),
    "automaton-1-mean": lambda: ProbabilisticAutomaton(2, tied=False, n_samples=2, n_sweeps=12),
}


def strings(n=60, seed=0):
    """Letters, numbers and pairs; a gap, an empty one."""
    rng = np.random.default_rng(seed)
    symbols = ["a", "b", ("c", 1)]
    rows = [[symbols[i] for i in rng.integers(0, 3, rng.integers(1, 7))] for _ in range(n)]
    rows[3][0] = None
    return [*rows, []]


def answers(model):
    """Numbers that depend on everything that is stored."""
    queries = strings(6, seed=1)
    return {
        "score": model.score_samples(queries).tolist(),
        "next": model.predict_next_proba(queries).tolist(),
        "later": model.predict_next_proba(queries, steps=3).tolist(),
        "radius": model.spectral_radius_,
    }


if __name__ == "__main__":
    for name, make in MODELS.items():
        path = FOLDER / f"{name}.tacit"
        if not path.exists():
            model = make().fit(strings())
            model.save(path)
            path.with_suffix(".json").write_text(json.dumps(answers(model), indent=1) + "\n")
