"""Writes the stored files of topic models, and what the models say before they are saved.

Like `stored_models`: written once, when the format is new, and then never again.
"""

import json
from pathlib import Path

from tacit.topics.topic_model import TopicModel
from tacit.toy.documents import random_topics, sample_documents

FOLDER = Path(__file__).parents[1] / "files" / "stored"
WORDS = ("ça", "и", "a b", "$", "", *(f"w{place}" for place in range(15)))


def documents(n=120, seed=0):
    """Counts of twenty words in documents of three topics."""
    return sample_documents(random_topics(3, 20, random_state=4), n, 30, random_state=seed).counts


MODELS = {
    "topics-1-lda": lambda: TopicModel(3, words=WORDS, n_steps=4, n_jobs=1),
    "topics-1-single": lambda: TopicModel(
        model="single", learn="moments", weighting="pool", cap="auto", n_jobs=1
    ),
}


def answers(model):
    """Numbers that depend on everything that is stored."""
    queries = documents(12, seed=1)
    return {
        "shares": model.transform(queries).ravel().tolist(),
        "perplexity": [model.perplexity(queries)],
        "coherence": model.coherence(queries, 4).tolist(),
        "alpha": model.alpha_.tolist(),
        "top words": model.top_words(5),
        "words": list(model.words_),
        "named": hasattr(model, "feature_names_in_"),
        "arguments": {name: value for name, value in model.get_params().items() if name != "words"},
        "told": sorted(model.diagnostics_),
        "surplus": model.diagnostics_["moments"]["surplus"],
    }


if __name__ == "__main__":
    for name, made in MODELS.items():
        path = FOLDER / f"{name}.tacit"
        if not path.exists():
            fitted = made().fit(documents())
            fitted.save(path)
            path.with_suffix(".json").write_text(json.dumps(answers(fitted), indent=1) + "\n")
