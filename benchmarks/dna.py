"""Windows of DNA classified by a chain for each class, its order chosen or given, and by logistic regression.

    python benchmarks/dna.py                    all of it
    python benchmarks/dna.py --only splice      some of splice, omni, dragon
    python benchmarks/dna.py --splits 1         only the first split
    python benchmarks/dna.py --quick            splice alone, one split

*splice* are the 60 letters around splice junctions (three classes), *omni* and *dragon* the 60 letters
around poly(A) signals, true and false ones, in 3,000 sequences drawn at random. A fifth of the windows is
judged; no window is on both sides. Every method of Tacit is ``LikelihoodClassifier(HigherOrderHMM(order))``,
with temperature; *auto* is the default, *order 0* are independent positions. Logistic regression sees an
indicator of each letter at each place; its penalty is chosen by cross-validation. Errors are standard errors
over splits of the difference to *order 0*. The choice of orders was developed on the first splits of splice;
omni and dragon were not looked at.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import tacit

TABLES = {"splice": 5, "omni": 3, "dragon": 3}  # and how many splits
PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0)
MOST_ROWS, TESTED = 3000, 0.2
ORDERS: tuple[int | str, ...] = (0, 1, 2, 3, "auto")
Columns = dict[str, NDArray[Any]]


def load(name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Windows that differ, and their classes."""
    if name == "splice":
        data = tacit.datasets.load_splice()
        classes = data["class"]
        places = [place for place in data if place != "class"]
    else:
        data = tacit.datasets.load_polya(name)
        classes = data["label"]
        places = [f"p{place}" for place in range(73, 133)]
    cells = np.column_stack([data[place] for place in places])
    text = np.where(cells == None, "N", cells).astype(str)  # noqa: E711  elementwise
    _, first = np.unique(text, axis=0, return_index=True)
    drawn = np.random.default_rng(0).permutation(np.sort(first))[:MOST_ROWS]
    return cells[drawn], classes[drawn].astype(str)


def as_columns(cells: NDArray[Any]) -> Columns:
    return {f"p{place}": column for place, column in enumerate(cells.T)}


def models() -> dict[str, Any]:
    """All that are compared, by name."""
    encoder = OneHotEncoder(handle_unknown="ignore")
    search = GridSearchCV(
        make_pipeline(encoder, LogisticRegression(max_iter=2000)),
        {"logisticregression__C": PENALTIES},
        scoring="neg_log_loss",
    )
    chains = {
        f"order {order}": tacit.LikelihoodClassifier(tacit.HigherOrderHMM(order, n_jobs=1))
        for order in ORDERS
    }
    return {**chains, "logistic": search}


def measured(name: str, seed: int) -> dict[str, tuple[float, float, float, str]]:
    """Accuracy, log-loss, CPU seconds and what was chosen, of every method on a split."""
    cells, classes = load(name)
    order = np.random.default_rng([5, seed]).permutation(len(classes))
    cut = round(TESTED * len(order))
    test, train = order[:cut], order[cut:]
    out = {}
    for method, model in models().items():
        begun, chosen = time.process_time(), ""
        if method == "logistic":
            letters = np.where(cells == None, "N", cells).astype(str)  # noqa: E711  elementwise
            model.fit(letters[train], classes[train])
            chances = model.predict_proba(letters[test])
        else:
            model.fit(as_columns(cells[train]), classes[train])
            chances = model.predict_proba(as_columns(cells[test]))
            chosen = ", ".join(
                f"{chain.order_}:{max(chain.node_states_.values())}" for chain in model.models_
            )
        right = float(np.mean(model.classes_[chances.argmax(axis=1)] == classes[test]))
        loss = float(log_loss(classes[test], chances, labels=model.classes_))
        out[method] = right, loss, time.process_time() - begun, chosen
        print(f"{name} {seed} {method:12}{right:9.4f}{loss:9.4f}  {chosen}", file=sys.stderr)
    return out


def paired(values: list[float], others: list[float]) -> str:
    """The mean difference and its standard error."""
    gaps = [a - b for a, b in zip(values, others, strict=True)]
    error = statistics.stdev(gaps) / math.sqrt(len(gaps)) if len(gaps) > 1 else math.nan
    return f"{statistics.fmean(gaps):+.4f} ± {error:.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--splits", type=int, default=max(TABLES.values()))
    parser.add_argument("--only", default=",".join(TABLES))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    names = ["splice"] if chosen.quick else chosen.only.split(",")
    if strange := [name for name in names if name not in TABLES]:
        raise SystemExit(f"unknown: {', '.join(strange)}; there are {', '.join(TABLES)}")
    for name in names:
        n_splits = 1 if chosen.quick else min(chosen.splits, TABLES[name])
        splits = [measured(name, seed) for seed in range(n_splits)]
        print(f"{name}, {n_splits} splits; orders and states of the classes in the first")
        print(
            f"{'':12}{'accuracy':>9}{'less order 0':>18}{'log-loss':>10}{'less order 0':>18}{'CPU s':>8}"
        )
        for method in splits[0]:
            figures = [list(values) for values in zip(*(s[method] for s in splits), strict=True)]
            first = [list(values) for values in zip(*(s["order 0"] for s in splits), strict=True)]
            right, loss, seconds = (statistics.fmean(figures[place]) for place in range(3))
            print(
                f"{method:12}{right:9.4f}{paired(figures[0], first[0]):>18}{loss:10.4f}"
                f"{paired(figures[1], first[1]):>18}{seconds:8.1f}  {splits[0][method][3]}",
                flush=True,
            )
        print()


if __name__ == "__main__":
    main()
