"""Models with more states from models with fewer: states are split, and EM separates the parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.query.hmm_scores import log_probs_of

if TYPE_CHECKING:
    from tacit.sequences.emissions.protocol import Emission
    from tacit.sequences.learn.hmm_task import HMMSettings

Array = NDArray[np.float64]

N_SPLITS = 2  # random perturbations of the split states
SHORT_STEPS, STEPS = 15, 45  # of EM: after which these are compared, and of the best one
LARGER_TOL = 10.0  # times `tol`
LEAST = 1e-6  # of transitions, before they are perturbed: EM keeps zeros


@dataclass(frozen=True, eq=False)
class Growth:
    """A learner of models with more states than one that is known.

    Parameters
    ----------
    emission : Emission
    training : Sequences or Series
    held_out : Sequences or Series or None
        For the learner.
    settings : HMMSettings
    by_itself : int
        Up to so many states the models of the learner's own starts are candidates, too.
    """

    emission: Emission
    training: Any
    held_out: Any
    settings: HMMSettings
    by_itself: int

    def learn(self, n_states: int, smaller: Any) -> Any:
        """The most likely of the candidates with `n_states` states.

        Parameters
        ----------
        n_states : int
        smaller : parameters of the emission, or None
            Of a model with fewer states.
        """
        if smaller is not None and n_states > self.by_itself:
            grown = self._grown(n_states, smaller)
            if grown is not None:
                return grown
        rough = replace(
            self.settings,
            tol=LARGER_TOL * self.settings.tol,
            max_iter=min(STEPS, self.settings.max_iter),
            rough=True,
        )
        learnt, _ = self.emission.learn(self.training, n_states, rough, held_out=self.held_out)
        grown = None if smaller is None else self._grown(n_states, smaller)
        candidates = [learnt] if grown is None else [learnt, grown]
        return max(candidates, key=self._log_likelihood)

    def _grown(self, n_states: int, smaller: Any) -> Any:
        """EM from split states; None where the emission has no EM from a given start."""
        rng = np.random.default_rng([self.settings.seed, n_states])
        starts = [split(smaller, n_states, child) for child in rng.spawn(N_SPLITS)]
        short = [self._refined(start, SHORT_STEPS) for start in starts]
        if short[0] is None:
            return None
        return self._refined(max(short, key=self._log_likelihood), STEPS)

    def _refined(self, start: Any, steps: int) -> Any:
        tol, most = LARGER_TOL * self.settings.tol, min(steps, self.settings.max_iter)
        return self.emission.refined(
            self.training, start, replace(self.settings, tol=tol, max_iter=most)
        )

    def _log_likelihood(self, parameters: Any) -> float:
        return float(log_probs_of(self.emission, parameters, self.training)[0].sum())


def split(parameters: Any, n_states: int, rng: np.random.Generator) -> Any:
    """More states: those that are visited most are split, and differ in transitions alone.

    Emissions are those of the state that was split. Every initial and transition probability is multiplied by
    an exponentially distributed number, so that EM can separate the parts, whatever they emit.

    Parameters
    ----------
    parameters : parameters of an emission
    n_states : int
    rng : Generator
    """
    visits = np.maximum(parameters.stationary, 1e-12)
    rows = np.maximum(parameters.transitions, 1e-300)
    weights = visits * (1.0 - (rows * np.log(rows)).sum(axis=1))
    copies, parents = np.ones(len(visits)), list(range(len(visits)))
    for _ in range(n_states - len(visits)):
        heaviest = int(np.argmax(weights / copies))
        copies[heaviest] += 1
        parents.append(heaviest)
    order = np.array(parents)

    def perturbed(probabilities: Array) -> Array:
        shares = (probabilities + LEAST) / copies[order]
        shares *= rng.exponential(size=shares.shape)
        return np.asarray(shares / shares.sum(axis=-1, keepdims=True))

    initial, transitions = parameters.initial[order], parameters.transitions[np.ix_(order, order)]
    return replace(
        parameters.ordered(order),
        initial=perturbed(initial),
        transitions=perturbed(transitions),
    )
