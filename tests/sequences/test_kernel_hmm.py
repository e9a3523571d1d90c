"""Models of sequences of numbers: answers that fit each other, whatever way they were learnt."""

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file
from sklearn.base import clone

import tacit
from oracles.edited_files import edited
from tacit.errors import (
    ArgumentError,
    ArgumentTypeError,
    ColumnError,
    DataError,
    FileFormatError,
    NotAvailableError,
)
from tacit.sequences.model.chains import ChainTables, Operators


def regimes(n, seed=0, stay=0.95):
    """Two hidden states with equal means: two bumps, or one."""
    rng = np.random.default_rng(seed)
    states = np.cumsum(rng.random(n) > stay) % 2
    two_peaks = rng.choice([-2.0, 2.0], n) + rng.normal(0, 0.4, n)
    return np.where(states == 0, two_peaks, rng.normal(0, 0.6, n)), states


SERIES, STATES = regimes(1500)
LATER, _ = regimes(400, seed=5)
MODELS = {
    "auto": lambda: tacit.KernelHMM(2, n_basis=16),
    "spectral": lambda: tacit.KernelHMM(2, "spectral", bandwidth=0.3),
    "blend": lambda: tacit.KernelHMM(2, n_basis=8, n_components=2, max_iter=30),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return MODELS[request.param]().fit(SERIES)


def autoregression_score(train, test):
    slope = (train[1:] @ train[:-1]) / (train[:-1] @ train[:-1])
    spread = np.std(train[1:] - slope * train[:-1])
    errors = (test[1:] - slope * test[:-1]) / spread
    return float(np.mean(-0.5 * np.log(2 * np.pi) - np.log(spread) - 0.5 * errors**2))


def test_it_predicts_better_than_an_autoregression(model):
    assert model.score(LATER) / len(LATER) > autoregression_score(SERIES, LATER) + 0.1


def test_log_predictive_is_the_density_that_is_predicted(model):
    logs = model.log_predictive(LATER[:30])
    for t in (0, 7, 29):
        grid, density = model.predict_next_density(LATER[:30], [LATER[t]], all_positions=True)
        assert grid.tolist() == [LATER[t]]
        assert logs[t] == pytest.approx(np.log(density[t, 0]), rel=1e-9)
    assert model.score_samples(LATER[:30]) == pytest.approx([logs.sum()])


def test_densities_integrate_to_one_and_agree_with_quantiles_and_means(model):
    grid = np.linspace(-60, 60, 48001)
    _, density = model.predict_next_density(LATER, grid)
    masses = 0.5 * (density[1:] + density[:-1]) * np.diff(grid)
    assert masses.sum() == pytest.approx(1, abs=2e-3)
    below = np.interp(model.quantiles(LATER, [0.1, 0.5, 0.8]), grid[1:], np.cumsum(masses))
    assert below == pytest.approx([0.1, 0.5, 0.8], abs=0.02)
    middles = 0.5 * (grid[1:] + grid[:-1])
    assert model.expectation(LATER) == pytest.approx(masses @ middles, abs=0.1)
    assert model.expectation(LATER, lambda x: np.minimum(x, 1.0)) < model.expectation(LATER) + 1e-9


def test_a_missing_number_is_summed_out():
    model = MODELS["auto"]().fit(SERIES)
    grid = np.linspace(-15, 15, 3001)
    before, after = [0.3, 2.2], [-1.9, 0.1]
    log_densities = model.score_samples([[*before, x, *after] for x in grid])
    marginal = np.exp(log_densities).sum() * (grid[1] - grid[0])
    with_gap = model.score_samples([*before, np.nan, *after])
    assert with_gap == pytest.approx([np.log(marginal)], abs=1e-3)
    assert model.log_predictive([*before, None, *after])[2] == 0


def test_gaps_in_training_are_no_hindrance():
    holed = SERIES.copy()
    holed[np.random.default_rng(0).random(len(holed)) < 0.2] = np.nan
    for learn in ("auto", "spectral"):
        fitted = MODELS[learn]().fit(holed)
        assert fitted.score(LATER) / len(LATER) > autoregression_score(SERIES, LATER) + 0.1


def test_forms_of_sequences_give_the_same_answers(model):
    parts = [LATER[:10], LATER[10:11], LATER[11:30]]
    listed = model.log_predictive(parts)
    assert [len(rows) for rows in listed] == [10, 1, 19]
    tupled = np.split(model.log_predictive((LATER[:30], [10, 1, 19])), [10, 11])
    for one, other, part in zip(listed, tupled, parts, strict=True):
        assert one == pytest.approx(other, rel=1e-12)
        assert one == pytest.approx(model.log_predictive(part), rel=1e-9)
    assert model.score_samples([*parts, []])[-1] == 0
    _, densities = model.predict_next_density(parts, [0.0, 1.0])
    assert densities.shape == (3, 2)


def test_lengths_are_passed_as_in_hmmlearn(model):
    values, lengths = LATER[:60], [25, 0, 35]
    pairs = (values, np.array(lengths))
    assert np.array_equal(model.score_samples(values, lengths), model.score_samples(pairs))
    for score in (model.score(values, lengths), model.score(values, lengths=lengths)):
        assert score == model.score(pairs)
    for name in ("log_predictive", "filter"):
        assert np.array_equal(getattr(model, name)(values, lengths), getattr(model, name)(pairs))
    for name in ("expectation", "quantiles"):
        answers = getattr(model, name)(values, lengths=lengths)
        assert np.array_equal(answers, getattr(model, name)(pairs))
    first, second = clone(model).fit(values, lengths), clone(model).fit(pairs)
    assert first.score(pairs) == second.score(pairs)
    with pytest.raises(DataError, match="integers"):
        model.score_samples(values, [25.5, 34.5])


def test_states_that_are_filtered_and_smoothed():
    fitted = MODELS["auto"]().fit(SERIES)
    filtered, smoothed = fitted.filter(SERIES), fitted.posterior(SERIES)
    assert filtered.sum(axis=1) == pytest.approx(np.ones(len(SERIES)))
    agreement = [np.mean(states.argmax(axis=1) == STATES) for states in (filtered, smoothed)]
    right = [max(part, 1 - part) for part in agreement]
    assert right[0] > 0.85
    assert right[1] > right[0]
    assert smoothed[-1] == pytest.approx(filtered[-1])
    assert [len(states) for states in fitted.filter([LATER[:3], LATER[:5]])] == [3, 5]


def test_operators_have_predictive_states_and_no_posterior():
    fitted = MODELS["spectral"]().fit(SERIES)
    assert isinstance(fitted.parameters_, Operators)
    states = fitted.filter(LATER[:20])
    assert states.shape == (20, 2)
    assert states @ fitted.operators_.stop == pytest.approx(np.ones(20))
    with pytest.raises(NotAvailableError, match="no hidden states"):
        fitted.posterior(LATER)
    _, repairs = fitted.score_samples(LATER, return_repairs=True)
    assert repairs["n_answers"] == len(LATER)
    assert 0 <= repairs["mean_negative_mass"] < 0.05
    assert 0 < fitted.diagnostics_["fallback"] < 1


def test_settings_are_selected_by_held_out_blocks():
    fitted = tacit.KernelHMM(max_iter=60).fit(SERIES)
    candidates = fitted.diagnostics_["candidates"]
    assert {candidate["n_states"] for candidate in candidates} >= {1, 2, 3}
    assert fitted.diagnostics_["held_out_score"] >= max(
        candidate["held_out_score"] for candidate in candidates
    )
    assert fitted.n_states_ == sum(fitted.diagnostics_["n_states"])
    assert isinstance(fitted.parameters_, ChainTables)
    score = fitted.score(LATER) / len(LATER)
    assert score == pytest.approx(fitted.diagnostics_["held_out_score"], abs=0.1)


def test_validation_sequences_select():
    fitted = tacit.KernelHMM(n_basis=8, max_iter=20).fit(SERIES[:800], validation=SERIES[800:])
    best = max(fitted.diagnostics_["candidates"], key=lambda candidate: candidate["held_out_score"])
    assert best["n_states"] in fitted.diagnostics_["n_states"]
    spectral = tacit.KernelHMM(learn="spectral", bandwidth=0.3)
    spectral.fit(SERIES[:800], validation=SERIES[800:])
    assert spectral.diagnostics_["rank"] <= 4


def test_the_number_of_threads_does_not_show():
    one, two = (
        tacit.KernelHMM(2, n_basis=4, max_iter=20, n_jobs=n_jobs).fit(SERIES) for n_jobs in (1, 2)
    )
    assert np.array_equal(one.parameters_.flat, two.parameters_.flat)


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_answers_like_the_saved_one(name, tmp_path):
    fitted = MODELS[name]().fit(SERIES)
    path = tmp_path / "model.tacit"
    fitted.save(path)
    loaded = tacit.load(path)
    assert type(loaded) is tacit.KernelHMM
    assert loaded.get_params() == fitted.get_params()
    assert loaded.log_predictive(LATER).tolist() == fitted.log_predictive(LATER).tolist()
    draws = [model.sample(3, 5, given=LATER, random_state=0) for model in (fitted, loaded)]
    assert np.array_equal(*draws)
    assert loaded.fit(SERIES).score(LATER) == pytest.approx(fitted.score(LATER), abs=1e-9)


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "model.tacit"
    model = MODELS["auto"]().fit(SERIES)
    model.save(path)
    arrays = load_file(path)
    chain = {name: arrays[f"parameters.{name}"] for name in ("transitions", "initial", "emit.0")}
    for message, damage in (
        ("transitions' is missing", {"parameters.transitions": None}),
        ("sum to one", {"parameters.transitions": 0.5 * chain["transitions"]}),
        ("NaN", {"parameters.initial": np.array([np.nan, 1.0])}),
        ("no probabilities", {"parameters.initial": np.array([-0.5, 1.5])}),
        ("has shape", {"parameters.emit.0": chain["emit.0"][:, 1:]}),
        ("centers' is missing", {"encoders.0.centers": None}),
        ("not between", {"encoders.0.marks": -1e308 * np.ones(3)}),
    ):
        model.save(path)
        edited(path, damage)
        with pytest.raises(FileFormatError, match=message):
            tacit.load(path)
    for message, change in (
        ("fallback", {"fallback": 2.0}),
        ("column = 1, not 0", {"names": []}),
        ("arguments", {"arguments": None}),
        ("parameters", {"parameters": {}}),
    ):
        model.save(path)
        edited(path, **change)
        with pytest.raises(FileFormatError, match=message):
            tacit.load(path)


def test_draws_look_like_the_data():
    fitted = MODELS["auto"]().fit(SERIES)
    draws = fitted.sample(20, 500, random_state=0)
    assert draws.shape == (20, 500)
    near_peaks = (np.abs(np.abs(draws) - 2) < 0.8).mean()
    assert near_peaks == pytest.approx((np.abs(np.abs(SERIES) - 2) < 0.8).mean(), abs=0.06)
    # Neighbours are of one kind, as in the data.
    large = np.abs(draws) > 1.2
    together = np.mean(large[:, 1:] == large[:, :-1])
    truth = np.abs(SERIES) > 1.2
    assert together == pytest.approx(np.mean(truth[1:] == truth[:-1]), abs=0.05)
    assert np.array_equal(draws, fitted.sample(20, 500, random_state=0))


def test_draws_follow_what_came_before():
    fitted = MODELS["auto"]().fit(SERIES)
    after_peaks = fitted.sample(200, 1, given=[2.0, -2.1, 1.9, -2.0], random_state=0)
    after_center = fitted.sample(200, 1, given=[0.1, -0.2, 0.1, 0.0], random_state=0)
    assert np.mean(np.abs(after_peaks) > 1.2) > np.mean(np.abs(after_center) > 1.2) + 0.4


def test_every_column_of_a_frame_is_predicted():
    other, _ = regimes(1500, seed=1)
    moody = np.where(STATES == 1, other + 5, other - 5)
    frame = pd.DataFrame({"a": SERIES, "b": moody})
    frame.loc[::7, "a"] = np.nan
    fitted = tacit.KernelHMM(2, n_basis=8).fit(frame)
    assert fitted.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ColumnError, match=r"\['a', 'b'\]"):
        fitted.expectation(frame)
    assert fitted.expectation(frame, target="b", all_positions=True).shape == (1500,)
    right = np.mean(fitted.filter(frame).argmax(axis=1) == STATES)
    assert max(right, 1 - right) > 0.95
    assert fitted.sample(4, 6, random_state=0).shape == (4, 6, 2)
    assert fitted.log_predictive(frame).shape == (1500,)


def test_the_joint_density_of_columns_is_the_product_of_conditionals():
    frame = np.column_stack([SERIES, np.where(STATES == 1, 3, -3) + LATER[0] + SERIES / 2])
    fitted = tacit.KernelHMM(2, n_basis=4, max_iter=30).fit(frame)
    row = frame[:6].copy()
    joint = fitted.score_samples(row)[0]
    partial = row.copy()
    partial[5, 1] = np.nan
    only_first = fitted.score_samples(partial)[0]
    grid = np.linspace(-30, 30, 6001)
    rows = [np.vstack([row[:5], [row[5, 0], x]]) for x in grid]
    marginal = np.exp(fitted.score_samples(rows)).sum() * (grid[1] - grid[0])
    assert np.log(marginal) == pytest.approx(only_first, abs=1e-3)
    assert np.isfinite(joint)


@pytest.mark.parametrize(
    "series",
    [[1.0], [1.0, 2.0, 1.5], np.zeros(50), [[0.5, 0.1], [0.2], []], np.tile([0.0, 1.0], 40)],
)
def test_few_or_odd_numbers_are_learnt_from(series):
    fitted = tacit.KernelHMM(max_iter=20).fit(series)
    assert np.isfinite(fitted.score(series))
    assert np.isfinite(fitted.sample(2, 3, random_state=0)).all()


def test_what_cannot_be_learnt_from_is_refused():
    with pytest.raises(DataError, match="single number"):
        tacit.KernelHMM().fit([[], []])
    with pytest.raises(DataError, match="single number"):
        tacit.KernelHMM().fit([np.nan, np.nan])
    with pytest.raises(DataError, match="no number at all"):
        tacit.KernelHMM().fit([np.array([[0.1, np.nan], [0.2, np.nan]])])
    with pytest.raises(DataError, match="three positions in a row"):
        tacit.KernelHMM(learn="spectral").fit([[0.1, 0.2], [0.3, 0.5]])
    with pytest.raises(ArgumentError, match="n_states=0"):
        tacit.KernelHMM(0).fit(SERIES)
    with pytest.raises(ArgumentError, match="learn='spectrall'"):
        tacit.KernelHMM(learn="spectrall").fit(SERIES)
    with pytest.raises(ArgumentError, match="bandwidth=-1"):
        tacit.KernelHMM(bandwidth=-1).fit(SERIES)
    with pytest.raises(ArgumentError, match="blended"):
        tacit.KernelHMM(learn="spectral", n_components=2).fit(SERIES)


def test_questions_that_make_no_sense_are_refused(model):
    with pytest.raises(ArgumentError, match="levels from 0 to 1"):
        model.quantiles(LATER, [1.5])
    with pytest.raises(ArgumentError, match="finite"):
        model.predict_next_density(LATER, [np.inf])
    with pytest.raises(ArgumentError, match="2 sequences"):
        model.sample(2, 3, given=[LATER, LATER])
    with pytest.raises(DataError, match="fitted with"):
        model.score(np.ones((5, 2)))
    with pytest.raises(ArgumentError, match="length=0"):
        model.sample(1, 0)


def test_arrays_of_no_numbers_are_refused_in_the_words_of_scikit_learn(model):
    with pytest.raises(DataError, match="X has 2 features, but Tacit is expecting 1 features"):
        model.score_samples([np.ones((5, 2))])
    with pytest.raises(DataError, match="Complex data not supported"):
        model.score(LATER.astype(np.complex64))
    with pytest.raises(DataError, match=r"0 feature\(s\) \(shape=\(4, 0\)\)"):
        tacit.KernelHMM().fit(np.empty((4, 0)))
    with pytest.raises(ArgumentTypeError, match=r"numbers alone.*dict"):
        tacit.KernelHMM().fit(np.array([1.0, {}], dtype=object))
    with pytest.raises(DataError, match=r"numbers alone.*high"):
        tacit.KernelHMM().fit(np.array([1.0, "high"], dtype=object))
    holes = np.array([1.0, None, 2.0], dtype=object)
    assert model.score(holes) == model.score([1.0, np.nan, 2.0])


def test_a_clone_is_not_fitted():
    fitted = tacit.KernelHMM(2, n_basis=4, max_iter=5).fit(SERIES)
    again = clone(fitted)
    assert again.get_params() == fitted.get_params()
    with pytest.raises(Exception, match="not fitted"):
        again.score(SERIES)


def test_progress_is_reported():
    reports = []
    few = tacit.KernelHMM(2, n_basis=4, max_iter=5, progress=lambda *args: reports.append(args))
    few.fit(SERIES)
    assert reports
    assert all(0 <= fraction <= 1 for fraction, _ in reports)


def test_moments_do_not_depend_on_the_pieces_that_sequences_come_in(monkeypatch):
    from tacit.core.encoders.kernels import kernel_encoder
    from tacit.sequences.data.number_sequences import read_series
    from tacit.sequences.learn import kernel_hmm_spectral as chain_spectral
    from tacit.sequences.moments.windows import WindowMoments

    series = read_series((SERIES, [700, 0, 20, 5, 775]))
    encoder = kernel_encoder(SERIES, 0.8)
    left_out = np.arange(1500) % 97 < 20
    moments = []
    for at_once in (10_000, 720, 60, 11):
        monkeypatch.setattr(chain_spectral, "AT_ONCE", at_once)
        windows = chain_spectral.KernelWindows(series, 1.0, encoder, (1, 2))
        moments += [(windows.n_windows, windows.moments(), windows.moments(left_out))]
    assert len({n_windows for n_windows, *_ in moments}) == 1
    for _, *others in moments[1:]:
        for one, other in zip(moments[0][1:], others, strict=True):
            for name in WindowMoments.__dataclass_fields__:
                assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-8, abs=1e-8)


def test_what_is_left_out_has_no_part_in_the_moments():
    from tacit.core.encoders.kernels import kernel_encoder
    from tacit.sequences.data.number_sequences import read_series
    from tacit.sequences.learn.kernel_hmm_spectral import KernelWindows
    from tacit.sequences.moments.windows import WindowMoments

    encoder = kernel_encoder(SERIES, 0.8)
    left_out = np.arange(1500) % 97 < 20
    windows = KernelWindows(read_series(SERIES), 1.0, encoder, (1, 2))
    other = KernelWindows(read_series(np.where(left_out, -SERIES, SERIES)), 1.0, encoder, (1, 2))
    vars(other)["directions"] = windows.directions
    one, two = windows.moments(left_out), other.moments(left_out)
    assert 0 < one.n_windows < windows.n_windows
    for name in WindowMoments.__dataclass_fields__:
        if name != "first":  # the start of the sequence is not a window
            assert getattr(one, name) == pytest.approx(getattr(two, name), rel=1e-9, abs=1e-9)
