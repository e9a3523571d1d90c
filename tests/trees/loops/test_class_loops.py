"""EM, exchanging and priors of classes against dense algebra: one matrix of indicators, no loops."""

import numpy as np
import pytest
from scipy.special import expit, gammaln, logsumexp

from tacit.core.em import AbsoluteGain, run_accelerated_em
from tacit.trees.loops import class_em, class_exchange, class_prior


class Case:
    """Weighted rows with holes, tables and pseudo-counts: (cell and shares, class)."""

    def __init__(self, seed, n_rows=60, k=3, strength=1.0):
        rng = np.random.default_rng(seed)
        cards = rng.integers(2, 5, rng.integers(3, 6))
        self.starts = np.concatenate([[0], np.cumsum(cards)]).astype(np.int64)
        columns = [rng.integers(-1, card, n_rows) for card in cards]
        self.codes = np.stack(columns, axis=1).astype(np.int16)
        self.weights = rng.integers(0, 3, n_rows).astype(float)
        self.pseudo = strength * rng.uniform(0.2, 1.0, (self.starts[-1] + 1, k))
        self.tables = self.probabilities(rng.uniform(0.2, 1.0, self.pseudo.shape))
        self.indicators = np.zeros((n_rows, self.starts[-1]))  # (row, cell)
        for column, first in enumerate(self.starts[:-1]):
            present = self.codes[:, column] >= 0
            self.indicators[present, first + self.codes[present, column]] = 1.0

    @property
    def rows(self):
        return self.codes, self.weights, self.starts

    @property
    def columns(self):
        return [slice(*ends) for ends in zip(self.starts[:-1], self.starts[1:], strict=True)]

    def probabilities(self, counts):
        """Counts of each column, and of the shares in the last row, divided by their sums."""
        out = np.array(counts)
        for part in self.columns:
            out[part] /= out[part].sum(axis=0)
        out[-1] /= out[-1].sum()
        return out

    def log_likelihood(self, tables):
        """That of the weighted rows, and (row, class) the posteriors of classes."""
        logs = self.indicators @ np.log(tables[:-1]) + np.log(tables[-1])
        log_joint = logsumexp(logs, axis=1)
        return self.weights @ log_joint, np.exp(logs - log_joint[:, None])

    def step(self, tables):
        """The penalised log-likelihood, the next tables, and expected counts with pseudo-counts."""
        value, posterior = self.log_likelihood(tables)
        members = self.weights[:, None] * posterior
        mass = np.vstack([self.indicators.T @ members, members.sum(axis=0)]) + self.pseudo
        return value + (self.pseudo * np.log(tables)).sum(), self.probabilities(mass), mass


def test_tables_are_counts_divided_by_their_sums_or_even():
    case = Case(0)
    counts = case.pseudo * 7
    first, second = case.columns[:2]
    counts[first, 1] = 0.0
    actual = np.empty(counts.shape)
    class_em.tables_of(counts, case.starts, actual)
    with np.errstate(invalid="ignore"):
        expected = case.probabilities(counts)
    expected[first, 1] = 1 / (first.stop - first.start)
    assert actual == pytest.approx(expected)
    counts[second], counts[-1] = 0.0, 0.0
    class_em.tables_of(counts, case.starts, counts)  # in their place
    assert (counts[second] == 1 / (second.stop - second.start)).all()
    assert counts[-1] == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("seed", range(4))
def test_a_step_is_that_of_dense_algebra(seed):
    case = Case(seed)
    mass, image = np.empty(case.tables.shape), np.empty(case.tables.shape)
    members = np.empty((len(case.codes), 3))
    value = class_em.step(*case.rows, case.tables, case.pseudo, mass, image, members)
    expected, tables, counts = case.step(case.tables)
    assert value == pytest.approx(expected)
    assert image == pytest.approx(tables)
    assert mass == pytest.approx(counts)
    posterior = case.log_likelihood(case.tables)[1]
    assert members == pytest.approx(case.weights[:, None] * posterior)


# -- EM runs -----------------------------------------------------------------------------------------

LEAST, MEMORY = 1e-3, 4


def compiled_and_plain(case, most):
    """A run of EM in one compiled call, and the same with steps of dense algebra."""
    shape = case.tables.shape

    def step(flat):
        value, tables, mass = case.step(flat.reshape(shape))
        return value, tables.ravel(), mass.ravel()

    compiled = class_em.run_em(*case.rows, case.tables, case.pseudo, LEAST, most, MEMORY)
    expected = run_accelerated_em(
        step,
        case.tables.ravel(),
        AbsoluteGain(LEAST),
        normalise=lambda flat: case.probabilities(flat.reshape(shape)).ravel(),
        memory=MEMORY,
        max_iter=most,
        warn=False,
    )
    return compiled, expected


@pytest.mark.parametrize("seed", range(6))
def test_the_compiled_run_is_the_accelerated_one(seed):
    case = Case(seed, strength=0.1)
    (tables, mass, trace, count, converged), expected = compiled_and_plain(case, 500)
    assert converged
    assert expected.converged
    assert count == expected.n_steps
    assert trace == pytest.approx(np.array(expected.trace), abs=1e-8)
    assert (np.diff(trace) > -1e-9).all()
    assert tables == pytest.approx(expected.values.reshape(tables.shape), abs=1e-6)
    # The tables are one plain step beyond the last whose objective and counts are told.
    assert case.probabilities(mass) == pytest.approx(tables)
    assert case.step(tables)[0] >= trace[-1]


def test_what_went_downhill_is_taken_back_and_counts():
    """Some extrapolations go downhill; wherever the run is cut off, it is the plain one cut off there."""
    case = Case(0, strength=0.1)
    _, full_run = compiled_and_plain(case, 500)
    assert full_run.n_steps > len(full_run.trace)
    for most in range(1, full_run.n_steps + 1):
        (tables, _, trace, count, _), expected = compiled_and_plain(case, most)
        assert count == expected.n_steps <= most
        assert trace == pytest.approx(np.array(expected.trace), abs=1e-8)
        assert tables == pytest.approx(expected.values.reshape(tables.shape), abs=1e-6)


# -- exchanges ----------------------------------------------------------------------------------------


def roots_and_members(case):
    """What directions are measured by (cell, class), the classes' sizes, and (row, class) members."""
    _, posterior = case.log_likelihood(case.tables)
    members = case.weights[:, None] * posterior
    mass, conditionals = members.sum(axis=0), case.tables[:-1]
    overall = conditionals @ mass / mass.sum()
    rows = class_exchange.PSEUDO_ROWS
    return np.sqrt((conditionals * mass + rows * overall[:, None]) / (mass + rows)), mass, members


def dense_directions(case):
    """Power steps on the matrix of a correspondence analysis within each class, written out."""
    roots, mass, members = roots_and_members(case)
    total = mass + class_exchange.PSEUDO_ROWS
    directions, spreads = np.empty(roots.shape), np.empty(len(mass))
    for h, root in enumerate(roots.T):
        apart = case.indicators / root
        start = np.cos(1.0 + np.arange(len(root)))
        for column, part in enumerate(case.columns):
            apart[case.codes[:, column] >= 0, part] -= root[part]
            start[part] -= (start[part] @ root[part]) * root[part]
        matrix = apart.T @ (members[:, [h]] * apart) / total[h]
        matrix -= class_exchange.SELF_PART * mass[h] / total[h] * np.eye(len(root))
        axis = start / np.linalg.norm(start)
        for _ in range(class_exchange.PASSES):
            image = matrix @ axis
            spreads[h] = 1 + image @ axis
            axis = image / np.linalg.norm(image)
        directions[:, h] = axis / root
    return directions, spreads


@pytest.mark.parametrize("seed", range(5))
def test_directions_are_power_steps_of_a_correspondence_analysis(seed):
    case = Case(seed)
    _, mass, members = roots_and_members(case)
    actual, spread = class_exchange.directions_within(
        case.codes, case.starts, case.tables[:-1], mass, members
    )
    directions, spreads = dense_directions(case)
    assert actual == pytest.approx(directions, rel=1e-8, abs=1e-9)
    assert spread == pytest.approx(spreads)


def dense_halves(case):
    """Logarithms of tables and shares of the halves of each class, and the likelihoods of its members."""
    directions, spreads = dense_directions(case)
    _, _, members = roots_and_members(case)
    tables, weights, logs = [], [], []
    for h, members_of_class in enumerate(members.T):
        prior = np.repeat(case.pseudo[:, [h]], 2, axis=1)
        prior[-1] /= 2
        steep = class_exchange.SHARPNESS / np.sqrt(max(spreads[h], class_exchange.LEAST_SPREAD))
        first = expit(steep * (case.indicators @ directions[:, h]))
        parts = np.stack([first, 1 - first], axis=1) * members_of_class[:, None]
        for _ in range(2):  # cut, then a step of EM
            counts = np.vstack([case.indicators.T @ parts, parts.sum(axis=0)]) + prior
            probabilities = np.log(case.probabilities(counts))
            log_joint = case.indicators @ probabilities[:-1] + probabilities[-1]
            log_sums = logsumexp(log_joint, axis=1, keepdims=True)
            parts = np.exp(log_joint - log_sums) * members_of_class[:, None]
            logs.append(members_of_class @ log_sums[:, 0] + (prior[:-1] * probabilities[:-1]).sum())
        tables.append(probabilities[:-1])
        weights.append(probabilities[-1])
    return np.hstack(tables), np.concatenate(weights), np.array(logs[::2])


@pytest.mark.parametrize("seed", range(5))
def test_halves_are_those_of_a_step_within_each_class(seed):
    case = Case(seed)
    _, mass, members = roots_and_members(case)
    actual = class_exchange.halves_of(
        case.codes, case.starts, case.tables[:-1], mass, members, case.pseudo
    )
    for part, expected in zip(actual, dense_halves(case), strict=True):
        assert part == pytest.approx(expected, rel=1e-8)


def dense_exchange(case):
    """Every pair is tried: what it gains to cut one class, and what it costs to do without the other."""
    tables, weights, logs = dense_halves(case)
    log_conditionals, k = np.log(case.tables[:-1]), case.tables.shape[1]
    value, _ = case.log_likelihood(case.tables)
    counts = case.step(case.tables)[2][:-1]
    gained = logs - (counts * log_conditionals).sum(axis=0)
    lost = np.empty(k)
    for h in range(k):
        others = np.delete(case.tables, h, axis=1)
        others[-1] /= others[-1].sum()
        lost[h] = (
            value
            - case.log_likelihood(others)[0]
            + (case.pseudo[:-1] * log_conditionals)[:, h].sum()
        )
    pairs = {(a, b): gained[a] - lost[b] for a in range(k) for b in range(k) if a != b}
    cut, removed = max(pairs, key=pairs.get)
    out = case.tables.copy()
    for half, place in ((2 * cut, cut), (2 * cut + 1, removed)):
        out[:-1, place] = np.exp(tables[:, half])
        out[-1, place] = case.tables[-1, cut] * np.exp(weights[half])
    out[-1] /= out[-1].sum()
    return out, (cut, removed)


def test_the_pair_is_exchanged_that_gains_most():
    chosen = set()
    for seed in range(12):
        case = Case(seed, strength=0.5 + seed)
        expected, pair = dense_exchange(case)
        actual = class_exchange.exchanged(*case.rows, case.tables, case.pseudo)
        assert actual == pytest.approx(expected, rel=1e-7)
        chosen.add(pair)
    assert len(chosen) > 3  # of six


# -- priors -------------------------------------------------------------------------------------------


def likeliest_strength(counts, marginal, usual, spread):
    """By the counts (cell, class) of a column and a log-normal density: the best of a fine grid."""
    strengths = np.exp(np.linspace(np.log(1e-2), np.log(1e3), 10_001))
    priors = strengths[:, None] * marginal  # (strength, cell)
    k, totals = counts.shape[1], counts.sum(axis=0)
    logs = gammaln(counts + priors[:, :, None]).sum(axis=(1, 2)) - k * gammaln(priors).sum(axis=1)
    logs += k * gammaln(strengths) - gammaln(totals + strengths[:, None]).sum(axis=1)
    return strengths[np.argmax(logs - (np.log(strengths / usual) / spread) ** 2 / 2)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("usual", "spread"), [(2.0, 0.8), (0.05, 3.0), (40.0, 3.0)])
def test_strengths_are_those_that_make_counts_likeliest(seed, usual, spread):
    """From near and from far, with cells that have no counts, or less than one."""
    case, rng = Case(seed, k=8), np.random.default_rng(seed)
    marginals = case.probabilities(rng.uniform(0.2, 1.0, case.pseudo.shape))[:-1, 0]
    counts = rng.gamma(0.5, 4.0, (len(marginals), 8)) * rng.integers(0, 2, (len(marginals), 8))
    actual = class_prior.prior_strengths(counts, marginals, case.starts, usual, spread, 1e3, 0.0)
    best = [
        likeliest_strength(counts[part], marginals[part], usual, spread) for part in case.columns
    ]
    # A step shorter than CLOSE is the last: what is left is about its square. The grid is finer than 0.2 %.
    assert actual == pytest.approx(np.array(best), rel=class_prior.CLOSE**2 + 2e-3)


def test_strengths_have_a_most_and_a_mean():
    case = Case(1, k=8)
    marginals = case.tables[:-1, 0]
    counts = 100 * np.repeat(marginals[:, None], 8, axis=1)  # no class differs
    about = (counts, marginals, case.starts, 2.0, 100.0)
    assert class_prior.prior_strengths(*about, 30.0, 0.0) == pytest.approx(30.0)
    counts[case.columns[0]] = np.random.default_rng(0).permuted(counts[case.columns[0]], axis=0)
    separate = class_prior.prior_strengths(*about, 30.0, 0.0)
    half = class_prior.prior_strengths(*about, 30.0, 0.5)
    assert separate[0] < 10
    assert half == pytest.approx(np.sqrt(separate * np.exp(np.log(separate).mean())))


def test_pseudo_counts_are_spread_as_marginals():
    case = Case(2, k=4)
    marginals, strengths = case.tables[:-1, 0], np.arange(1.0, len(case.columns) + 1)
    actual = class_prior.pseudo_counts(strengths, marginals, case.starts, 3.0, 4)
    for part, strength in zip(case.columns, strengths, strict=True):
        assert actual[part].sum(axis=0) == pytest.approx([strength] * 4)
        assert actual[part] == pytest.approx(strength * np.repeat(marginals[part, None], 4, axis=1))
    assert actual[-1] == pytest.approx([0.75] * 4)
