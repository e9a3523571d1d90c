"""Crime in towns predicted from some of their attributes: splits, sets of evidence, judged fits.

After the thesis, section 6.6.3: the first 50 attributes and the crime; from 30 attributes drawn at random the
crime of test rows is predicted, for ten such sets. The thesis' split (1400, 300 and 300 rows) is larger than
the table, so that 294 rows are for validation. Predictions are cut to the range from 0 to 1 for all.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tacit.reproduce.runner.trials import Case, Fit, Method, Results, Study, Trial, timed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.numbers.kernel_tree import KernelTree

    Array = NDArray[np.float64]
    # Predicts the crime of rows, given some of their attributes.
    Predictor = Callable[[Array, NDArray[np.int64]], Array]

Columns = Mapping[str, "NDArray[np.float64]"]
N_ATTRIBUTES = 50
GOAL = "ViolentCrimesPerPop"
REGRESSIONS = ("least-squares", "ridge", "boosting")


RESULTS: Results = {
    "off": 0.0,  # mean absolute error over all sets of evidence and test rows
    "spread": 0.0,  # standard deviation over the sets of evidence
    "seconds": 0.0,  # CPU time of learning, for all sets together
}


@dataclass(frozen=True)
class TownCase(Case):
    """Sizes of the splits and of the sets of evidence."""

    n_valid: int = 294
    n_test: int = 300
    n_evidence: int = 30
    n_sets: int = 10


def fit(trial: Trial) -> Fit:
    """A predictor for each set of evidence, learnt from the training rows of a split."""
    case, size, seed, options = trial.case, trial.size, trial.seed, dict(trial.method.options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of peers that do not converge
        if trial.method.learn != "kernel-tree":
            return timed(learn, trial.method, split_of(case, seed), size, seed)
        blend = options.pop("blend", False)
        tree = _kernel_tree(case, size, seed, tuple(options.items()))
    return replace(tree, result=[_blended(tree.value, blend=blend)] * case.n_sets)


def judge(trial: Trial, predictors: list[Predictor]) -> Results:
    """Errors on the test rows, for each set of evidence."""
    import numpy as np

    split = split_of(trial.case, trial.seed)
    errors = []
    for predict, evidence in zip(predictors, split.evidence, strict=True):
        predicted = np.clip(predict(split.test, evidence), 0.0, 1.0)
        errors.append(float(np.abs(predicted - split.test[:, -1]).mean()))
    return {"off": float(np.mean(errors)), "spread": float(np.std(errors))}


STUDY = Study(
    size="n_rows",
    results=RESULTS,
    fit=fit,
    judge=judge,
    words="split {split}, {size} rows, {method.name}",
    work=lambda trial: trial.size * (10 if trial.method.learn == "kernel-tree" else 1),
)


# -- methods ------------------------------------------------------------------------------------------


def learn(method: Method, split: Split, n_rows: int, seed: int) -> list[Predictor]:
    """A predictor for each set of evidence; validation rows choose where there is a choice."""
    train = split.train[:n_rows]
    if method.learn in REGRESSIONS:  # learnt anew for each set
        return [
            regression(_regressions(seed)[method.learn], train, evidence)
            for evidence in split.evidence
        ]
    if method.learn == "gaussian-tree":
        predictor = gaussian_tree(train, split.valid, seed, **dict(method.options))
    else:
        learners = {"naive-bayes": naive_bayes, "linear": linear, "copula": copula}
        predictor = learners[method.learn](train)
    return [predictor] * len(split.evidence)


def gaussian_tree(train: Array, valid: Array, seed: int, **options: Any) -> Predictor:
    """A tree of Gaussian variables, or of normal scores; medians."""
    from tacit.numbers.gaussian_tree import GaussianTree

    model = GaussianTree(random_state=seed, **options).fit(named(train), validation=named(valid))
    return lambda rows, evidence: model.quantiles(named(rows, evidence), GOAL, 0.5)


@lru_cache(maxsize=1)
def _kernel_tree(
    case: TownCase, n_rows: int, seed: int, options: tuple[tuple[str, Any], ...]
) -> Fit:
    """A tree of numbers, which can be queried with and without the Gaussian beside it."""
    from tacit.numbers.kernel_tree import KernelTree

    split = split_of(case, seed)
    known: dict[str, Any] = {"experts": "tree", **dict(options)}
    model = KernelTree(continuous=list(towns()), random_state=seed, **known)
    return timed(model.fit, named(split.train[:n_rows]), validation=named(split.valid))


def _blended(model: KernelTree, *, blend: bool) -> Predictor:
    """Medians of a tree of numbers."""
    import numpy as np

    def predict(rows: Array, evidence: NDArray[np.int64]) -> Array:
        model.blend = blend
        return np.asarray(model.quantiles(named(rows, evidence), GOAL, 0.5))

    return predict


def naive_bayes(train: Array) -> Predictor:
    """Given the crime, attributes are independent and Gaussian, with a mean that is linear in it."""
    import numpy as np

    rows = filled(train, train)
    goal, attributes = rows[:, -1], rows[:, :-1]
    mean, variance = goal.mean(), goal.var()
    slopes = (attributes - attributes.mean(axis=0)).T @ (goal - mean) / (len(goal) * variance)
    centres = attributes.mean(axis=0) - slopes * mean
    noise = np.maximum((attributes - centres - np.outer(goal, slopes)).var(axis=0), 1e-6)

    def predict(test: Array, evidence: NDArray[np.int64]) -> Array:
        deviations = filled(test, train)[:, evidence] - centres[evidence]
        precision = 1 / variance + np.sum(slopes[evidence] ** 2 / noise[evidence])
        pulled = mean / variance + deviations @ (slopes[evidence] / noise[evidence])
        return np.asarray(pulled / precision)

    return predict


def linear(train: Array) -> Predictor:
    """Linear regression on all attributes; those that are not given have their means, as in the thesis."""
    import numpy as np

    rows = filled(train, train)
    means = rows.mean(axis=0)
    centred = rows - means
    slopes = np.linalg.lstsq(centred[:, :-1], centred[:, -1])[0]

    def predict(test: Array, evidence: NDArray[np.int64]) -> Array:
        deviations = filled(test, train) - means
        return np.asarray(means[-1] + deviations[:, evidence] @ slopes[evidence])

    return predict


def copula(train: Array) -> Predictor:
    """A Gaussian of normal scores by rank, without a tree; medians."""
    import numpy as np
    from scipy.special import ndtri
    from scipy.stats import rankdata

    rows = filled(train, train)
    scores = ndtri((rankdata(rows, axis=0) - 0.5) / len(rows))
    order = np.sort(rows, axis=0), np.sort(scores, axis=0)
    correlation = np.corrcoef(scores.T) + 1e-3 * np.eye(rows.shape[1])

    def predict(test: Array, evidence: NDArray[np.int64]) -> Array:
        known = filled(test, train)
        scores_known = [np.interp(known[:, j], order[0][:, j], order[1][:, j]) for j in evidence]
        slopes = np.linalg.solve(correlation[np.ix_(evidence, evidence)], correlation[evidence, -1])
        scores: Array = slopes @ np.array(scores_known)
        return np.asarray(np.interp(scores, order[1][:, -1], order[0][:, -1]))

    return predict


def regression(model: Any, train: Array, evidence: NDArray[np.int64]) -> Predictor:
    """A regression of scikit-learn on one set of evidence."""
    import numpy as np

    rows = filled(train, train)
    model.fit(rows[:, evidence], rows[:, -1])
    return lambda test, evidence_columns: np.asarray(
        model.predict(filled(test, train)[:, evidence_columns])
    )


def _regressions(seed: int) -> dict[str, Any]:
    import numpy as np
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import LinearRegression, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    boosting = {"learning_rate": 0.05, "max_iter": 300, "early_stopping": True}
    return {
        "least-squares": LinearRegression(),
        "ridge": make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 4, 25))),
        "boosting": HistGradientBoostingRegressor("absolute_error", random_state=seed, **boosting),
    }


# -- data ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Split:
    """Training, validation and test towns, and the sets of evidence."""

    train: Array  # (town, column)  the crime is the last column
    valid: Array
    test: Array
    evidence: tuple[NDArray[np.int64], ...]  # of each set


@lru_cache(maxsize=2)
def split_of(case: TownCase, seed: int) -> Split:
    """The rows of a split, and the sets of evidence, the same for every method."""
    import numpy as np

    rows = np.column_stack(list(towns().values()))
    rng = np.random.default_rng([case.n_valid, case.n_test, seed])
    order = rng.permutation(len(rows))
    cut = case.n_valid + case.n_test
    sets = tuple(
        rng.choice(N_ATTRIBUTES, size=case.n_evidence, replace=False) for _ in range(case.n_sets)
    )
    valid, test = order[: case.n_valid], order[case.n_valid : cut]
    return Split(rows[order[cut:]], rows[valid], rows[test], sets)


@lru_cache(maxsize=1)
def towns() -> dict[str, Array]:
    """The columns: the first attributes, and the crime."""
    from tacit.datasets import load_communities

    return load_communities(N_ATTRIBUTES)


def named(rows: Array, evidence: NDArray[np.int64] | None = None) -> dict[str, Array]:
    """Rows as a table; with evidence, only these attributes."""
    names = list(towns())
    columns = range(len(names)) if evidence is None else evidence
    return {names[column]: rows[:, column] for column in columns}


def filled(rows: Array, train: Array) -> Array:
    """Rows whose missing numbers are the medians of the training rows."""
    import numpy as np

    return np.where(np.isnan(rows), np.nanmedian(train, axis=0), rows)
