"""Writes the stored model files of grammars, and what the models say before they are saved.

Like `stored_models`: written once, when the format is new, and then never again.
"""

import json
from pathlib import Path

from tacit.parsing.data.parse_trees import read_trees
from tacit.parsing.latent_pcfg import LatentPCFG

FOLDER = Path(__file__).parents[1] / "files" / "stored"
MODELS = {
    "grammar-1-plain": lambda: LatentPCFG(1, min_count=2),
    "grammar-1-auto": lambda: LatentPCFG(2, min_count=2),
    "grammar-1-spectral": lambda: LatentPCFG(2, "spectral", min_count=2),
}
TREES = read_trees(
    [
        "(S (NP (D the) (N cat)) (VP (V sees) (NP (N Ann)) (PP (P with) (NP (D a) (N dog)))))",
        "(S (NP (N Ann)) (VP (V sees) (NP (NP (D the) (N cat)) (PP (P of) (NP (N Bob))))))",
        "(S (NP (D a) (N dog)) (VP (V hears) (NP (D the) (N cat))) (M !))",
    ]
    * 4
)
SENTENCES = ("Ann hears the dog of Bob", "the cat sees Bob with a dog !", "yaks")


def answers(model):
    """What depends on everything that is stored."""
    return {
        "trees": [str(model.parse(sentence)) for sentence in SENTENCES],
        "expected": [tree.n_right for tree in model.n_best(SENTENCES[0], 3)],
        "scores": model.score_samples(TREES[:3]).tolist(),
    }


if __name__ == "__main__":
    for name, make in MODELS.items():
        path = FOLDER / f"{name}.tacit"
        if not path.exists():
            model = make().fit(TREES)
            model.save(path)
            path.with_suffix(".json").write_text(json.dumps(answers(model), indent=1) + "\n")
