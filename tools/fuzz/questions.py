"""A fixed small battery of questions for every kind of model."""

from __future__ import annotations

from typing import Any

import numpy as np
from outcomes import Probabilities, Question

from tacit import BackoffLM

_WORDS = ["the dog saw a cat", "a ça zz", "", "Ann sees Bob"]
_TAGGED = ["the/DET dog/NOUN saw/VERB a/DET cat/NOUN", "cat/NOUN", "a/X b/NOUN c/DET d/VERB"]
_TREES = ["(S (NP (N Ann)) (VP (V sees) (NP (D the) (N cat))))"]


def questions_for(model: Any) -> dict[str, Question]:
    """Questions by name; what they need is taken from the model."""
    questions: dict[str, Question] = {
        "summary": lambda: str(model.summary()),
        "arguments": lambda: repr(sorted(model.get_params(deep=False))),
    }
    return questions | _BY_KIND[model.kind](model)


def _table(model: Any) -> dict[str, Question]:
    rows = _rows(model)
    names = list(rows)
    numbers = [names[place] for place in getattr(model.schema_, "continuous", ())]
    target = names[0]
    without = {name: rows[name] for name in names if name != target} or rows
    questions: dict[str, Question] = {
        "score": lambda: model.score_samples(rows),
        "impute": lambda: list(model.impute(rows).values()),
        "query": lambda: list(model.query(target).values()) if target not in numbers else None,
        "sample": lambda: _plain(model.sample(3, random_state=0)),
        "most likely": lambda: _plain(model.most_likely(rows)),
        "parameters": lambda: getattr(model, "n_parameters_", None),
    }
    for name in [name for name in names if name not in numbers][:2]:
        questions[f"predict {name}"] = lambda name=name: Probabilities(
            model.predict_proba({key: rows[key] for key in names if key != name} or rows, name)
        )
    if model.can("states"):
        questions["posterior"] = lambda: {
            key: Probabilities(table) for key, table in model.posterior(rows).items()
        }
    if model.can("tree"):
        questions["newick"] = model.topology_.to_newick
    for name in numbers[:2]:
        questions[f"quantiles {name}"] = lambda name=name: model.quantiles(without, name)
        questions[f"mean {name}"] = lambda name=name: model.expectation(without, name)
        questions[f"density {name}"] = lambda name=name: model.conditional_density(without, name)
    return questions


def _rows(model: Any) -> dict[Any, list[Any]]:
    """Four rows: low and high values, a gap, and all columns missing."""
    rows = {}
    for place, column in enumerate(model.schema_.columns):
        if place in getattr(model.schema_, "continuous", ()):
            ends = [column.low, column.high]
        else:
            ends = [column.categories[0], column.categories[-1]]
        rows[column.name] = [*ends, ends[0] if place % 2 else None, None]
    return rows


def _plain(answer: Any) -> Any:
    return list(answer.values()) if isinstance(answer, dict) else answer


def _mixture(model: Any) -> dict[str, Question]:
    rows = np.random.default_rng(0).normal(size=(4, model.n_features_in_))
    return {
        "score": lambda: model.score_samples(rows),
        "components": lambda: Probabilities(model.predict_proba(rows)),
        "sample": lambda: model.sample(3, random_state=0),
    }


def _sequences(model: Any) -> dict[str, Question]:
    if model.can("numbers"):
        return _number_sequences(model)
    symbols = list(model.symbols_)
    rows = [[*symbols[:4], *symbols[:2]], symbols[-1:], [symbols[0], None, symbols[0]]]
    questions: dict[str, Question] = {
        "score": lambda: model.score_samples(rows),
        "next": lambda: Probabilities(model.predict_next_proba(rows)),
        "later": lambda: Probabilities(model.predict_next_proba(rows, steps=3)),
        "sample": lambda: model.sample(2, random_state=0, **_length(model)),
    }
    if model.can("paths"):
        questions["path"] = lambda: model.predict(rows)
    if model.can("states"):
        questions["posterior"] = lambda: Probabilities(list(model.posterior(rows)))
        questions["filter"] = lambda: Probabilities(list(model.filter(rows)))
    if model.can("impute"):
        questions["drawn states"] = lambda: model.sample_states(rows, 3, random_state=0)
    if model.can("ends"):
        questions["radius"] = lambda: float(model.spectral_radius_)
    return questions


def _length(model: Any) -> dict[str, int]:
    return {"max_length": 50} if model.can("ends") else {"length": 5}


def _number_sequences(model: Any) -> dict[str, Question]:
    rows = _number_rows(model)
    questions: dict[str, Question] = {
        "score": lambda: model.score_samples(rows),
        "filter": lambda: list(model.filter(rows)),
        "mean": lambda: model.expectation(rows, **_target(model)),
        "quantiles": lambda: model.quantiles(rows, **_target(model)),
        "density": lambda: model.predict_next_density(rows, target=model.names_[-1]),
        "sample": lambda: model.sample(2, 4, random_state=0),
    }
    if model.can("paths"):
        questions["path"] = lambda: model.predict(rows)
        questions["posterior"] = lambda: Probabilities(list(model.posterior(rows)))
    if model.can("impute"):
        questions["drawn states"] = lambda: model.sample_states(rows, 3, random_state=0)
    return questions


def _number_rows(model: Any) -> list[Any]:
    """Two sequences with a gap: numbers, counts, or tables of columns of several kinds."""
    rng = np.random.default_rng(0)
    kinds = getattr(model, "emissions", "gaussian")
    drawn = model.sample(2, 5, random_state=0) if isinstance(kinds, dict) else None
    if isinstance(drawn, list):  # an edited file may say so of columns of one kind
        for table in drawn:
            table[model.names_[0]][2] = None
        return drawn
    shape = (5, len(model.names_))
    has_counts = kinds in ("poisson", "negative-binomial", "multinomial")
    rows = [(rng.poisson(3.0, shape) if has_counts else rng.normal(size=shape)) * 1.0 for _ in "ab"]
    rows[0][2] = np.nan
    return rows


def _target(model: Any) -> dict[str, Any]:
    return {"target": model.names_[0]} if model.can("forecast") else {}


def _language(model: Any) -> dict[str, Question]:
    sums_within = 1e-3 if type(model) is BackoffLM else 1e-5  # what ARPA files round

    def probabilities(values: Any) -> Probabilities:
        return Probabilities(values, sums_within)

    return {
        "score": lambda: model.score_samples(_WORDS),
        "perplexity": lambda: repr(model.perplexity(_WORDS)),
        "first": lambda: probabilities(model.predict_next_proba()),
        "next": lambda: probabilities(model.predict_next_proba("a ça")),
        "top": lambda: model.top("a", 3),
        "sample": lambda: model.sample(2, max_length=20, random_state=0),
    }


def _parser(model: Any) -> dict[str, Question]:
    return {"spans": lambda: [list(parse.spans) for parse in model.predict(_TAGGED)]}


def _grammar(model: Any) -> dict[str, Question]:
    from tacit import read_trees

    return {
        "parse": lambda: [
            str(model.parse(words)) for words in ("Ann hears the dog of Bob", "yaks")
        ],
        "n best": lambda: [tree.n_right for tree in model.n_best("the cat sees Bob", 3)],
        "score": lambda: model.score_samples(read_trees(_TREES)),
    }


def _topics(model: Any) -> dict[str, Question]:
    counts = np.random.default_rng(0).integers(0, 3, (4, len(model.words_)))
    return {
        "topics": lambda: Probabilities(model.transform(counts)),
        "score": lambda: model.score_samples(counts),
        "perplexity": lambda: model.perplexity(counts),
        "top words": lambda: model.top_words(4),
        "coherence": lambda: model.coherence(counts, 3),
        "sample": model.sample(2, length=5, random_state=0).counts.toarray,
        "alpha": lambda: model.alpha_,
    }


def _classifier(model: Any) -> dict[str, Question]:
    inner = model.models_[0]
    questions = {f"inner {name}": ask for name, ask in questions_for(inner).items()}
    if inner.kind == "table":
        rows = _rows(inner)
        questions["classes"] = lambda: Probabilities(model.predict_proba(rows))
    return questions


def _imputer(model: Any) -> dict[str, Question]:
    inner = {f"inner {name}": ask for name, ask in questions_for(model.model_).items()}
    known = _rows(model.model_)
    rows = {name: known.get(name, [None] * 4) for name in model.columns_}
    return inner | {
        "transform": lambda: list(model.transform(rows).values()),
        "draws": lambda: [list(table.values()) for table in model.draws(rows, 2, random_state=0)],
    }


_BY_KIND = {
    "table": _table,
    "mixture": _mixture,
    "sequences": _sequences,
    "language": _language,
    "parser": _parser,
    "grammar": _grammar,
    "topics": _topics,
    "classifier": _classifier,
    "imputer": _imputer,
}
