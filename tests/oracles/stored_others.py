"""Stored files of the classes that have no module of their own here, and what the models say.

Like `stored_models`: written once, when the format is new, and then never again.
"""

import json
from pathlib import Path

import numpy as np

import tacit

FOLDER = Path(__file__).parents[1] / "files" / "stored"


def rows(n=150, seed=0):
    """Six columns that lean on the one before."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 2, n)]
    for _ in range(5):
        columns.append(np.where(rng.random(n) < 0.2, 1 - columns[-1], columns[-1]))
    return {f"x{place}": column.tolist() for place, column in enumerate(columns)}


def lines(n=60, seed=0):
    """Words of one to two letters, not all of them ASCII; a blank line."""
    rng = np.random.default_rng(seed)
    words = ["a", "b", "ça", "и", "zz", "é"]
    drawn = [[words[i] for i in rng.zipf(1.6, rng.integers(1, 9)) if i < 6] for _ in range(n)]
    return [*(" ".join(line) for line in drawn), ""]


def tagged(n=80, seed=0):
    """Sentences of determiners, nouns and verbs."""
    rng = np.random.default_rng(seed)
    words = {"DET": ["the", "a"], "NOUN": ["cat", "dog", "bird"], "VERB": ["saw", "ran"]}

    def phrase(*tags):
        return [f"{rng.choice(words[tag])}/{tag}" for tag in tags]

    return [
        " ".join(
            phrase("DET", "NOUN", "VERB") + (phrase("DET", "NOUN") if rng.random() < 0.7 else [])
        )
        for _ in range(n)
    ]


def backoff():
    """What an ARPA file gives."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "m.arpa"
        tacit.KneserNeyLM(2).fit(lines()).to_arpa(path)
        return tacit.BackoffLM.from_arpa(path)


EDGES = [
    ("h", "g"),
    ("h", "x0"),
    ("h", "x1"),
    ("g", "x2"),
    ("g", "x3"),
    ("h", "x3"),
    ("g", "x4"),
    ("g", "x5"),
]

# What makes each model, and a part of it that says what it was fitted to
MODELS = {
    "latent-class": lambda: tacit.LatentClass(2).fit(rows()),
    "junction": lambda: tacit.LatentJunctionTree(EDGES, 2, max_iter=20).fit(rows()),
    "junction-operators": lambda: tacit.LatentJunctionTree(EDGES, 2, learn="spectral").fit(rows()),
    "higher-order": lambda: tacit.HigherOrderHMM(2, 2, max_iter=20).fit(rows()),
    "factorial": lambda: tacit.FactorialHMM(2, 2, max_iter=20).fit(rows()),
    "ensemble": lambda: tacit.PowerLowRankLM(3, random_state=0, n_jobs=1).fit(lines()),
    "arpa": backoff,
    "span-parser": lambda: tacit.SpanParser(prior="learnt", n_features=5, rank=2).fit(tagged()),
    "constituent-context": lambda: tacit.ConstituentContextModel(pseudo_counts=(1.0, 4.0)).fit(
        tagged()
    ),
}


# Of classes that are newer than format 2, or have newer fields
NEWER = {
    "chosen-order": lambda: tacit.HigherOrderHMM(max_iter=20).fit(rows()),
    "independent": lambda: tacit.HigherOrderHMM(0).fit(rows()),
    "classifier": lambda: tacit.LikelihoodClassifier(tacit.LatentClass(2)).fit(
        first_columns(rows()), np.array(["no", "yes"])[rows()["x5"]]
    ),
}


def first_columns(table):
    """All columns but the last, which is the class."""
    return {name: table[name] for name in table if name != "x5"}


def answers(model):
    """Numbers that depend on everything that is stored."""
    if model.kind == "parser":
        parses = model.predict(tagged(9, 1))
        return {"brackets": [[list(span) for span in parse.spans] for parse in parses]}
    if model.kind == "language":
        queries = lines(6, seed=1)
        return {
            "score": model.score_samples(queries).tolist(),
            "next": model.predict_next_proba("a ça").tolist(),
        }
    queries = rows(9, seed=1)
    if model.kind == "classifier":
        return {"classes": model.predict_proba(first_columns(queries)).ravel().tolist()}
    return {"score": model.score_samples(queries).tolist()}


if __name__ == "__main__":
    makers = {f"other-1-{name}": make for name, make in MODELS.items()}
    makers |= {f"other-3-{name}": make for name, make in NEWER.items()}
    for name, make in makers.items():
        path = FOLDER / f"{name}.tacit"
        if not path.exists():
            model = make()
            model.save(path)
            path.with_suffix(".json").write_text(json.dumps(answers(model), indent=1) + "\n")
