"""Hidden Markov models of numbers: numbers of states and basis densities by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.basis import BasisEncoder, basis_encoder, joined_basis, placed_weights
from tacit.sequences.data.number_sequences import Series, folds
from tacit.sequences.learn.starts.kernel_hmm import START_KINDS, clustered_chain, position_features
from tacit.sequences.model.chains import ChainTables, blended

if TYPE_CHECKING:
    from tacit.core.progress import Report
    from tacit.sequences.learn.em.kernel_hmm import ObservedFeatures

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Basis densities of the finest level and their widths in those of bins.
LEVELS = (4, 8, 16, 32, 64)
WIDTHS = (0.7, 1.0, 1.4)
FIRST_LEVEL, FIRST_WIDTH = 8, 1.0
STATES_FIRST = 3  # for the first selection of both
LADDER = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)
PATIENCE = 2  # numbers of states in a row without improvement, before the ladder ends
N_FOLDS, BLOCK = 4, 100
MOST_POSITIONS = 20_000  # used for selection
POSITIONS_PER_STATE = 25  # at least
MOST_PARTS = 5
LEAK = 0.003  # probability of a change between the parts of a blend, at each step
USUAL_STARTS = 5.0  # pseudo-counts of the stationary distribution in initial probabilities
ROUGH, FINE = 0.1, 0.01  # nats that a step must gain, in selection and at the end


@dataclass(frozen=True)
class ChainSettings:
    """The arguments of `KernelHMM`, checked."""

    n_states: int | str
    n_basis: int | str
    bandwidth: float | None  # None where it is not given
    n_components: int | str
    pseudo_counts: float | None  # of each row; None: the default ones
    max_iter: int
    n_jobs: int
    seed: int


@dataclass(frozen=True, eq=False)
class LearntChain:
    """A model of sequences, and diagnostics."""

    parameters: Any  # ChainTables or Operators
    encoders: tuple[Any, ...]  # per column
    fallback: float  # weight of the column's marginal density in every prediction
    diagnostics: dict[str, Any]


class Basis(NamedTuple):
    """Number and bandwidth of basis densities."""

    n_basis: int
    bandwidth: float


@dataclass(frozen=True, eq=False)
class Trial:
    """One setting, and the held-out log-density of every position given those before it."""

    basis: Basis
    n_states: int
    start: str
    logs: Array  # (position,)
    counted: Mask  # (position,)  observed positions

    @property
    def score(self) -> float:
        """Mean over the positions that were observed."""
        return float(self.logs[self.counted].mean())

    def plain(self) -> dict[str, Any]:
        """For the diagnostics."""
        return {
            "n_basis": self.basis.n_basis,
            "bandwidth": self.basis.bandwidth,
            "n_states": self.n_states,
            "start": self.start,
            "held_out_score": self.score,
        }


@dataclass(eq=False)
class Choice:
    """Cross-validation of settings on some sequences."""

    series: Series
    validation: Series | None
    settings: ChainSettings
    report: Report
    trials: dict[tuple[Basis, int, str], Trial] = field(default_factory=dict)
    _encoders: dict[Basis, tuple[BasisEncoder, ...]] = field(default_factory=dict)
    _observed: dict[tuple[bool, Basis], ObservedFeatures] = field(default_factory=dict)

    @cached_property
    def features(self) -> dict[str, Array]:
        """Features of the surroundings of each position, by kind of start."""
        values, ends = self.series.values, self.series.ends
        return {kind: position_features(values, ends, kind) for kind in START_KINDS}

    def encoders(self, basis: Basis) -> tuple[BasisEncoder, ...]:
        """The encoder of every column."""
        if basis not in self._encoders:
            columns = self.series.values.T
            self._encoders[basis] = tuple(basis_encoder(column, *basis) for column in columns)
        return self._encoders[basis]

    def observed(self, basis: Basis, *, validation: bool = False) -> ObservedFeatures:
        """Likelihoods of basis densities at every position."""
        key = (validation, basis)
        if key not in self._observed:
            series = self.validation if validation else self.series
            assert series is not None
            self._observed[key] = observed_features(self.encoders(basis), series)
        return self._observed[key]

    def start(self, basis: Basis, n_states: int, start: str) -> ChainTables:
        """The start of EM."""
        observed = self.observed(basis)
        return clustered_chain(
            self.features[start],
            observed.likelihoods,
            observed.missing,
            observed.ends,
            n_states,
            seed=self.settings.seed,
        )

    def learnt(
        self, basis: Basis, n_states: int, start: str, left_out: Mask | None, gain: float
    ) -> tuple[ChainTables, Any]:
        """A model learnt without some of the positions."""
        from tacit.sequences.learn.em.kernel_hmm import polished

        observed = self.observed(basis)
        return polished(
            self.start(basis, n_states, start),
            observed if left_out is None else observed.without(left_out),
            gain=gain,
            max_iter=self.settings.max_iter,
            pseudo_counts=self.settings.pseudo_counts,
        )

    def trial(self, basis: Basis, n_states: int, start: str) -> Trial:
        """The held-out log-densities of a setting."""
        key = (basis, n_states, start)
        if key not in self.trials:
            self.report(
                min(len(self.trials) / 40, 0.9), f"{n_states} states, {basis.n_basis} densities"
            )
            self.trials[key] = Trial(*key, *self._held_out(*key))
        return self.trials[key]

    def _held_out(self, basis: Basis, n_states: int, start: str) -> tuple[Array, Mask]:
        from tacit.sequences.learn.em.kernel_hmm import step_logs

        if self.validation is not None:
            tables, _ = self.learnt(basis, n_states, start, None, ROUGH)
            logs, _ = step_logs(tables, self.observed(basis, validation=True))
            return logs, _counted(self.validation)
        observed = self.observed(basis)
        logs = np.empty(observed.n_positions)

        def fold(left_out: Mask) -> None:
            tables, _ = self.learnt(basis, n_states, start, left_out, ROUGH)
            logs[left_out] = step_logs(tables, observed)[0][left_out]

        # Folds share the cached features, and write to disjoint positions.
        parts = list(folds(observed.n_positions, N_FOLDS, fold_block(observed.n_positions)))
        with ThreadPoolExecutor(self.settings.n_jobs) as pool:
            list(pool.map(fold, parts))
        return logs, _counted(self.series)

    def blend_score(self, trials: Sequence[Trial]) -> float:
        """The held-out score of a blend of models."""
        from tacit.sequences.loops.forward_backward import switching_log_likelihood

        series = self.series if self.validation is None else self.validation
        logs = np.array([trial.logs for trial in trials])
        return float(switching_log_likelihood(logs, series.ends, LEAK)) / max(
            int(trials[0].counted.sum()), 1
        )

    @property
    def best(self) -> Trial:
        """The best so far."""
        return max(self.trials.values(), key=lambda trial: trial.score)


def observed_features(encoders: Sequence[Any], series: Series) -> ObservedFeatures:
    """Likelihoods of each column's features at every position."""
    from tacit.sequences.learn.em.kernel_hmm import ObservedFeatures

    columns = series.values.T
    likelihoods = [
        encoder.likelihoods(column) for encoder, column in zip(encoders, columns, strict=True)
    ]
    return ObservedFeatures.of(
        likelihoods, [np.isnan(column) for column in columns], series.lengths
    )


def _counted(series: Series) -> Mask:
    return np.asarray(~np.isnan(series.values).all(axis=1))


def fold_block(n_positions: int) -> int:
    """Length of the blocks that folds leave out: several in each fold, however few positions."""
    return max(min(BLOCK, n_positions // (3 * N_FOLDS)), 1)


def learn_chain(
    series: Series, validation: Series | None, settings: ChainSettings, report: Report
) -> LearntChain:
    """Select what is not given, then learn from all positions.

    Parameters
    ----------
    series : Series
    validation : Series or None
        Held-out sequences; without them, cross-validation over blocks of `series`.
    settings : ChainSettings
    report : callable
    """
    choice = Choice(series.cut(1000, MOST_POSITIONS), validation, settings, report)
    chosen = _chosen(choice)
    parts = []
    for number, trial in enumerate(chosen):
        report(0.9 + 0.1 * number / len(chosen), f"learning {trial.n_states} states")
        parts.append(_learnt_from_all(choice, trial, series))
    encoders, part_tables = _joined(
        [choice.encoders(trial.basis) for trial in chosen],
        [_settled(tables, len(series.lengths)) for tables, _ in parts],
    )
    together = part_tables[0]
    if len(part_tables) > 1:
        together = blended(part_tables, np.full(len(part_tables), 1 / len(part_tables)), LEAK)
    diagnostics = {
        "learn": "auto",
        "n_states": [trial.n_states for trial in chosen],
        "n_basis": [trial.basis.n_basis for trial in chosen],
        "bandwidths": [trial.basis.bandwidth for trial in chosen],
        "starts": [trial.start for trial in chosen],
        "n_steps": sum(em_run.n_steps for _, em_run in parts),
        "converged": all(em_run.converged for _, em_run in parts),
        "log_likelihood": [em_run.objective for _, em_run in parts],
        "candidates": [trial.plain() for trial in choice.trials.values()],
    }
    if choice.trials:
        diagnostics["held_out_score"] = choice.blend_score(chosen)
    return LearntChain(together, encoders, 0.0, diagnostics)


def _learnt_from_all(choice: Choice, trial: Trial, series: Series) -> tuple[ChainTables, Any]:
    """A model of a selected setting; of many positions, started from the model of the selection part."""
    from tacit.sequences.learn.em.kernel_hmm import polished

    if choice.series is series:
        return choice.learnt(trial.basis, trial.n_states, trial.start, None, FINE)
    start, _ = choice.learnt(trial.basis, trial.n_states, trial.start, None, ROUGH)
    return polished(
        start,
        observed_features(choice.encoders(trial.basis), series),
        gain=FINE * series.n_positions / choice.series.n_positions,
        max_iter=choice.settings.max_iter,
        pseudo_counts=choice.settings.pseudo_counts,
    )


def _joined(
    encoders: Sequence[tuple[BasisEncoder, ...]], tables: Sequence[ChainTables]
) -> tuple[tuple[BasisEncoder, ...], list[ChainTables]]:
    """One encoder for each column with the densities of all models, and the models over these."""
    if len(tables) == 1:
        return encoders[0], list(tables)
    joint_encoders = tuple(joined_basis(column) for column in zip(*encoders, strict=True))
    out = []
    for place, model in enumerate(tables):
        emit = tuple(
            placed_weights(weights, [model_encoders[column] for model_encoders in encoders], place)
            for column, weights in enumerate(model.emit)
        )
        out.append(ChainTables(model.initial, model.transitions, emit))
    return joint_encoders, out


def _settled(tables: ChainTables, n_sequences: int) -> ChainTables:
    """States ordered by frequency, and initial probabilities with pseudo-counts."""
    usual = tables.stationary
    start = (n_sequences * tables.initial + USUAL_STARTS * usual) / (n_sequences + USUAL_STARTS)
    order = np.argsort(-usual, kind="stable")
    return ChainTables(start, tables.transitions, tables.emit).ordered(order)


def _chosen(choice: Choice) -> list[Trial]:
    """The settings of the parts of the model, the best first."""
    settings = choice.settings
    basis = Basis(
        FIRST_LEVEL if isinstance(settings.n_basis, str) else settings.n_basis,
        FIRST_WIDTH if settings.bandwidth is None else settings.bandwidth,
    )
    first = STATES_FIRST if settings.n_states == "auto" else int(settings.n_states)
    basis = _best_basis(choice, basis, first, START_KINDS[0])
    if settings.n_states == "auto":
        _score_ladder(choice, basis)
        best = choice.best
        refined = _best_basis(choice, best.basis, best.n_states, best.start)
        if refined != best.basis:
            _score_ladder(choice, refined)
        # Finer ones too, as parts of a blend: they may be better on the future of a series than on its past.
        finer = Basis(2 * refined.n_basis, refined.bandwidth)
        if isinstance(settings.n_basis, str) and finer.n_basis in LEVELS:
            _score_ladder(choice, finer)
    else:
        for start in _start_kinds(first):
            choice.trial(basis, first, start)
    return _parts(choice)


def _parts(choice: Choice) -> list[Trial]:
    """Greedy: the best, then whatever improves the blend most, as long as it improves."""
    n_components = choice.settings.n_components
    most = n_components
    if isinstance(most, str):
        most = MOST_PARTS if choice.settings.n_states == "auto" else 1
    trials = list(choice.trials.values())
    chosen = [choice.best]
    while len(chosen) < min(most, len(trials)):
        others = [trial for trial in trials if trial not in chosen]
        best = max(others, key=lambda trial: choice.blend_score([*chosen, trial]))
        improves = choice.blend_score([*chosen, best]) > choice.blend_score(chosen)
        if isinstance(n_components, str) and not improves:
            break
        chosen.append(best)
    return chosen


def _best_basis(choice: Choice, basis: Basis, n_states: int, start: str) -> Basis:
    """Greedy search over neighbouring numbers and bandwidths, as long as the score improves."""
    current = choice.trial(basis, n_states, start)
    while True:
        neighbours = _neighbours(current.basis, choice.settings)
        candidates = [choice.trial(candidate, n_states, start) for candidate in neighbours]
        best = max(candidates, key=lambda trial: trial.score, default=current)
        if best.score <= current.score:
            return current.basis
        current = best


def _neighbours(basis: Basis, settings: ChainSettings) -> Iterator[Basis]:
    """More or fewer densities, wider or narrower ones, or both at once; given values stay fixed."""
    level_free = isinstance(settings.n_basis, str)
    width_free = settings.bandwidth is None
    for level, width in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 2), (-1, -2)):
        if (level and not level_free) or (width and not width_free):
            continue
        at = LEVELS.index(basis.n_basis) + level if level else 0
        to = WIDTHS.index(basis.bandwidth) + width if width else 0
        if 0 <= at < len(LEVELS) and 0 <= to < len(WIDTHS):
            yield Basis(
                LEVELS[at] if level else basis.n_basis, WIDTHS[to] if width else basis.bandwidth
            )


def _score_ladder(choice: Choice, basis: Basis) -> None:
    """Score more and more states until there is no improvement."""
    most = max(choice.series.n_positions // POSITIONS_PER_STATE, 1)
    best, waited = -np.inf, 0
    for n_states in _rungs(most):
        score = max(choice.trial(basis, n_states, start).score for start in _start_kinds(n_states))
        waited = 0 if score > best else waited + 1
        best = max(best, score)
        if waited >= PATIENCE:
            return


def _rungs(most: int) -> Iterator[int]:
    return (n_states for n_states in LADDER if n_states <= most)


def _start_kinds(n_states: int) -> Sequence[str]:
    return START_KINDS[:1] if n_states == 1 else START_KINDS
