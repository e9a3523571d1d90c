"""Crime in towns told from some of their attributes: splits, sets of evidence, and one judged fit.

After the thesis, section 6.6.3: the first 50 attributes and the crime; from 30 attributes drawn at random the
crime of test rows is predicted, for ten such sets. The thesis' split (1400, 300 and 300 rows) is larger than
the table, so that 294 rows choose what is to be chosen. Predictions are cut to the range from 0 to 1 for all.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.reproduce.runner.grids import Grid, GridTrial, Method
from tacit.reproduce.runner.outcomes import Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    # The crime of rows of which only some attributes are looked at.
    Predictor = Callable[[Array, NDArray[np.int64]], Array]

Columns = Mapping[str, "NDArray[np.float64]"]
N_ATTRIBUTES = 50
GOAL = "ViolentCrimesPerPop"


@dataclass(frozen=True)
class TownCase:
    """How the rows are used, and what is asked."""

    n_valid: int = 294
    n_test: int = 300
    n_evidence: int = 30
    n_sets: int = 10

    @property
    def columns(self) -> dict[str, Any]:
        """What all lines of this case have in common."""
        return asdict(self)


@dataclass(frozen=True)
class TownRun(Outcome):
    """A trial and what came of it: one line of the table."""

    along: ClassVar[str] = "n_rows"
    first_result: ClassVar[str] = "off"

    n_valid: int
    n_test: int
    n_evidence: int
    n_sets: int
    n_rows: int
    seed: int
    method: str
    settings: str
    version: str
    off: float  # mean absolute error over all sets of evidence and test rows
    spread: float  # standard deviation over the sets of evidence
    seconds: float  # CPU time of learning, for all sets together


class TownTrial(GridTrial[TownCase]):
    """One method on one split."""

    @property
    def work(self) -> int:
        """How long it takes, about, in rows of trees."""
        return self.size * (10 if self.method.learn == "kernel-tree" else 1)

    def run(self) -> TownRun:
        """Learn, ask and compare."""
        return perform(self)

    def __str__(self) -> str:
        return f"split {self.seed + 1}, {self.size} rows, {self.method.name}"


class TownSettings(Grid[TownCase]):
    """Every split with every size and method."""

    trial = TownTrial
    kind = TownRun


def perform(trial: TownTrial) -> TownRun:
    """Learn the training rows of a split, and predict the test rows from each set of evidence."""
    import numpy as np

    split = split_of(trial.case, trial.seed)
    train = split.train[: trial.size]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of peers that do not converge
        if trial.method.learn == "kernel-tree":  # once for all that is asked of it
            predict, spent = _kernel_tree(trial.case, trial.size, trial.seed, trial.method)
        else:
            begun = time.process_time()
            predict = learnt(trial.method, train, split.valid, trial.seed)
            spent = time.process_time() - begun
        errors = []
        for evidence in split.evidence:
            begun = time.process_time()
            told = np.clip(predict(split.test, evidence), 0.0, 1.0)
            if trial.method.learn in EACH_SET:
                spent += time.process_time() - begun  # these learn anew for each set
            errors.append(float(np.abs(told - split.test[:, -1]).mean()))
    return TownRun.of(trial.key, float(np.mean(errors)), float(np.std(errors)), spent)


# -- methods ------------------------------------------------------------------------------------------


def learnt(method: Method, train: Array, valid: Array, seed: int) -> Predictor:
    """What a method learns from training rows; validation rows choose, where there is something to."""
    options = dict(method.options)
    if method.learn == "gaussian-tree":
        return gaussian_tree(train, valid, seed, **options)
    if method.learn in EACH_SET:
        return EACH_SET[method.learn](train, seed)
    return {"naive-bayes": naive_bayes, "linear": linear, "copula": copula}[method.learn](train)


def gaussian_tree(train: Array, valid: Array, seed: int, **options: Any) -> Predictor:
    """A tree of Gaussian variables, or of normal scores; medians."""
    from tacit.numbers.gaussian_tree import GaussianTree

    model = GaussianTree(random_state=seed, **options).fit(named(train), validation=named(valid))
    return lambda rows, evidence: model.quantiles(named(rows, evidence), GOAL, 0.5)


def _kernel_tree(case: TownCase, n_rows: int, seed: int, method: Method) -> tuple[Predictor, float]:
    """A tree of numbers, medians; and how long it took."""
    import numpy as np

    options = dict(method.options)
    blend = options.pop("blend", False)
    model, seconds = _kernel_model(case, n_rows, seed, tuple(options.items()))

    def predict(rows: Array, evidence: NDArray[np.int64]) -> Array:
        model.blend = blend
        return np.asarray(model.quantiles(named(rows, evidence), GOAL, 0.5))

    return predict, seconds


@lru_cache(maxsize=1)
def _kernel_model(
    case: TownCase, n_rows: int, seed: int, options: tuple[tuple[str, Any], ...]
) -> tuple[Any, float]:
    """The tree itself, which can be asked with and without the Gaussian beside it."""
    from tacit.numbers.kernel_tree import KernelTree

    split = split_of(case, seed)
    begun = time.process_time()
    model = KernelTree(continuous=list(towns()), random_state=seed, **dict(options))
    model.fit(named(split.train[:n_rows]), validation=named(split.valid))
    return model, time.process_time() - begun


def naive_bayes(train: Array) -> Predictor:
    """Given the crime, attributes are independent and Gaussian, with a mean that is linear in it."""
    import numpy as np

    rows = filled(train, train)
    goal, attributes = rows[:, -1], rows[:, :-1]
    mean, variance = goal.mean(), goal.var()
    slopes = (attributes - attributes.mean(axis=0)).T @ (goal - mean) / (len(goal) * variance)
    centres = attributes.mean(axis=0) - slopes * mean
    left = np.maximum((attributes - centres - np.outer(goal, slopes)).var(axis=0), 1e-6)

    def predict(asked: Array, evidence: NDArray[np.int64]) -> Array:
        seen = filled(asked, train)[:, evidence] - centres[evidence]
        precision = 1 / variance + np.sum(slopes[evidence] ** 2 / left[evidence])
        pulled = mean / variance + seen @ (slopes[evidence] / left[evidence])
        return np.asarray(pulled / precision)

    return predict


def linear(train: Array) -> Predictor:
    """Linear regression on all attributes; those not looked at have their means, as in the thesis."""
    import numpy as np

    rows = filled(train, train)
    means = rows.mean(axis=0)
    apart = rows - means
    slopes = np.linalg.lstsq(apart[:, :-1], apart[:, -1])[0]

    def predict(asked: Array, evidence: NDArray[np.int64]) -> Array:
        seen = filled(asked, train) - means
        return np.asarray(means[-1] + seen[:, evidence] @ slopes[evidence])

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

    def predict(asked: Array, evidence: NDArray[np.int64]) -> Array:
        known = filled(asked, train)
        seen = [np.interp(known[:, j], order[0][:, j], order[1][:, j]) for j in evidence]
        slopes = np.linalg.solve(correlation[np.ix_(evidence, evidence)], correlation[evidence, -1])
        scores: Array = slopes @ np.array(seen)
        return np.asarray(np.interp(scores, order[1][:, -1], order[0][:, -1]))

    return predict


def _of_each_set(make: Callable[[int], Any]) -> Callable[[Array, int], Predictor]:
    """A regression of scikit-learn that is learnt anew for each set of evidence."""

    def learn(train: Array, seed: int) -> Predictor:
        rows = filled(train, train)

        def predict(asked: Array, evidence: NDArray[np.int64]) -> Array:
            model = make(seed).fit(rows[:, evidence], rows[:, -1])
            found: Array = model.predict(filled(asked, train)[:, evidence])
            return found

        return predict

    return learn


def _least_squares(_seed: int) -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


def _ridge(_seed: int) -> Any:
    import numpy as np
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 4, 25)))


def _boosting(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        loss="absolute_error",
        learning_rate=0.05,
        max_iter=300,
        early_stopping=True,
        random_state=seed,
    )


EACH_SET: Mapping[str, Callable[[Array, int], Predictor]] = {
    "least-squares": _of_each_set(_least_squares),
    "ridge": _of_each_set(_ridge),
    "boosting": _of_each_set(_boosting),
}


# -- data ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Split:
    """Towns to learn from, to choose by and to judge on, and what is looked at."""

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
    """The columns: the first attributes, and the crime.

    Raises
    ------
    MissingDataError
        The file is not where loaders look.
    """
    from tacit.datasets import load_communities

    return load_communities(N_ATTRIBUTES)


def named(rows: Array, evidence: NDArray[np.int64] | None = None) -> dict[str, Array]:
    """Rows as a table; with evidence, only these attributes."""
    names = list(towns())
    places = range(len(names)) if evidence is None else evidence
    return {names[place]: rows[:, place] for place in places}


def filled(rows: Array, train: Array) -> Array:
    """Rows without gaps, for those that cannot have any: the median of the training rows."""
    import numpy as np

    return np.where(np.isnan(rows), np.nanmedian(train, axis=0), rows)
