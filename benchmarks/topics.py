"""Topics beside samplers and variational Bayes.

    python benchmarks/topics.py                   newsgroups20; can be stopped and resumed
    python benchmarks/topics.py --documents ap    the documents that settings were chosen on
    python benchmarks/topics.py --quick           ap, 20 topics, one seed
    python benchmarks/topics.py --report          what has been run, nothing new

Documents are 20 newsgroups, learnt from "train" and scored on "test"; all settings were chosen on the
Associated Press documents (of which every fifth is its test). Words are those of letters alone, three or
more, outside scikit-learn's English stop list, in 20 documents or more and in 10 % of them or fewer.

Every method's topics, with 1 % of the words of all documents in each, go through one variational inference:
half of the words of each test document give its mixture, the other half is scored. `ppl` is the perplexity
with a Dirichlet parameter of 0.1 for each topic, `best` the best with 0.02, 0.1 and 0.3; `spread` the
difference of the largest and the smallest `ppl` of all seeds. `NPMI` is the mean coherence of ten top words,
counted in the documents learnt from; `distinct` the fraction of different words among top words; `agree` the
mean overlap of matched topics between runs with different seeds. Documents come sorted by group; methods that
learn from some at a time get them in random order. CPU seconds of all threads, of learning alone: building
the programs' own forms of the documents is not counted.

Each run is a line of ``out/topics.jsonl`` (its topics are in ``out/topics/``); the report is
``out/topics.md``, or ``out/topics-ap.md``.
"""

import argparse
import json
import time
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from tacit.datasets.topics import load_topics
from tacit.topics.data.documents import Documents
from tacit.topics.data.keep_words import keep_words, plain_word
from tacit.topics.model.topics import Topics
from tacit.topics.query.documents import top_words
from tacit.topics.query.quality import (
    coherence,
    completion_perplexity,
    distinct_fraction,
    topic_agreement,
)
from tacit.topics.topic_model import TopicModel

ALPHAS = (0.02, 0.1, 0.3)
MOST_CPU = 0.25  # of tomotopy's
MOST_PERPLEXITY = 1.08  # of moments alone, in that of tomotopy's 100 iterations
SCORES = ("ppl", "best", "NPMI", "distinct")


def prepared(name):
    """Documents to learn from, and counts of the test documents over the same words."""
    train = load_topics(name)
    frequent = keep_words(
        train,
        min_df=20,
        max_df=0.1,
        stop_words=ENGLISH_STOP_WORDS,
        form=plain_word,
    )
    places = {word: place for place, word in enumerate(train.words)}
    test = load_topics(name, "test").counts[:, [places[word] for word in frequent.words]]
    non_empty = np.flatnonzero(frequent.lengths > 0)
    return frequent.part(non_empty), test[np.flatnonzero(np.diff(test.indptr) > 0)]


# -- the methods: each gives (name, CPU seconds, topics), one or more ------------------------------------


def cpu(work):
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def tacit_moments(documents, k, seed):
    model = TopicModel(k, learn="moments", random_state=seed)
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
        topics = np.zeros((k, documents.n_words))
        places = {word: place for place, word in enumerate(documents.words)}
        columns = [places[word] for word in model.used_vocabs]
        for topic in range(k):
            topics[topic, columns] = model.get_topic_word_dist(topic)
        yield f"tomotopy {n_steps}", spent, topics


def scikit_batch(documents, k, seed):
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(k, random_state=seed, n_jobs=1, max_iter=20)
    yield fitted("scikit-learn batch", model, documents.counts)


def scikit_online(documents, k, seed):
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(
        k, random_state=seed, n_jobs=1, max_iter=5, learning_method="online", batch_size=512
    )
    yield fitted("scikit-learn online", model, documents.counts[in_random_order(documents, seed)])


def fitted(name, model, counts):
    seconds, model = cpu(lambda: model.fit(counts))
    return name, seconds, model.components_ / model.components_.sum(axis=1, keepdims=True)


def in_random_order(documents, seed):
    return np.random.default_rng(seed).permutation(documents.n_documents)


def gensim(documents, k, seed):
    from gensim.models import LdaModel

    counts = documents.counts[in_random_order(documents, seed)]
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


# Names of what each gives; the first ones are run first for all numbers of topics.
METHODS = {
    tacit_moments: ("tacit moments",),
    tacit_auto: ("tacit auto",),
    tomotopy: ("tomotopy 100", "tomotopy 500"),
    scikit_online: ("scikit-learn online",),
    scikit_batch: ("scikit-learn batch",),
    gensim: ("gensim",),
}
MODULES = {tomotopy: "tomotopy", gensim: "gensim"}


# -- scores ---------------------------------------------------------------------------------------------


def scores(words, documents, test):
    """Perplexity at 0.1, the best one, coherence, fraction of distinct top words."""
    counts = documents.counts
    frequencies = (
        np.bincount(counts.indices, counts.data, minlength=documents.n_words) / counts.sum()
    )
    mixed = 0.99 * words / words.sum(axis=1, keepdims=True) + 0.01 * frequencies
    k = len(words)
    perplexities = {
        alpha: completion_perplexity(Topics(mixed, np.full(k, 1 / k), alpha * k), test)
        for alpha in ALPHAS
    }
    tops = top_words(Topics(mixed, np.full(k, 1 / k), 1.0))
    values = (
        perplexities[0.1],
        min(perplexities.values()),
        coherence(tops, counts).mean(),
        distinct_fraction(tops),
    )
    return dict(zip(SCORES, map(float, values), strict=True))


# -- runs -----------------------------------------------------------------------------------------------


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def topics_file(path, row):
    name = "-".join(str(row[key]) for key in ("documents", "method", "k", "seed"))
    return path.with_suffix("") / f"{name.replace(' ', '-')}.npy"


def run(path, name, numbers, n_seeds):
    """Run what is not in the file yet."""
    documents, test = prepared(name)
    print(f"{name}: {documents.n_documents} documents, {documents.n_words} words, ", end="")
    print(f"{documents.lengths.sum()} tokens; {test.shape[0]} test documents", flush=True)
    first = documents.part(slice(0, 300))
    TopicModel(5).fit(Documents(first.counts, first.words))  # compiles
    scores(np.ones((5, documents.n_words)) / documents.n_words, documents, test[:50])
    path.with_suffix("").mkdir(parents=True, exist_ok=True)
    known = {(row["documents"], row["method"], row["k"], row["seed"]) for row in rows_of(path)}
    todo = [
        (method, k, seed)
        for method, names in METHODS.items()
        for k in numbers
        for seed in range(n_seeds)
        if not all((name, method_name, k, seed) in known for method_name in names)
    ]
    for method, k, seed in todo:
        module = MODULES.get(method)
        if module and find_spec(module) is None:
            print(f"(without {module}, which is not installed)")
            continue
        for method_name, seconds, words in method(documents, k, seed):
            row = {
                "documents": name,
                "method": method_name,
                "k": k,
                "seed": seed,
                "seconds": seconds,
            }
            row |= scores(words, documents, test)
            np.save(topics_file(path, row), words.astype(np.float32))
            with path.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(
                f"{method_name}, k={k}, seed {seed}: {seconds:.2f} s, ppl {row['ppl']:.1f}",
                flush=True,
            )


def results_in(path, name, k, n_seeds):
    """Means of all seeds for each method that has them."""
    known = {}
    for method in (method_name for names in METHODS.values() for method_name in names):
        # A later line of the same run is a newer one.
        rows = {
            row["seed"]: row
            for row in rows_of(path)
            if (row["documents"], row["method"], row["k"]) == (name, method, k)
            and row["seed"] < n_seeds
        }
        if len(rows) < n_seeds:
            continue
        mean = {key: np.mean([row[key] for row in rows.values()]) for key in ("seconds", *SCORES)}
        ppls = [row["ppl"] for row in rows.values()]
        topics = [np.load(topics_file(path, row)) for row in rows.values()]
        agree = [topic_agreement(*pair) for pair in combinations(topics, 2)]
        mean |= {"spread": np.ptp(ppls), "agree": np.mean(agree) if agree else np.nan}
        known[method] = mean
    return known


def table(k, known):
    """A line for each method."""
    columns = {"ppl": "8.1f", "best": "8.1f", "spread": "8.1f"}
    columns |= {"NPMI": "7.3f", "distinct": "10.2f", "agree": "7.2f"}
    yield f"k = {k:<16}{'CPU s':>8}" + "".join(
        f"{key:>{form.split('.')[0]}}" for key, form in columns.items()
    )
    for method, mean in known.items():
        shown = "".join(f"{mean[key]:{form}}" for key, form in columns.items())
        yield f"{method:20}{mean['seconds']:8.2f}{shown}"


def verdicts(k, known):
    """The targets of "auto" and of moments alone, beside tomotopy."""
    for ours, theirs, most in (("auto", "500", 1.0), ("moments", "100", MOST_PERPLEXITY)):
        mine, other = known.get(f"tacit {ours}"), known.get(f"tomotopy {theirs}")
        if mine is None or other is None:
            continue
        bounds = (("seconds", "CPU", MOST_CPU), ("ppl", "ppl", most), ("best", "best", most))
        for key, shown, bound in bounds:
            ratio = mine[key] / other[key]
            held = "holds" if ratio <= bound else "MISSED"
            yield (
                f"  {held:8}k = {k}: {shown} of {ours} in that of tomotopy {theirs}: "
                f"{ratio:.3f} (at most {bound})"
            )


def report(path, name, numbers, n_seeds):
    lines = [f"{name}, means of {n_seeds} seed(s)"]
    for k in numbers:
        known = results_in(path, name, k, n_seeds)
        lines += ["", *table(k, known), *verdicts(k, known)]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="ap, 20 topics, one seed")
    parser.add_argument("--documents", default="newsgroups20", choices=("ap", "newsgroups20"))
    parser.add_argument("--topics", default="20,50,100", help="numbers of topics")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--report", action="store_true", help="run nothing new")
    parser.add_argument("--out", type=Path, default=Path("out/topics.jsonl"))
    args = parser.parse_args()
    name, path, n_seeds = args.documents, args.out, args.seeds
    numbers = [int(k) for k in args.topics.split(",")]
    if args.quick:
        name, numbers, n_seeds, path = "ap", [20], 1, path.with_stem("topics-quick")
        path.unlink(missing_ok=True)
    if not args.report:
        run(path, name, numbers, n_seeds)
    text = report(path, name, numbers, n_seeds)
    ending = "" if name == "newsgroups20" else f"-{name}"
    path.with_name(f"{path.stem}{ending}.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
