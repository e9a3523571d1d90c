"""Hidden Markov models of numbers: how many states and how fine densities, by positions left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.bells import BellEncoder, bell_encoder, joined_bells, placed_weights
from tacit.sequences.data.number_sequences import Series, folds
from tacit.sequences.learn.starts.kernel_hmm import WAYS, clustered_chain, position_features
from tacit.sequences.model.chains import ChainTables, blended

if TYPE_CHECKING:
    from tacit.core.progress import Report
    from tacit.sequences.learn.em.kernel_hmm import Seen

Array = NDArray[np.float64]

# Bells of the finest level and their widths in those of bins.
LEVELS = (4, 8, 16, 32, 64)
WIDTHS = (0.7, 1.0, 1.4)
FIRST_LEVEL, FIRST_WIDTH = 8, 1.0
STATES_FIRST = 3  # with which both are chosen first
LADDER = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)
PATIENCE = 2  # numbers of states in a row that are no better, before the ladder ends
N_FOLDS, BLOCK = 4, 100
MOST_POSITIONS = 20_000  # that choices are made with
POSITIONS_PER_STATE = 25  # at least
MOST_PARTS = 5
LEAK = 0.003  # chance of a change between the parts of a blend, at each step
USUAL_STARTS = 5.0  # starts as in the long run that are added to those of the sequences
ROUGH, FINE = 0.1, 0.01  # nats that a step must gain, while choosing and at last


@dataclass(frozen=True)
class ChainSettings:
    """What was asked for, checked."""

    n_states: int | str
    n_bells: int | str
    bandwidth: float | None  # None where it is not given
    n_components: int | str
    pseudo_counts: float | None  # of each row; None: the usual ones
    max_iter: int
    n_jobs: int
    seed: int


@dataclass(frozen=True, eq=False)
class LearntChain:
    """A model of sequences, and how it came about."""

    parameters: Any  # ChainTables or Operators
    encoders: tuple[Any, ...]  # per column
    fallback: float  # share of the column's own density in every prediction
    diagnostics: dict[str, Any]


class Bells(NamedTuple):
    """How fine densities are."""

    n_bells: int
    bandwidth: float


@dataclass(frozen=True, eq=False)
class Trial:
    """One setting, and the log-density of every position given those before it, by models without it."""

    bells: Bells
    n_states: int
    start: str
    logs: Array  # (position,)
    counted: NDArray[np.bool_]  # (position,)  which positions tell anything

    @property
    def score(self) -> float:
        """Mean over the positions that were observed."""
        return float(self.logs[self.counted].mean())

    def plain(self) -> dict[str, Any]:
        """For the diagnostics."""
        return {
            "n_bells": self.bells.n_bells,
            "bandwidth": self.bells.bandwidth,
            "n_states": self.n_states,
            "start": self.start,
            "held_out_score": self.score,
        }


@dataclass(eq=False)
class Choice:
    """The settings that were tried on some sequences, and what comes of a new one."""

    series: Series
    validation: Series | None
    settings: ChainSettings
    report: Report
    trials: dict[tuple[Bells, int, str], Trial] = field(default_factory=dict)
    _encoders: dict[Bells, tuple[BellEncoder, ...]] = field(default_factory=dict)
    _seen: dict[tuple[bool, Bells], Seen] = field(default_factory=dict)

    @cached_property
    def features(self) -> dict[str, Array]:
        """What stands around each position, by the way of starting."""
        return {way: position_features(self.series.values, self.series.ends, way) for way in WAYS}

    def encoders(self, bells: Bells) -> tuple[BellEncoder, ...]:
        """The bells of every column."""
        if bells not in self._encoders:
            columns = self.series.values.T
            self._encoders[bells] = tuple(bell_encoder(column, *bells) for column in columns)
        return self._encoders[bells]

    def seen(self, bells: Bells, *, validation: bool = False) -> Seen:
        """What was observed, through these bells."""
        key = (validation, bells)
        if key not in self._seen:
            series = self.validation if validation else self.series
            assert series is not None
            self._seen[key] = seen_through(self.encoders(bells), series)
        return self._seen[key]

    def start(self, bells: Bells, n_states: int, way: str) -> ChainTables:
        """Where EM begins."""
        seen = self.seen(bells)
        return clustered_chain(
            self.features[way],
            seen.likelihoods,
            seen.missing,
            seen.ends,
            n_states,
            seed=self.settings.seed,
        )

    def learnt(
        self, bells: Bells, n_states: int, way: str, left_out: NDArray[np.bool_] | None, gain: float
    ) -> tuple[ChainTables, Any]:
        """A model without some of the positions."""
        from tacit.sequences.learn.em.kernel_hmm import polished

        seen = self.seen(bells)
        return polished(
            self.start(bells, n_states, way),
            seen if left_out is None else seen.without(left_out),
            gain=gain,
            max_iter=self.settings.max_iter,
            pseudo_counts=self.settings.pseudo_counts,
        )

    def tried(self, bells: Bells, n_states: int, way: str) -> Trial:
        """What held-out positions say of a setting."""
        key = (bells, n_states, way)
        if key not in self.trials:
            self.report(
                min(len(self.trials) / 40, 0.9), f"{n_states} states, {bells.n_bells} bells"
            )
            self.trials[key] = Trial(*key, *self._held_out(*key))
        return self.trials[key]

    def _held_out(self, bells: Bells, n_states: int, way: str) -> tuple[Array, NDArray[np.bool_]]:
        from tacit.sequences.learn.em.kernel_hmm import step_logs

        if self.validation is not None:
            tables, _ = self.learnt(bells, n_states, way, None, ROUGH)
            logs, _ = step_logs(tables, self.seen(bells, validation=True))
            return logs, _counted(self.validation)
        seen = self.seen(bells)
        logs = np.empty(seen.n_positions)

        def fold(left_out: NDArray[np.bool_]) -> None:
            tables, _ = self.learnt(bells, n_states, way, left_out, ROUGH)
            logs[left_out] = step_logs(tables, seen)[0][left_out]

        # The starts share what was prepared above; folds write to places of their own.
        parts = list(folds(seen.n_positions, N_FOLDS, fold_block(seen.n_positions)))
        with ThreadPoolExecutor(self.settings.n_jobs) as pool:
            list(pool.map(fold, parts))
        return logs, _counted(self.series)

    def blend_score(self, trials: Sequence[Trial]) -> float:
        """How a blend of models would predict what was held out."""
        from tacit.sequences.loops.forward_backward import shared_log

        series = self.series if self.validation is None else self.validation
        logs = np.array([trial.logs for trial in trials])
        return float(shared_log(logs, series.ends, LEAK)) / max(int(trials[0].counted.sum()), 1)

    @property
    def best(self) -> Trial:
        """The best so far."""
        return max(self.trials.values(), key=lambda trial: trial.score)


def seen_through(encoders: Sequence[Any], series: Series) -> Seen:
    """What was observed, as likelihoods of each column's features."""
    from tacit.sequences.learn.em.kernel_hmm import Seen

    columns = series.values.T
    likelihoods = [
        encoder.likelihoods(column) for encoder, column in zip(encoders, columns, strict=True)
    ]
    return Seen.of(likelihoods, [np.isnan(column) for column in columns], series.lengths)


def _counted(series: Series) -> NDArray[np.bool_]:
    return np.asarray(~np.isnan(series.values).all(axis=1))


def fold_block(n_positions: int) -> int:
    """Length of the stretches that folds leave out: some of them in each fold, however few positions."""
    return max(min(BLOCK, n_positions // (3 * N_FOLDS)), 1)


def learn_chain(
    series: Series, validation: Series | None, settings: ChainSettings, report: Report
) -> LearntChain:
    """Choose what is not given, then learn from all positions.

    Parameters
    ----------
    series : Series
    validation : Series or None
        Sequences to choose by; without them, stretches of `series` are left out in turn.
    settings : ChainSettings
    report : callable
    """
    choice = Choice(series.cut(1000, MOST_POSITIONS), validation, settings, report)
    chosen = _chosen(choice)
    parts = []
    for number, trial in enumerate(chosen):
        report(0.9 + 0.1 * number / len(chosen), f"learning {trial.n_states} states")
        parts.append(_learnt_from_all(choice, trial, series))
    encoders, tables = _joined(
        [choice.encoders(trial.bells) for trial in chosen],
        [_settled(each, len(series.lengths)) for each, _ in parts],
    )
    together = tables[0]
    if len(tables) > 1:
        together = blended(tables, np.full(len(tables), 1 / len(tables)), LEAK)
    diagnostics = {
        "learn": "auto",
        "n_states": [trial.n_states for trial in chosen],
        "n_bells": [trial.bells.n_bells for trial in chosen],
        "bandwidths": [trial.bells.bandwidth for trial in chosen],
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
    """A model of a chosen setting; of many positions, from where those for choosing lead."""
    from tacit.sequences.learn.em.kernel_hmm import polished

    if choice.series is series:
        return choice.learnt(trial.bells, trial.n_states, trial.start, None, FINE)
    start, _ = choice.learnt(trial.bells, trial.n_states, trial.start, None, ROUGH)
    return polished(
        start,
        seen_through(choice.encoders(trial.bells), series),
        gain=FINE * series.n_positions / choice.series.n_positions,
        max_iter=choice.settings.max_iter,
        pseudo_counts=choice.settings.pseudo_counts,
    )


def _joined(
    encoders: Sequence[tuple[BellEncoder, ...]], tables: Sequence[ChainTables]
) -> tuple[tuple[BellEncoder, ...], list[ChainTables]]:
    """One encoder for each column with the bells of all models, and the models over these bells."""
    if len(tables) == 1:
        return encoders[0], list(tables)
    found = tuple(joined_bells(column) for column in zip(*encoders, strict=True))
    out = []
    for place, own in enumerate(tables):
        emit = tuple(
            placed_weights(weights, [each[column] for each in encoders], place)
            for column, weights in enumerate(own.emit)
        )
        out.append(ChainTables(own.initial, own.transitions, emit))
    return found, out


def _settled(tables: ChainTables, n_sequences: int) -> ChainTables:
    """The states from the most to the least frequent, and starts that a few sequences did not decide."""
    usual = tables.stationary
    start = (n_sequences * tables.initial + USUAL_STARTS * usual) / (n_sequences + USUAL_STARTS)
    order = np.argsort(-usual, kind="stable")
    return ChainTables(start, tables.transitions, tables.emit).ordered(order)


def _chosen(choice: Choice) -> list[Trial]:
    """The settings of the parts of the model, the best first."""
    settings = choice.settings
    bells = Bells(
        FIRST_LEVEL if isinstance(settings.n_bells, str) else settings.n_bells,
        FIRST_WIDTH if settings.bandwidth is None else settings.bandwidth,
    )
    first = STATES_FIRST if settings.n_states == "auto" else int(settings.n_states)
    bells = _best_bells(choice, bells, first, WAYS[0])
    if settings.n_states == "auto":
        _climb_ladder(choice, bells)
        best = choice.best
        better = _best_bells(choice, best.bells, best.n_states, best.start)
        if better != best.bells:
            _climb_ladder(choice, better)
        # Finer ones too, as parts of a blend: they may be better where a series goes than where it was.
        finer = Bells(2 * better.n_bells, better.bandwidth)
        if isinstance(settings.n_bells, str) and finer.n_bells in LEVELS:
            _climb_ladder(choice, finer)
    else:
        for way in _ways(first):
            choice.tried(bells, first, way)
    return _parts(choice)


def _parts(choice: Choice) -> list[Trial]:
    """The best, then one after the other whatever makes the blend best, as long as it is better."""
    wanted = choice.settings.n_components
    most = wanted
    if isinstance(most, str):
        most = MOST_PARTS if choice.settings.n_states == "auto" else 1
    trials = list(choice.trials.values())
    chosen = [choice.best]
    while len(chosen) < min(most, len(trials)):
        others = [trial for trial in trials if trial not in chosen]
        best = max(others, key=lambda trial: choice.blend_score([*chosen, trial]))
        better = choice.blend_score([*chosen, best]) > choice.blend_score(chosen)
        if isinstance(wanted, str) and not better:
            break
        chosen.append(best)
    return chosen


def _best_bells(choice: Choice, bells: Bells, n_states: int, way: str) -> Bells:
    """From bells to the best of those beside them, as long as that is better."""
    here = choice.tried(bells, n_states, way)
    while True:
        beside = [
            choice.tried(each, n_states, way) for each in _beside(here.bells, choice.settings)
        ]
        best = max(beside, key=lambda trial: trial.score, default=here)
        if best.score <= here.score:
            return here.bells
        here = best


def _beside(bells: Bells, settings: ChainSettings) -> Iterator[Bells]:
    """More or fewer bells, wider or narrower ones, or both at once; what was given stays as it is."""
    level_free = isinstance(settings.n_bells, str)
    width_free = settings.bandwidth is None
    for level, width in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 2), (-1, -2)):
        if (level and not level_free) or (width and not width_free):
            continue
        at = LEVELS.index(bells.n_bells) + level if level else 0
        to = WIDTHS.index(bells.bandwidth) + width if width else 0
        if 0 <= at < len(LEVELS) and 0 <= to < len(WIDTHS):
            yield Bells(
                LEVELS[at] if level else bells.n_bells, WIDTHS[to] if width else bells.bandwidth
            )


def _climb_ladder(choice: Choice, bells: Bells) -> None:
    """Try more and more states until they are no better."""
    most = max(choice.series.n_positions // POSITIONS_PER_STATE, 1)
    best, waited = -np.inf, 0
    for n_states in _rungs(most):
        found = max(choice.tried(bells, n_states, way).score for way in _ways(n_states))
        waited = 0 if found > best else waited + 1
        best = max(best, found)
        if waited >= PATIENCE:
            return


def _rungs(most: int) -> Iterator[int]:
    return (n_states for n_states in LADDER if n_states <= most)


def _ways(n_states: int) -> Sequence[str]:
    return WAYS[:1] if n_states == 1 else WAYS
