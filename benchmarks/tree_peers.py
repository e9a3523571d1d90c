"""Tacit beside other programs for the same work, each on data that it can finish.

    python benchmarks/trees.py --peers        everything (minutes: two of the peers are slow)
    python benchmarks/tree_peers.py --quick   smaller data, fewer repetitions

`make peers` installs the peers; those that are absent are left out, with a line that says so. Parts:

* latent tree of 8 leaves with a known structure: EM of pgmpy and of pyAgrum;
* Chow-Liu tree of 32 columns: pgmpy;
* latent classes: StepMix;
* gaps of a real table filled in, and one column of it predicted: scikit-learn.

Times are CPU seconds of this process, after a call to warm up. KL is the Kullback-Leibler divergence from the
truth in nats per row, on 20,000 rows that were not learnt from; an estimate counts as at least 1e-3 of the
independence model. Everything is the mean over the repetitions.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.metadata
import logging
import math
import statistics
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import tacit
from tacit.messages.network import Tables

TEST_ROWS = 20_000
Codes = np.ndarray[Any, np.dtype[np.int16]]
Log = np.ndarray[Any, np.dtype[np.float64]]


def compare(*, quick: bool = False) -> None:
    """Run every part and print its table."""
    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the peers' own
        repetitions = range(1 if quick else 3)
        latent_trees(60 if quick else 200, repetitions, with_pgmpy=True)
        if not quick:
            latent_trees(1000, range(1), with_pgmpy=False)
        chow_liu_trees(1000 if quick else 10_000, repetitions)
        latent_classes(1000 if quick else 10_000, repetitions)
        gaps(repetitions)
        one_column(repetitions)


# ------------------------------------------------------------------------- what is compared


class Part:
    """One table: measures by contender, averaged over repetitions."""

    def __init__(self, title: str, reference: str, measures: Iterable[str]) -> None:
        self.title, self.reference, self.measures = title, reference, tuple(measures)
        self.values: dict[str, list[tuple[float, ...]]] = defaultdict(list)
        self.absent: list[str] = []

    def add(self, contender: str, *measured: float) -> None:
        self.values[contender].append(measured)

    def peer(self, module: str, package: str) -> Any:
        """The peer's module, or None and a line that it is absent."""
        try:
            return importlib.import_module(module)
        except ImportError as error:
            if package not in self.absent:
                self.absent.append(package)
                print(f"{package} left out: {error} (`make peers` installs it)")
            return None

    def show(self) -> None:
        """Print the table; ratios are of CPU seconds, to those of the reference."""
        means = {
            name: [statistics.fmean(column) for column in zip(*rows, strict=True)]
            for name, rows in self.values.items()
        }
        width = max(map(len, means))
        heads = ["CPU s", "ratio", *self.measures]
        print(f"\n{self.title}\n{'':{width}}  " + "  ".join(f"{head:>9}" for head in heads))
        for name, (seconds, *others) in means.items():
            cells = [f"{seconds:9.4f}", f"{seconds / means[self.reference][0]:9.1f}"]
            cells += [f"{value:9.4f}" for value in others]
            print(f"{name:{width}}  " + "  ".join(cells), flush=True)


def timed(work: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """CPU seconds of one call, and its result."""
    begun = time.process_time()
    result = work(*arguments)
    return time.process_time() - begun, result


def warm(work: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """The same after a call to warm up, as the mean of several calls if one is short."""
    work(*arguments)
    seconds, result = timed(work, *arguments)
    if seconds > 0.2:
        return seconds, result
    return timed(lambda: [work(*arguments) for _ in range(10)])[0] / 10, result


def version(package: str) -> str:
    return f"{package} {importlib.metadata.version(package)}"


def divergence(truth: Log, estimated: Log, train: Codes, test: Codes) -> float:
    """KL on the test rows, the estimate floored at 1e-3 of the independence model of the training rows."""
    floor = np.full(len(test), math.log(1e-3))
    for column, other in zip(train.T, test.T, strict=True):
        counts = np.bincount(column, minlength=int(other.max()) + 1) + 0.5
        floor += np.log(counts / counts.sum())[other]
    return tacit.evaluate.kl(truth, np.fmax(estimated, floor))


def frame(codes: Codes, names: Iterable[str], n_categories: int) -> Any:
    """The rows as a frame of categories, which knows also those that these rows do not show."""
    import pandas as pd

    kind = pd.CategoricalDtype(range(n_categories))
    return pd.DataFrame(
        {name: pd.Categorical.from_codes(codes[:, j], dtype=kind) for j, name in enumerate(names)}
    )


# ------------------------------------------------------------------------------- latent trees


def latent_trees(n_rows: int, repetitions: Iterable[int], *, with_pgmpy: bool) -> None:
    """EM of the peers on a binary tree of 8 leaves (4 categories) and 6 hidden nodes (2 states)."""
    part = Part(
        f"Latent tree of 8 leaves, structure given, {n_rows} rows", "Tacit, auto", ("KL", "steps")
    )
    for seed in repetitions:
        truth = tacit.toy.random_tree_model(
            topology=tacit.toy.named_topology("bin4"), n_categories=4, random_state=seed
        )
        train, test = (truth.sample(n, seed + i) for i, n in ((1000, n_rows), (2000, TEST_ROWS)))
        rows, right = frame(train, truth.names, 4), truth.log_prob(test)
        for name, options in {"auto": {}, "EM, 5 restarts": {"learn": "em"}}.items():
            model = tacit.LatentTree(2, truth.topology, **options)
            seconds, _ = warm(model.fit, rows)
            kl = divergence(right, model.score_samples(frame(test, truth.names, 4)), train, test)
            part.add(f"Tacit, {name}", seconds, kl, model.diagnostics_["n_steps"])
        for peer in [_pgmpy_em] * with_pgmpy + [_agrum_em]:
            outcome = peer(part, truth.tables, rows, seed)
            if outcome is not None:
                name, seconds, tables, steps = outcome
                estimate = tacit.toy.TreeModel(truth.topology, tables).log_prob(test)
                kl = divergence(right, np.nan_to_num(estimate, neginf=-1e9), train, test)
                part.add(name, seconds, kl, steps)
    part.show()


def _arcs(tables: Tables) -> list[tuple[str, str]]:
    names, parent = tables.tree.names, tables.tree.parent.tolist()
    return [(names[up], names[node]) for node, up in enumerate(parent) if up >= 0]


def _pgmpy_em(part: Part, tables: Tables, rows: Any, seed: int) -> Any:
    """One start, 20 steps: for each row, pgmpy looks at every joint state of the hidden nodes."""
    n_steps = 20
    if part.peer("pgmpy", "pgmpy") is None:
        return None
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.parameter_estimator import DiscreteEM

    tree, n_states = tables.tree, tables.layout.n_states
    hidden = [tree.names[node] for node in tree.hidden]
    network = DiscreteBayesianNetwork(_arcs(tables), latents=set(hidden))
    em = DiscreteEM(
        state_names={name: list(range(4)) for name in rows.columns},
        latent_card={name: n_states[node] for name, node in zip(hidden, tree.hidden, strict=True)},
        max_iter=n_steps,
        seed=seed,
        show_progress=False,
    )
    seconds, _ = timed(em.fit, network, rows.astype(int))
    of = {cpd.variable: cpd for cpd in em.parameters_}
    learnt_tables = [np.asarray(of[name].get_values(), dtype=float).T for name in tree.names]
    name = f"{version('pgmpy')}, DiscreteEM, 1 start"
    return name, seconds, Tables.of(tree, learnt_tables), n_steps


def _agrum_em(part: Part, tables: Tables, rows: Any, seed: int) -> Any:
    """One random start with a smoothing prior, stopped by a relative gain of 1e-5 or after 40 steps.

    Half of its start is random: with all of it random pyAgrum 3.3.1 gives up after five steps ("likelihood
    divergence"), with its default of a tenth it stays where it starts, and both gave worse models.
    """
    gum = part.peer("pyagrum", "pyagrum")
    if gum is None:
        return None
    tree, n_states = tables.tree, tables.layout.n_states
    network = gum.BayesNet()
    for name, count in zip(tree.names, n_states, strict=True):
        network.add(gum.LabelizedVariable(name, name, [str(code) for code in range(count)]))
    for arc in _arcs(tables):
        network.addArc(*arc)
    shown = rows.astype(int).astype(str)
    for node in tree.hidden:
        shown[tree.names[node]] = "?"
    gum.initRandom(seed + 1)

    def fit() -> Any:
        learner = gum.BNLearner(shown, network)
        learner.setNumberOfThreads(1)
        learner.useSmoothingPrior(1.0)
        learner.useEM(1e-5, 0.5)
        learner.EMsetMaxIter(40)
        return learner.learnParameters(gum.BayesNet(network)), learner.EMnbrIterations()

    seconds, (learnt, steps) = timed(fit)
    learnt_tables = [np.atleast_2d(learnt.cpt(name).toarray()) for name in tree.names]
    return f"{version('pyagrum')}, useEM, 1 start", seconds, Tables.of(tree, learnt_tables), steps


# ----------------------------------------------------------------------------- Chow-Liu trees


def chow_liu_trees(n_rows: int, repetitions: Iterable[int]) -> None:
    """Structure and tables, of 32 columns with 4 categories."""
    part = Part(f"Chow-Liu tree of 32 columns, {n_rows} rows", "Tacit, ChowLiuTree", ("KL",))
    for seed in repetitions:
        truth = tacit.toy.random_tree_model(
            topology=tacit.toy.named_topology("bin6"), n_categories=4, random_state=seed
        )
        train, test = (truth.sample(n, seed + i) for i, n in ((1000, n_rows), (2000, TEST_ROWS)))
        rows, right = frame(train, truth.names, 4), truth.log_prob(test)
        model = tacit.ChowLiuTree()
        seconds, _ = warm(model.fit, rows)
        kl = divergence(right, model.score_samples(frame(test, truth.names, 4)), train, test)
        part.add("Tacit, ChowLiuTree", seconds, kl)
        if part.peer("pgmpy", "pgmpy") is not None:
            seconds, learnt = timed(_pgmpy_chow_liu, rows.astype(int))
            kl = divergence(right, _chow_liu_log_prob(learnt, test, rows.columns), train, test)
            part.add(f"{version('pgmpy')}, TreeSearch", seconds, kl)
    part.show()


def _pgmpy_chow_liu(rows: Any) -> Any:
    from pgmpy.estimators import TreeSearch
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.parameter_estimator import DiscreteMLE

    dag = TreeSearch(rows, n_jobs=1).estimate(estimator_type="chow-liu", show_progress=False)
    network = DiscreteBayesianNetwork(dag.edges())
    states = {name: list(range(4)) for name in rows.columns}
    return DiscreteMLE(state_names=states).fit(network, rows).parameters_


def _chow_liu_log_prob(tables: Any, test: Codes, names: Any) -> Log:
    place = {name: j for j, name in enumerate(names)}
    total = np.zeros(len(test))
    with np.errstate(divide="ignore"):
        for cpd in tables:
            of = [place[name] for name in cpd.variables]  # the variable, then its parent
            total += np.log(np.asarray(cpd.values))[tuple(test[:, j] for j in of)]
    return total


# ----------------------------------------------------------------------------- latent classes


def latent_classes(n_rows: int, repetitions: Iterable[int]) -> None:
    """Three classes, 10 columns of 4 categories."""
    title = f"Latent classes: 3 of them, 10 columns, {n_rows} rows"
    part = Part(title, "Tacit, LatentClass", ("KL", "steps"))
    for seed in repetitions:
        truth = tacit.toy.random_tree_model(
            topology=tacit.toy.named_topology("star10"),
            n_categories=4,
            n_states=3,
            random_state=seed,
        )
        train, test = (truth.sample(n, seed + i) for i, n in ((1000, n_rows), (2000, TEST_ROWS)))
        right = truth.log_prob(test)
        model = tacit.LatentClass(3)
        seconds, _ = warm(model.fit, train)
        kl = divergence(right, model.score_samples(test), train, test)
        part.add("Tacit, LatentClass", seconds, kl, model.diagnostics_["n_steps"])
        mix = part.peer("stepmix", "stepmix")
        if mix is None:
            continue
        for starts in (1, 5):
            # Its own tolerance is 1e-10 of a row's mean log-likelihood; 1e-5 of it is nearer to ours.
            peer = mix.StepMix(
                3,
                measurement="categorical",
                n_init=starts,
                rel_tol=1e-5,
                abs_tol=0.0,
                random_state=seed,
                progress_bar=0,
            )
            seconds, _ = warm(peer.fit, train.astype(int))
            kl = divergence(right, _mixture_log_prob(peer, test), train, test)
            label = "1 start" if starts == 1 else f"{starts} starts"
            part.add(f"{version('stepmix')}, {label}", seconds, kl, peer.n_iter_)
    part.show()


def _mixture_log_prob(mixture: Any, test: Codes) -> Log:
    """Of each row; StepMix itself gives only the mean."""
    parameters = mixture.get_parameters()
    chances = parameters["measurement"]["pis"]  # (class, category of all columns)
    width = parameters["measurement"]["max_n_outcomes"]
    logs = np.log(parameters["weights"]) + sum(
        np.log(chances)[:, width * place + column].T for place, column in enumerate(test.T)
    )
    return np.logaddexp.reduce(logs, axis=1)


# -------------------------------------------------------------------------------- a real table


def gaps(repetitions: Iterable[int]) -> None:
    """A fifth of the held-out cells hidden and filled in again; the fraction that came back right."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
    from sklearn.model_selection import train_test_split

    columns = tacit.datasets.breast_cancer_table()
    order = ["low", "middle", "high", "benign", "malignant"]
    codes = np.column_stack([[order.index(v) for v in column] for column in columns.values()])
    codes[:, -1] -= 3
    title = "Gaps: 20 % of the cells of held-out patients (breast cancer, 31 columns)"
    part = Part(title, "Tacit, LatentTree()", ("right",))
    for seed in repetitions:
        train, test = train_test_split(codes, test_size=1 / 3, random_state=seed)
        hole = np.random.default_rng(seed).random(test.shape) < 0.2
        holed = np.where(hole, np.nan, test)
        model = tacit.LatentTree()
        seconds, _ = warm(model.fit, train)
        more, filled = warm(model.impute, holed)
        part.add("Tacit, LatentTree()", seconds + more, np.mean((filled == test)[hole]))
        for peer in (
            SimpleImputer(strategy="most_frequent"),
            KNNImputer(n_neighbors=10),
            IterativeImputer(random_state=0),
        ):
            seconds, filled = warm(_filled, peer, train, holed)
            right = np.mean((np.rint(filled) == test)[hole])
            part.add(f"scikit-learn, {type(peer).__name__}", seconds, right)
    part.show()


def _filled(imputer: Any, train: Any, rows: Any) -> Any:
    return imputer.fit(train).transform(rows)


def one_column(repetitions: Iterable[int]) -> None:
    """One column predicted from all others: what a classifier made for it is there for."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, log_loss
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

    columns = tacit.datasets.breast_cancer_table()
    diagnosis = columns.pop("diagnosis")
    cells = np.column_stack(list(columns.values()))
    title = "One column: the diagnosis, from 30 measurements cut into three words each"
    part = Part(title, "Tacit, LatentTree()", ("right", "log loss"))
    for seed in repetitions:
        rows, others, answer, other_answers = train_test_split(
            cells, diagnosis, test_size=1 / 3, random_state=seed
        )
        model = tacit.LatentTree()
        train = dict(zip([*columns, "diagnosis"], [*rows.T, answer], strict=True))
        seconds, _ = warm(model.fit, train)
        chances = model.predict_proba(dict(zip(columns, others.T, strict=True)), "diagnosis")
        kinds = list(model.categories_["diagnosis"])
        said = [kinds[k] for k in chances.argmax(axis=1)]
        part.add(
            "Tacit, LatentTree()",
            seconds,
            accuracy_score(other_answers, said),
            log_loss(other_answers, chances, labels=kinds),
        )
        for peer, coder in (
            (LogisticRegression(max_iter=1000), OneHotEncoder()),
            (CategoricalNB(), OrdinalEncoder()),
        ):
            name = type(peer).__name__
            line = make_pipeline(coder, peer)
            seconds, _ = warm(line.fit, rows, answer)
            part.add(
                f"scikit-learn, {name}",
                seconds,
                accuracy_score(other_answers, line.predict(others)),
                log_loss(other_answers, line.predict_proba(others)),
            )
    part.show()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    compare(quick=parser.parse_args().quick)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
