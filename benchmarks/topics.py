"""Topics beside samplers and variational Bayes: python benchmarks/topics.py [--quick] [--documents ap].

Documents are 20 newsgroups, learnt from "train" and asked about "test"; all settings were chosen on the
Associated Press documents (`--documents ap`, of which every fifth is its test). Words are those of letters
alone, three or more, outside scikit-learn's English stop list, in 20 documents or more and in 10 % of them or
fewer.

Every method's topics, with 1 % of the words of all documents in each, go through one variational inference:
half of the words of each test document give its mixture, the other half is scored. `ppl` is the perplexity
with a Dirichlet parameter of 0.1 for each topic, `best` the best with 0.02, 0.1 and 0.3. `NPMI` is the mean
coherence of ten top words, counted in the documents learnt from; `distinct` the share of different words
among all top words; `agree` the mean overlap of matched topics between runs with different seeds. CPU seconds
of all threads, of learning alone: building the programs' own forms of the documents is not counted.
"""

import argparse
import importlib.util
import time
from itertools import combinations

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from tacit.data.document_words import keep_words, plain_word
from tacit.data.documents import Documents
from tacit.datasets.topics import load_topics
from tacit.estimators.topic_model import TopicModel
from tacit.evaluate.topics import (
    coherence,
    completion_perplexity,
    distinct_share,
    topic_agreement,
)
from tacit.params.topics import Topics
from tacit.query.topics import top_words

ALPHAS = (0.02, 0.1, 0.3)
MOST_CPU = 0.25  # of tomotopy's
MOST_PERPLEXITY = 1.08  # of moments alone, in that of tomotopy's 100 iterations


def prepared(name):
    """Documents to learn from, and counts of the test documents over the same words."""
    train = load_topics(name)
    kept = keep_words(
        train,
        least_documents=20,
        most_share=0.1,
        stop_words=ENGLISH_STOP_WORDS,
        form=plain_word,
    )
    places = {word: place for place, word in enumerate(train.words)}
    test = load_topics(name, "test").counts[:, [places[word] for word in kept.words]]
    there = np.flatnonzero(kept.lengths > 0)
    return kept.part(there), test[np.flatnonzero(np.diff(test.indptr) > 0)]


# -- the methods: each gives (name, CPU seconds, topics), one or more ------------------------------------


def cpu(work):
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def tacit_moments(documents, k, seed):
    model = TopicModel(k, 0.1, learn="moments", random_state=seed)
    seconds, model = cpu(lambda: model.fit(documents))
    yield "tacit moments", seconds, model.components_


def tacit_auto(documents, k, seed):
    seconds, model = cpu(lambda: TopicModel(k, random_state=seed).fit(documents))
    yield "tacit auto", seconds, model.components_


def tomotopy(documents, k, seed):
    import tomotopy as tp

    model = tp.LDAModel(k=k, seed=seed + 1)
    for words in as_lists(documents):
        model.add_doc(words)
    spent, done = 0.0, 0
    for n_steps in (100, 500):
        seconds, _ = cpu(lambda n=n_steps - done: model.train(n, workers=1))
        spent, done = spent + seconds, n_steps
        found = np.zeros((k, documents.n_words))
        places = {word: place for place, word in enumerate(documents.words)}
        own = [places[word] for word in model.used_vocabs]
        for topic in range(k):
            found[topic, own] = model.get_topic_word_dist(topic)
        yield f"tomotopy {n_steps}", spent, found


def scikit_learn(documents, k, seed):
    from sklearn.decomposition import LatentDirichletAllocation

    ways = {
        "scikit-learn online": {"learning_method": "online", "max_iter": 5, "batch_size": 512},
        "scikit-learn batch": {"learning_method": "batch", "max_iter": 20},
    }
    for name, arguments in ways.items():
        model = LatentDirichletAllocation(k, random_state=seed, n_jobs=1, **arguments)
        seconds, model = cpu(lambda model=model: model.fit(documents.counts))
        yield name, seconds, model.components_ / model.components_.sum(axis=1, keepdims=True)


def gensim(documents, k, seed):
    from gensim.models import LdaModel

    counts = documents.counts
    bags = [
        list(zip(counts.indices[a:b].tolist(), counts.data[a:b].tolist(), strict=True))
        for a, b in zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    ]
    names = dict(enumerate(documents.words))
    seconds, model = cpu(
        lambda: LdaModel(bags, num_topics=k, id2word=names, passes=5, random_state=seed)
    )
    yield "gensim", seconds, model.get_topics().astype(np.float64)


def as_lists(documents):
    counts = documents.counts
    for a, b in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
        yield [
            documents.words[place]
            for place, count in zip(counts.indices[a:b], counts.data[a:b], strict=True)
            for _ in range(count)
        ]


def methods():
    yield tacit_moments
    yield tacit_auto
    for method, module in ((tomotopy, "tomotopy"), (scikit_learn, "sklearn"), (gensim, "gensim")):
        if importlib.util.find_spec(module) is None:
            print(f"(without {module}, which is not installed)")
        else:
            yield method


# -- scores ---------------------------------------------------------------------------------------------


def scores(words, documents, test):
    """Perplexity at 0.1, the best one, coherence, share of distinct top words."""
    counts = documents.counts
    shares = np.bincount(counts.indices, counts.data, minlength=documents.n_words) / counts.sum()
    mixed = 0.99 * words / words.sum(axis=1, keepdims=True) + 0.01 * shares
    k = len(words)
    found = {
        alpha: completion_perplexity(Topics(mixed, np.full(k, 1 / k), alpha * k), test)
        for alpha in ALPHAS
    }
    tops = top_words(Topics(mixed, np.full(k, 1 / k), 1.0))
    return found[0.1], min(found.values()), coherence(tops, counts).mean(), distinct_share(tops)


def compare(documents, test, k, n_seeds):
    """A line for each method; mean CPU seconds and perplexities by name."""
    known = {}
    print(f"\nk = {k}\n{'':20}{'CPU s':>8}{'ppl':>8}{'best':>8}{'spread':>8}", end="")
    print(f"{'NPMI':>7}{'distinct':>10}{'agree':>7}", flush=True)
    for method in methods():
        runs = {}
        for seed in range(n_seeds):
            for name, seconds, words in method(documents, k, seed):
                values = scores(words, documents, test)
                runs.setdefault(name, []).append((seconds, *values, words))
        for name, found in runs.items():
            seconds, ppl, best, npmi, distinct = np.mean([run[:5] for run in found], axis=0)
            spread = np.ptp([run[1] for run in found])
            pairs = combinations([run[5] for run in found], 2)
            agree = np.mean([topic_agreement(*pair) for pair in pairs]) if n_seeds > 1 else np.nan
            print(f"{name:20}{seconds:8.2f}{ppl:8.1f}{best:8.1f}{spread:8.1f}", end="")
            print(f"{npmi:7.3f}{distinct:10.2f}{agree:7.2f}", flush=True)
            known[name] = seconds, ppl, best
    return known


def verdict(what, holds):
    print(f"  {'holds' if holds else 'MISSED':8}{what}", flush=True)


def judge(known):
    if "tomotopy 500" not in known:
        return
    for ours, theirs, most in (("auto", "500", 1.0), ("moments", "100", MOST_PERPLEXITY)):
        mine, other = known[f"tacit {ours}"], known[f"tomotopy {theirs}"]
        share = mine[0] / other[0]
        verdict(f"CPU of {ours} in that of tomotopy {theirs}: {share:.3f}", share <= MOST_CPU)
        for place, name in ((1, "ppl"), (2, "best")):
            ratio = mine[place] / other[place]
            verdict(f"{name} of {ours} in that of tomotopy {theirs}: {ratio:.3f}", ratio <= most)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="ap, 20 topics, one seed")
    parser.add_argument("--documents", default="newsgroups20", choices=("ap", "newsgroups20"))
    parser.add_argument("--topics", default="20,50,100", help="numbers of topics")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    name = "ap" if given.quick else given.documents
    numbers = [20] if given.quick else [int(k) for k in given.topics.split(",")]
    documents, test = prepared(name)
    print(f"{name}: {documents.n_documents} documents, {documents.n_words} words, ", end="")
    print(f"{documents.lengths.sum()} tokens; {test.shape[0]} test documents")
    first = documents.part(slice(0, 300))
    TopicModel(5).fit(Documents(first.counts, first.words))  # compiles
    scores(np.ones((5, documents.n_words)) / documents.n_words, documents, test[:50])
    for k in numbers:
        judge(compare(documents, test, k, 1 if given.quick else given.seeds))


if __name__ == "__main__":
    main()
