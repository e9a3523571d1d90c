"""Writes the stored model files of language models, and what the models say before they are saved.

Like `stored_models`: written once, when the format is new, and then never again.
"""

import json
from pathlib import Path

import numpy as np

from tacit.language.class_lm import ClassLM
from tacit.language.data.corpus import read_corpus
from tacit.language.files.counts import write_counts
from tacit.language.kneser_ney_lm import KneserNeyLM
from tacit.language.mixed_lm import MixedLM
from tacit.language.moments.ngram_counts import GramCounts

FOLDER = Path(__file__).parents[1] / "files" / "stored"
COUNTS = FOLDER / "language-1.counts"


def lines(n=60, seed=0):
    """Words of one to two letters, not all of them ASCII; a blank line."""
    rng = np.random.default_rng(seed)
    words = ["a", "b", "ça", "и", "zz", "é"]
    rows = [[words[i] for i in rng.zipf(1.6, rng.integers(1, 9)) if i < 6] for _ in range(n)]
    return [*(" ".join(row) for row in rows), ""]


def mixture():
    """Of words and of classes."""
    words = KneserNeyLM(2).fit(lines())
    return MixedLM(
        [words, ClassLM(2, 2, vocabulary=words.vocabulary_).fit(lines())], [0.25, 0.75]
    ).fit()


MODELS = {
    "language-1-kneser-ney": lambda: KneserNeyLM(3),
    "language-1-backoff": lambda: KneserNeyLM(
        3, modified=False, interpolated=False, pads="all", base="unigram", min_count=3
    ),
    "language-1-classes": lambda: ClassLM(2, 3),
    "language-1-mixture": mixture,
}


def counts():
    """What the stored counts are of."""
    return GramCounts.of(read_corpus(lines()), 2)


def answers(model):
    """Numbers that depend on everything that is stored."""
    queries = lines(6, seed=1)
    return {
        "score": model.score_samples(queries).tolist(),
        "next": model.predict_next_proba("a ça").tolist(),
        "words": list(model.vocabulary_.words),
    }


if __name__ == "__main__":
    if not COUNTS.exists():
        write_counts(counts(), COUNTS, {"some": "notes"})
    for name, make in MODELS.items():
        path = FOLDER / f"{name}.tacit"
        if not path.exists():
            model = make().fit(lines())
            model.save(path)
            text = json.dumps(answers(model), indent=1, ensure_ascii=False) + "\n"
            path.with_suffix(".json").write_text(text, encoding="utf-8")
