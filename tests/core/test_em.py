"""EM on functions whose maximum is known."""

import numpy as np
import pytest

from oracles.python_source import python_source
from tacit.core.em import (
    AbsoluteGain,
    RelativeGain,
    refusing_singular,
    run_accelerated_em,
    run_em,
)
from tacit.core.loops import acceleration
from tacit.errors import ConvergenceWarning

# Mixture weights of known components: the simplest EM there is, with one top.
COMPONENTS = np.array([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])  # (component, category)
TOP = np.array([0.3, 0.3, 0.4])
COUNTS = 1000.0 * TOP @ COMPONENTS


def mixture_step(weights):
    """Objective, better weights and the expected counts of the components."""
    joint = weights[:, None] * COMPONENTS
    total = joint.sum(axis=0)
    mass = joint / total @ COUNTS
    return float(COUNTS @ np.log(total)), mass / mass.sum(), mass


def normalised(values):
    return values / values.sum()


START = np.array([0.2, 0.5, 0.3])


def accelerated(step=mixture_step, start=START, gain=1e-9, **more):
    return run_accelerated_em(step, start, AbsoluteGain(gain), normalise=normalised, **more)


def test_relative_gain_is_measured_against_the_mean_of_both_objectives():
    stop = RelativeGain(1e-4)
    assert stop(-10_000.0, -9_999.1)
    assert not stop(-10_000.0, -9_998.9)
    assert stop(-10_000.0, -10_000.5)


def test_absolute_gain_does_not_look_at_the_objective_s_size():
    stop = AbsoluteGain(0.5)
    assert stop(-1e9, -1e9 + 0.25)
    assert not stop(-1.0, -0.5)
    assert stop(-1.0, -2.0)


def test_a_plain_run_never_falls_and_stops_by_its_rule():
    actual = run_em(mixture_step, START, AbsoluteGain(1e-3))
    gains = np.diff(actual.trace)
    assert actual.converged
    assert (gains >= 0).all()
    assert (gains[:-1] >= 1e-3).all()
    assert gains[-1] < 1e-3
    assert actual.n_steps == len(actual.trace)
    assert actual.objective == actual.trace[-1] <= mixture_step(actual.values)[0]


def test_an_accelerated_run_reaches_the_top_in_fewer_steps():
    plain = run_em(mixture_step, START, AbsoluteGain(1e-9), max_iter=100_000)
    fast = accelerated()
    assert fast.objective == pytest.approx(mixture_step(TOP)[0], abs=1e-6)
    assert fast.objective >= plain.objective
    assert fast.n_steps < plain.n_steps / 10
    assert fast.values == pytest.approx(TOP, abs=1e-3)
    assert (np.diff(fast.trace) >= 0).all()


def test_an_accelerated_run_gives_up_an_extrapolation_that_goes_downhill():
    """Steps that turn around: what the last ones say of the next is wrong every time."""
    calls = []

    def step(values):
        calls.append(values)
        objective, better, mass = mixture_step(values)
        wobble = 1 + 0.3 * np.sin(37.0 * values / values.sum() + np.arange(3))
        return objective, normalised(0.5 * better + 0.5 * normalised(better * wobble)), mass

    actual = accelerated(step, gain=1e-7, max_iter=300)
    assert (np.diff(actual.trace)[:-1] >= 0).all()
    assert len(calls) > len(actual.trace)  # some were tried and not taken


def test_an_extrapolation_out_of_range_is_given_up_without_a_word():
    """Parameters that fall by orders of magnitude each step: the sum of a geometric series is far off."""

    def step(values):
        better = normalised(values * np.array([1.0, 1e-40, 1e-80]))
        return float(-values[1] - values[2]), better, values

    actual = accelerated(step, gain=1e-12, max_iter=20)
    assert np.isfinite(actual.values).all()
    assert actual.values == pytest.approx([1.0, 0.0, 0.0])


def test_zeros_stay_zero():
    actual = accelerated(start=np.array([0.5, 0.0, 0.5]))
    assert actual.values[1] == 0.0
    assert actual.values[0] > 0.4


@pytest.mark.parametrize("max_iter", range(1, 12))
@pytest.mark.parametrize("variant", ["plain", "accelerated"])
def test_the_limit_of_steps_is_kept_with_a_warning(variant, max_iter):
    calls = []

    def step(values):
        calls.append(0)
        return mixture_step(values)

    def run():
        if variant == "plain":
            return run_em(step, START, AbsoluteGain(0.0), max_iter=max_iter)
        return accelerated(step, gain=0.0, max_iter=max_iter)

    with pytest.warns(ConvergenceWarning, match=f"max_iter={max_iter}"):
        actual = run()
    assert not actual.converged
    assert actual.n_steps == len(calls) <= max_iter
    assert mixture_step(actual.values)[0] >= actual.objective


def test_every_step_is_reported():
    reported = []
    actual = run_em(
        mixture_step, START, AbsoluteGain(1e-2), progress=lambda *each: reported.append(each)
    )
    assert reported == list(enumerate(actual.trace, start=1))
    reported.clear()
    actual = accelerated(gain=1e-2, progress=lambda *each: reported.append(each))
    assert [objective for _, objective in reported] == list(actual.trace[1:])


def test_compiled_parts_agree_with_their_python_source():
    rng = np.random.default_rng(0)
    points, images = rng.normal(size=(2, 5, 7))
    last = (*rng.random((2, 7)), rng.random(7), np.array([3, 1, 0, 4]))
    values, starts = rng.random(9), np.array([0, 2, 3, 7])
    values[3:7] = 0.0
    pseudo = rng.random(9) * (rng.random(9) < 0.5)

    def answers():
        return (
            acceleration.extrapolate(*last, points.copy(), images.copy()),
            acceleration.normalise(values, starts),
            acceleration.log_density(pseudo, values),
            np.concatenate(
                [*map(np.atleast_1d, acceleration.maximise(values.copy(), pseudo, values, starts))]
            ),
        )

    compiled = answers()
    with python_source(acceleration):
        plain = answers()
    for one, other in zip(compiled, plain, strict=True):
        assert one == pytest.approx(other, rel=1e-10)
    assert compiled[1][3:7] == pytest.approx(0.25)


def test_the_extrapolation_finds_the_fixed_point_of_a_linear_map():
    """Of as many independent moves as there are dimensions, it follows exactly."""
    rng = np.random.default_rng(0)
    matrix, fixed = 0.5 * rng.normal(size=(3, 3)) / 2, rng.normal(size=3)
    points = rng.normal(size=(4, 3))
    images = (points - fixed) @ matrix.T + fixed
    last = np.exp(points[3]), np.exp(images[3]), np.ones(3), np.array([3, 2, 1, 0])
    actual = acceleration.extrapolate(*last, points, images)
    assert np.log(actual) == pytest.approx(fixed, abs=1e-9)


def test_steps_that_did_not_move_say_nothing():
    points, ones = np.zeros((2, 3)), np.ones(3)
    assert (
        len(acceleration.extrapolate(ones, ones, ones, np.array([1, 0]), points, points.copy()))
        == 0
    )


def test_entries_that_are_zero_stay_zero():
    rng = np.random.default_rng(0)
    points, images = rng.normal(size=(2, 3, 4))
    image = np.array([0.5, 0.0, 0.2, 0.3])
    last = np.array([0.4, 0.0, 0.3, 0.3]), image, np.ones(4), np.array([2, 1, 0])
    actual = acceleration.extrapolate(*last, points, images)
    assert (actual == 0).tolist() == [False, True, False, False]


def test_steps_from_parameters_that_are_no_numbers_or_singular_are_refused():
    def step(values):
        np.linalg.cholesky(values.reshape(1, 1))
        return 1.0, values, values

    refusing = refusing_singular(step)
    assert refusing(np.array([4.0]))[0] == 1.0
    for bad in (np.nan, np.inf, -1.0):
        assert refusing(np.array([bad]))[0] == -np.inf
