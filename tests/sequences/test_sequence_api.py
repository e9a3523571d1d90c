"""What all models of sequences have in common, from outside."""

import numpy as np
import pytest

import tacit
from oracles.letters import letters
from tacit.sequences.model.emission_chain import EmissionChain

SYMBOLS = letters(["aabbbaabbb", "bbbaaabb", "aaabbbaa", "bbaabbaa"] * 8)
RNG = np.random.default_rng(0)
NUMBERS = [RNG.normal(size=20) + 3 * (np.arange(20) // 5 % 2) for _ in range(6)]
MODELS = {
    "tables": (lambda: tacit.HMM(2), SYMBOLS),
    "operators": (lambda: tacit.HMM(2, "spectral"), SYMBOLS),
    "gaussian": (lambda: tacit.HMM(2), NUMBERS),
    "kernel": (lambda: tacit.KernelHMM(2, n_basis=4), NUMBERS),
    "kernel operators": (lambda: tacit.KernelHMM(2, "spectral", bandwidth=1.0), NUMBERS),
    "weighted": (lambda: tacit.WeightedAutomaton(2), SYMBOLS),
    "probabilistic": (lambda: tacit.ProbabilisticAutomaton(2, "em"), SYMBOLS),
    "mean": (lambda: tacit.ProbabilisticAutomaton(2, n_samples=3, n_sweeps=20), SYMBOLS),
}
QUERIES = (
    *("score_samples", "score", "filter", "posterior", "predict", "predict_next_proba"),
    *("predict_next_states", "predict_next_density", "expectation", "quantiles", "perplexity"),
    *("log_predictive", "values", "bic", "aic"),
)


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    make, data = MODELS[request.param]
    return make().fit(data), data


def test_queries_do_not_change_the_model(fitted, tmp_path):
    model, data = fitted
    model.save(tmp_path / "before.tacit")
    for name in QUERIES:
        if hasattr(type(model), name):
            try:
                getattr(model, name)(data)
            except tacit.errors.NotAvailableError:
                continue
    model.sample(2, random_state=0)
    model.sample(2, given=data[0], random_state=0)
    model.save(tmp_path / "after.tacit")
    assert (tmp_path / "after.tacit").read_bytes() == (tmp_path / "before.tacit").read_bytes()


def test_score_is_the_mean_of_scores_of_sequences(fitted):
    model, data = fitted
    values, repairs = model.score_samples(data, return_repairs=True)
    assert values.shape == (len(data),)
    assert model.score(data) == pytest.approx(values.mean(), rel=1e-12)
    assert isinstance(repairs, dict)
    assert model.kind == "sequences"
    assert len(model.sample(n_samples=3, random_state=0)) == 3


def test_two_default_fits_are_the_same_model(fitted, tmp_path):
    model, data = fitted
    model.save(tmp_path / "one.tacit")
    type(model)(**model.get_params()).fit(data).save(tmp_path / "two.tacit")
    assert (tmp_path / "one.tacit").read_bytes() == (tmp_path / "two.tacit").read_bytes()


def test_information_criteria_count_parameters_and_positions():
    model = tacit.HMM(2).fit(SYMBOLS)
    assert model.n_parameters_ == 1 + 2 + 2
    total, n = model.score_samples(SYMBOLS).sum(), sum(map(len, SYMBOLS))
    assert model.aic(SYMBOLS) == pytest.approx(2 * 5 - 2 * total)
    assert model.bic(SYMBOLS) == pytest.approx(5 * np.log(n) - 2 * total)
    gaussian = tacit.HMM(2).fit(NUMBERS)
    assert gaussian.n_parameters_ == 1 + 2 + 2 + 2
    stationary = tacit.HMM(2, stationary=True).fit(SYMBOLS)
    assert stationary.n_parameters_ == 2 + 2  # the start follows from the transitions
    automaton = tacit.ProbabilisticAutomaton(2, "em", tied=False).fit(SYMBOLS)
    assert automaton.n_parameters_ == 1 + 2 * 2 + 2 * 2 * 1
    assert automaton.bic(SYMBOLS) > automaton.aic(SYMBOLS)
    with pytest.raises(tacit.errors.NotAvailableError, match="hidden states"):
        tacit.HMM(2, "spectral").fit(SYMBOLS).bic(SYMBOLS)


def test_paths_are_joined_where_sequences_came_with_lengths():
    codes = [[0, 0, 1, 1, 1], [1, 1, 0], [0, 1, 1, 0, 0, 1]]
    flat, lengths = np.concatenate(codes), [len(path) for path in codes]
    model = tacit.HMM(2).fit(codes)
    apart, joined = model.predict(codes), model.predict(flat, lengths)
    assert [len(path) for path in apart] == lengths
    assert np.array_equal(np.concatenate(apart), joined)
    assert np.array_equal(np.concatenate(model.posterior(codes)), model.posterior((flat, lengths)))
    paths, logs = model.predict(codes, return_log_probs=True)
    assert logs.shape == (3,)
    assert np.array_equal(paths[1], apart[1])


def test_floats_are_numbers_unless_said_otherwise():
    values = np.random.default_rng(0).normal(size=(50, 2))
    model = tacit.HMM(2).fit(values)
    assert model.means_.shape == (2, 2)
    assert not model.symbols_
    assert tacit.HMM(2).fit([0.5, 1.5, 0.5, 2.5] * 5).means_.shape == (2, 1)
    symbols = tacit.HMM(2, emissions="categorical").fit([1.0, 2.0, 1.0, 2.0] * 5)
    assert symbols.symbols_ == (1, 2)
    assert tacit.HMM(2).partial_fit(values).partial_fit(values[:10].round()).means_.shape == (2, 2)


def test_a_list_of_words_is_one_sequence():
    model = tacit.HMM(1).fit(["home", "search", "home"])
    assert model.symbols_ == ("home", "search")
    assert model.diagnostics_["n_sequences"] == 1


def test_pseudo_counts_are_counts():
    model = tacit.HMM(1, pseudo_counts=2).fit([["a", "a", "b"]])
    assert model.emissions_[0] == pytest.approx([3 / 5, 2 / 5])
    automaton = tacit.ProbabilisticAutomaton(1, "em", tied=True, pseudo_counts=3)
    automaton.fit([["a"], ["a", "a"]])
    assert automaton.parts_[0].emit[0] == pytest.approx([(3 + 1.5) / 8, (2 + 1.5) / 8])


def test_densities_of_the_next_number_are_those_of_the_mixture():
    model = tacit.HMM(2).fit(NUMBERS)
    grid, density = model.predict_next_density(NUMBERS)
    assert density.shape == (6, 200)
    assert np.trapezoid(density, grid, axis=1) == pytest.approx(np.ones(6), abs=0.01)
    means = np.trapezoid(density * grid, grid, axis=1)
    assert means == pytest.approx(model.expectation(NUMBERS), abs=0.05)
    _, densities = model.predict_next_density(NUMBERS, [0.0, 1.0], all_positions=True)
    assert [rows.shape for rows in densities] == [(20, 2)] * 6
    with pytest.raises(tacit.errors.NotAvailableError, match="numbers"):
        tacit.HMM(2).fit(SYMBOLS).predict_next_density(SYMBOLS)


def test_emissions_are_listed_under_their_names():
    from tacit.sequences.emissions import EMISSIONS, emission_of

    assert all(emission.name == name for name, emission in EMISSIONS.items())
    densities = [
        emission.density for emission in EMISSIONS.values() if hasattr(emission, "density")
    ]
    assert [EMISSIONS[density.kind].density for density in densities] == densities
    kinds = [kind for emission in EMISSIONS.values() for kind in emission.kinds]
    kinds = [kind for kind in kinds if kind is not EmissionChain]  # told by their densities
    assert len(kinds) == len(set(kinds))
    assert emission_of(tacit.HMM(2).fit(NUMBERS).parameters_) is EMISSIONS["gaussian"]
    with pytest.raises(ValueError, match="emissions"):
        tacit.HMM(2, emissions="bernoulli").fit(SYMBOLS)
