"""How near learnt topics are to those that documents were drawn from, beside other programs.

    python benchmarks/topic_recovery.py            all of it; can be stopped and resumed
    python benchmarks/topic_recovery.py --quick    one small cell, one seed
    python benchmarks/topic_recovery.py --again    learn again what was learnt before

20 topics of 1000 words, Dirichlet with parameters 0.1; documents of 100 words; 5 seeds. Errors are mean
total variations of topics after the best matching. ``TopicModel`` has its own defaults in all cells, but for
the number of topics and for the sum of Dirichlet parameters, which is true, ``"auto"`` or wrong on
purpose (0 is ``model="single"``): once as it is and once with ``learn="moments"``, without variational steps.
Where fewer topics are looked for than there are, those found count; where more, the best twenty.

scikit-learn and tomotopy (where installed) are given the true parameters of both Dirichlet distributions,
which they need not guess; they learn the first seed, and batches no more than 10000 documents. Seconds are
CPU seconds of one thread; the first of each kind compile or load what they need. A bound is 1.05 times the
error that moments had in a single run beforehand, or, for ``"auto"``, 1.1 times that of the same with the
true sum. Figures are kept in ``out/topic_recovery.jsonl``, the report is ``out/topic_recovery.md``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.threads import limit_threads
from tacit.topics.data.documents import Documents
from tacit.topics.model.topics import Topics
from tacit.topics.topic_model import TopicModel
from tacit.toy.documents import add_spam, make_bursty, random_topics, sample_documents

Array = NDArray[np.float64]

N_SEEDS, PEER_SEEDS = 5, 1
MOST_BATCH = 10_000  # documents that scikit-learn's batch method is given
N_TOPICS, N_WORDS, CONCENTRATION = 20, 1000, 0.1
SLACK = 1.05  # of the figures of a single run
WORSE = 1.10  # that "auto" may be than the known sum of parameters
OURS = ("TopicModel", "TopicModel, moments")


@dataclass(frozen=True)
class Cell:
    """Documents of a kind, the parameter that is given, and the error of a single run beforehand."""

    name: str
    figure: float | None
    alpha: float = 0.05
    n: int = 10_000
    length: Any = 100
    kind: str = ""  # zipf, spam, bursty, unequal
    n_topics: int = N_TOPICS  # that are looked for
    alpha0: float | str | None = None  # as an argument; None is the true one
    peers: bool = False

    @property
    def documents(self) -> tuple[Any, ...]:
        """What makes the documents: cells that agree share them."""
        return (self.alpha, self.n, self.length, self.kind)

    def draw(self, seed: int) -> tuple[Topics, Documents]:
        """The true topics, and documents."""
        alpha: Any = self.alpha
        if self.kind == "unequal":
            alpha = 1 / np.arange(1, N_TOPICS + 1)
            alpha = self.alpha * N_TOPICS * alpha / alpha.sum()
        zipf = self.kind == "zipf"
        truth = random_topics(
            N_TOPICS,
            5 * N_WORDS if zipf else N_WORDS,
            alpha,
            concentration=CONCENTRATION / 2 if zipf else CONCENTRATION,
            zipf=zipf,
            random_state=[seed, 0],
        )
        documents = sample_documents(truth, self.n, self.length, random_state=[seed, 1])
        if self.kind == "spam":
            documents = add_spam(documents, 20, random_state=[seed, 2])
        if self.kind == "bursty":
            documents = make_bursty(documents, random_state=[seed, 3])
        return truth, documents


def cells() -> list[Cell]:
    """All cells, with the errors that were seen beforehand."""
    figures = {
        0.05: {1000: 0.137, 3000: 0.083, 10_000: 0.047, 30_000: 0.028},
        0.5: {1000: 0.290, 3000: 0.181, 10_000: 0.108, 30_000: 0.068},
    }
    made = []
    for alpha, row in figures.items():
        for n, figure in row.items():
            name = f"{n} documents, alpha {alpha}"
            made.append(Cell(name, figure, alpha, n, peers=True))
            made.append(Cell(f"{name}, auto", None, alpha, n, alpha0="auto"))
    wrong = {
        0.05: {0: 0.217, 0.1: 0.193, 0.5: 0.107, 2: 0.105, 5: 0.239, 20: 0.451},
        0.5: {0: 0.517, 1: 0.428, 5: 0.223, 20: 0.164, 50: 0.324},
    }
    for alpha, by_alpha0 in wrong.items():
        for alpha0, figure in by_alpha0.items():
            name = f"alpha0 {alpha * N_TOPICS:g}, given {alpha0}"
            made.append(Cell(name, figure, alpha, alpha0=float(alpha0)))
    for k, published in {10: 0.317, 15: 0.225, 19: 0.078, 21: 0.047, 25: 0.047, 40: 0.049}.items():
        made.append(Cell(f"{k} topics looked for", published, n_topics=k))
    made.append(Cell("100 topics looked for", None, n_topics=100))
    others = {
        "Zipf vocabulary of 5000": Cell("", 0.048, kind="zipf"),
        "short documents, 3 to 20": Cell("", 0.174, length=(3, 20)),
        "spam, 20 in 4000": Cell("", 0.081, n=4000, kind="spam"),
        "bursty, 4000": Cell("", 0.078, n=4000, kind="bursty"),
        "unequal alpha": Cell("", 0.063, kind="unequal"),
    }
    for name, cell in others.items():
        fields = {"n": cell.n, "length": cell.length, "kind": cell.kind}
        made.append(Cell(name, cell.figure, peers=True, **fields))
        made.append(Cell(f"{name}, auto", None, alpha0="auto", **fields))
    return made


# -- the programs -------------------------------------------------------------------------------------


def by_tacit(learn: str) -> Callable[..., Array]:
    """The estimator with its own defaults; nothing is drawn but the first columns, always the same."""

    def fit(cell: Cell, truth: Topics, documents: Documents, seed: int) -> Array:
        alpha0_given: Any = truth.alpha0 if cell.alpha0 is None else cell.alpha0
        single = alpha0_given == 0
        model = TopicModel(
            cell.n_topics,
            "auto" if single else alpha0_given,
            "single" if single else "lda",
            learn=learn,
            n_jobs=1,
        )
        return model.fit(documents).components_

    return fit


def by_scikit(method: str, n_iter: int) -> Callable[..., Array]:
    """LatentDirichletAllocation with the true parameters."""

    def learn(cell: Cell, truth: Topics, documents: Documents, seed: int) -> Array:
        from sklearn.decomposition import LatentDirichletAllocation

        model = LatentDirichletAllocation(
            N_TOPICS,
            doc_topic_prior=float(truth.alpha0 / N_TOPICS),
            topic_word_prior=CONCENTRATION,
            learning_method=method,
            max_iter=n_iter,
            batch_size=512,
            random_state=seed,
        ).fit(documents.counts)
        return np.asarray(model.components_ / model.components_.sum(axis=1, keepdims=True))

    return learn


def by_tomotopy(n_iter: int) -> Callable[..., Array]:
    """Collapsed Gibbs sampling with the true parameters."""

    def learn(cell: Cell, truth: Topics, documents: Documents, seed: int) -> Array:
        import tomotopy

        model = tomotopy.LDAModel(
            k=N_TOPICS, alpha=truth.alpha.tolist(), eta=CONCENTRATION, seed=seed
        )
        counts = documents.counts
        for start, stop in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
            places = np.repeat(counts.indices[start:stop], counts.data[start:stop])
            model.add_doc([str(place) for place in places])
        model.train(n_iter, workers=1)
        topics = np.zeros((N_TOPICS, documents.n_words))
        columns = [int(word) for word in model.used_vocabs]
        for topic in range(N_TOPICS):
            topics[topic, columns] = model.get_topic_word_dist(topic)
        return topics

    return learn


def programs() -> dict[str, Callable[..., Array]]:
    """This project, and what else is installed."""
    by_name: dict[str, Callable[..., Array]] = {
        "TopicModel": by_tacit("auto"),
        "TopicModel, moments": by_tacit("moments"),
        "scikit-learn, batch 20": by_scikit("batch", 20),
        "scikit-learn, online 5": by_scikit("online", 5),
    }
    if find_spec("tomotopy"):
        by_name["tomotopy, 100"] = by_tomotopy(100)
    return by_name


# -- runs ---------------------------------------------------------------------------------------------


def error(truth: Array, learnt: Array) -> float:
    """Mean total variation of topics after the best matching."""
    from scipy.optimize import linear_sum_assignment

    apart = np.array([0.5 * np.abs(learnt - topic).sum(axis=1) for topic in truth])
    return float(apart[linear_sum_assignment(apart)].mean())


def run(selected: Iterable[Cell], n_seeds: int, path: Path, again: bool) -> list[dict[str, Any]]:
    """Errors and seconds of every cell, seed and program, kept as they come."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if again:
        path.unlink(missing_ok=True)
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {(row["cell"], row["program"], row["seed"]) for row in rows}
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in selected:
        groups.setdefault(cell.documents, []).append(cell)
    by_size = sorted(groups.values(), key=lambda group: group[0].n)
    rounds = [(peers, group) for peers in (False, True) for group in by_size]
    for peers, group in rounds:
        for seed in range(PEER_SEEDS if peers else n_seeds):
            todo = [
                (cell, name, learn)
                for cell in group
                for name, learn in programs().items()
                if (name not in OURS and cell.peers if peers else name in OURS)
                and ("batch" not in name or cell.n <= MOST_BATCH)
                and (cell.name, name, seed) not in known
            ]
            if not todo:
                continue
            truth, documents = group[0].draw(seed)
            for cell, name, learn in todo:
                begun = time.process_time()
                learnt = learn(cell, truth, documents, seed)
                seconds = time.process_time() - begun
                row = {"cell": cell.name, "program": name, "seed": seed, "seconds": seconds}
                row["error"] = error(truth.words, learnt)
                print(
                    f"{cell.name}, {name}, seed {seed}: {row['error']:.4f}, {seconds:.2f} s",
                    flush=True,
                )
                rows.append(row)
                with path.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    return rows


def report(selected: list[Cell], rows: list[dict[str, Any]]) -> str:
    """The table, with what holds."""

    def mean(cell: str, program: str, measure: str) -> float | None:
        values = [row[measure] for row in rows if (row["cell"], row["program"]) == (cell, program)]
        return float(np.mean(values)) if values else None

    names = list(programs())
    lines = ["| documents | bound | " + " | ".join(f"{name} (CPU s)" for name in names) + " |"]
    lines.append("|---|---|" + "---|" * len(names))
    held: dict[str, list[bool]] = {name: [] for name in OURS}
    for cell in selected:
        shown, bounds = [], set()
        for name in names:
            apart, seconds = mean(cell.name, name, "error"), mean(cell.name, name, "seconds")
            if apart is None:
                shown.append("")
                continue
            bound = None if cell.figure is None else SLACK * cell.figure
            if cell.alpha0 == "auto":
                known = mean(cell.name.removesuffix(", auto"), name, "error")
                bound = None if known is None else WORSE * known
            mark = ""
            if name in OURS and bound is not None:
                bounds.add(f"{bound:.4f}")
                held[name].append(apart <= bound)
                mark = " holds" if apart <= bound else " ABOVE"
            shown.append(f"{apart:.4f} ({seconds:.2f}){mark}")
        lines.append(f"| {cell.name} | {', '.join(sorted(bounds))} | " + " | ".join(shown) + " |")
    summaries = [f"{name}: {sum(ok)} of {len(ok)} bounds hold." for name, ok in held.items()]
    return "\n".join([*lines, "", *summaries])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    selected = cells()
    folder = Path("out")
    with limit_threads(1):
        if options.quick:
            selected = [cell for cell in selected if cell.documents == (0.05, 1000, 100, "")]
            rows = run(selected, 1, folder / "topic_recovery_quick.jsonl", True)
        else:
            rows = run(selected, N_SEEDS, folder / "topic_recovery.jsonl", options.again)
    table = report(selected, rows)
    print(table)
    if not options.quick:
        (folder / "topic_recovery.md").write_text(table + "\n")


if __name__ == "__main__":
    main()
