"""Probabilistic automata, as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice, check_count, check_flag, check_number
from tacit.core.model import checked_summary
from tacit.errors import NotAvailableError
from tacit.sequences.automaton_fitting import FittedAutomaton
from tacit.sequences.model_files import PROBABILISTIC_AUTOMATON_FILE
from tacit.sequences.sequence_queries import CountedSequences

if TYPE_CHECKING:
    from tacit.core.progress import Report
    from tacit.core.summary import Summary
    from tacit.sequences.learn.automaton_candidates import AutomatonSettings
    from tacit.sequences.model.automata import AutomatonTables
    from tacit.sequences.moments.prefixes import PrefixTree
    from tacit.sequences.query.mean_automata import MeanAutomaton

Array = NDArray[np.float64]

LEARN = ("auto", "em", "gibbs")
_FEW_STATES = 6  # if there are too few sequences for model selection


class ProbabilisticAutomaton(FittedAutomaton, CountedSequences):
    """Hidden states that end, or emit a symbol and go on; the mean of many such automata by default.

    The state after a prefix determines the distribution of its future. Prefixes are therefore clustered by
    the futures that a weighted automaton predicts, tables are counted from the clusters, and EM follows. With
    ``learn="auto"`` the paths of states are then sampled repeatedly (collapsed Gibbs sampling), in chains
    that start at clusters or at random. Held-out sequences select among these, and the automata that the best
    sample are averaged, which predicts best. Pseudo-counts are learnt from the sampled paths.

    Parameters
    ----------
    n_states : int or "auto"
        Hidden states; "auto" selects by held-out sequences.
    learn : {"auto", "em", "gibbs"}
        "auto" is "gibbs": the mean of sampled automata. "em": one automaton, by accelerated EM.
    tied : bool or "auto"
        Whether transitions are the same for all symbols: a hidden Markov model that also models where
        sequences end, with far fewer parameters.
    n_samples : int
        Automata that are averaged, of one chain. Of several chains each gives as many as its weight says, a
        third of this at least.
    n_sweeps : int
        Gibbs sweeps of one final chain, over all sequences; of several, as for `n_samples`. Candidates of
        model selection get a fortieth of this or more, the last of them about half. Chains from random tables
        still gain after thousands of sweeps.
    pseudo_counts : float or "auto"
        Added to each row of initial, emission and transition probabilities, spread evenly. "auto": a few;
        if automata are sampled, the most likely numbers given the sampled paths.
    tol : float
        EM stops when a step gains less, in nats per position.
    max_iter : int
        Largest number of EM steps of each start.
    unknown : {"error", "missing"}
        What queries do with a symbol that was not seen in training.
    n_jobs : int or None
        Threads of matrix products.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (share done, text).
    random_state : int, numpy.random.Generator or None
        Seed of clusters, draws and held-out sequences.

    Attributes
    ----------
    initial_, steps_, stop_ : arrays
        (state,), (symbol, state, next state) and (state,) probabilities of one automaton; a mean of several
        is the automaton that starts in one of them with its weight.
    parts_ : tuple of AutomatonTables
        The automata, averaged by `weights_`.
    n_states_ : int
        Hidden states of each.
    symbols_ : tuple
    tree_ : PrefixTree
        Of the training sequences; not stored in files.
    diagnostics_ : dict
        In plain values: the selected settings, the candidates.

    Examples
    --------
    >>> from tacit.sequences.probabilistic_automaton import ProbabilisticAutomaton
    >>> texts = ["ab", "abab", "ab", ""] * 10
    >>> model = ProbabilisticAutomaton(n_states=2, learn="em").fit([list(text) for text in texts])
    >>> model.predict_next_proba(["a"]).round(1).tolist()  # a, b, end
    [0.0, 1.0, 0.0]
    """

    abilities = FittedAutomaton.abilities | {"transitions"}
    _file = PROBABILISTIC_AUTOMATON_FILE

    def __init__(
        self,
        n_states: int | str = "auto",
        learn: str = "auto",
        *,
        tied: bool | str = "auto",
        n_samples: int = 20,
        n_sweeps: int = 1000,
        pseudo_counts: float | str = "auto",
        tol: float = 1e-7,
        max_iter: int = 200,
        unknown: str = "error",
        n_jobs: int | None = None,
        progress: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.n_states = n_states
        self.learn = learn
        self.tied = tied
        self.n_samples = n_samples
        self.n_sweeps = n_sweeps
        self.pseudo_counts = pseudo_counts
        self.tol = tol
        self.max_iter = max_iter
        self.unknown = unknown
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    # -- fitted attributes ------------------------------------------------------------------------

    @property
    def _mean(self) -> MeanAutomaton:
        from tacit.sequences.query.mean_automata import MeanAutomaton

        self._check_fitted()
        assert isinstance(self.predictor_, MeanAutomaton)
        return self.predictor_

    @property
    def parts_(self) -> tuple[AutomatonTables, ...]:
        """The automata whose mean the model is."""
        return self._mean.parts

    @property
    def weights_(self) -> Array:
        """(part,) weights in the mean."""
        return self._mean.weights

    @property
    def n_states_(self) -> int:
        """Hidden states of the largest of the automata."""
        return max(part.n_states for part in self.parts_)

    @property
    def n_parameters_(self) -> int:
        """Free parameters of one automaton; of a mean of several they are not counted."""
        if len(self.parts_) > 1:
            raise NotAvailableError(
                f"the mean of {len(self.parts_)} sampled automata has no number of parameters; fit with "
                f'learn="em"'
            )
        layout = self.parts_[0].layout
        return layout.size - len(layout.row_starts)

    @property
    def initial_(self) -> Array:
        """(state,) P(first state), of all parts in turn."""
        mean = self._mean
        return np.concatenate(
            [w * p.initial for w, p in zip(mean.weights, mean.parts, strict=True)]
        )

    @property
    def stop_(self) -> Array:
        """(state,) P(end | state), of all parts in turn."""
        return np.concatenate([part.stop for part in self.parts_])

    @property
    def steps_(self) -> Array:
        """(symbol, state, next state) P(symbol, next state | state), of all parts in turn."""
        sizes = [part.n_states for part in self.parts_]
        total = sum(sizes)
        if total > 2000:
            raise NotAvailableError(
                f"the parts have {total} states together, too many for one array; look at parts_"
            )
        out = np.zeros((self.n_symbols_, total, total))
        for part, end in zip(self.parts_, np.cumsum(sizes), strict=True):
            states = slice(end - part.n_states, end)
            out[:, states, states] = part.steps
        return out

    @property
    def spectral_radius_(self) -> float:
        """The largest size of an eigenvalue of the sum of all steps: below one, since sequences end."""
        from tacit.sequences.model.automata import spectral_radius

        return max(spectral_radius(part.steps) for part in self.parts_)

    @checked_summary
    def summary(self) -> Summary:
        """The model on a page: fit, candidates, states of the automaton of largest weight."""
        from tacit.sequences.query.summaries import state_sections, summary_of, symbol_profiles

        part = self.parts_[int(np.argmax(self.weights_))]
        visits = np.maximum(part.automaton.past, 0.0)
        descriptions = symbol_profiles(part.emit, visits, [*self.symbols_, "(end)"])
        sections = state_sections(
            part.initial, part.through, visits, descriptions, "more likely than overall"
        )
        n = len(self.parts_)
        facts = {"automata that are averaged": n, "states of those shown": part.n_states}
        title = f"ProbabilisticAutomaton: {self.n_states_} states, {len(self.symbols_)} symbols"
        return summary_of(title, self.diagnostics_, sections, facts)

    # -- private ----------------------------------------------------------------------------------

    def _check_arguments(self) -> None:
        self._settings(0)

    def _has_choices(self) -> bool:
        return isinstance(self.n_states, str) or isinstance(self.tied, str)

    def _learn_from(
        self,
        tree: PrefixTree,
        held_out: PrefixTree | None,
        seed: int,
        report: Report,
        symbols: tuple[Hashable, ...],
    ) -> None:
        from tacit.sequences.learn.probabilistic_automata import Learning
        from tacit.sequences.query.mean_automata import MeanAutomaton

        del symbols  # codes are enough
        settings = self._settings(seed)
        if held_out is None:
            n_states = settings.n_states or min(_FEW_STATES, tree.n_nodes)
            settings = replace(settings, n_states=n_states, tied=bool(settings.tied))
        learnt = Learning(tree, held_out, settings, report).run()
        self.predictor_ = MeanAutomaton(learnt.parts, learnt.weights)
        trees = [tree] if held_out is None else [tree, held_out]
        self.diagnostics_ = {
            "n_sequences": sum(tree.n_sequences for tree in trees),
            "n_positions": sum(tree.n_positions for tree in trees),
            "n_states": [shape.n_states for shape in learnt.shapes],
            "tied": [shape.tied for shape in learnt.shapes],
            "start": [shape.start for shape in learnt.shapes],
            "move_prior": [prior.move for prior in learnt.priors],
            "n_parts": len(learnt.parts),
            "n_steps": learnt.n_steps,
            "held_out_score": learnt.held_out,
            "candidates": list(learnt.candidates),
        }

    def _settings(self, seed: int) -> AutomatonSettings:
        """The arguments about learning, checked."""
        from tacit.sequences.learn.automaton_candidates import AutomatonSettings

        check_choice("learn", self.learn, LEARN)
        check_count("n_states", self.n_states, word="auto")
        check_flag("tied", self.tied, word="auto")
        for name in ("n_samples", "n_sweeps", "max_iter"):
            check_count(name, getattr(self, name))
        check_number("pseudo_counts", self.pseudo_counts, positive=True, word="auto")
        check_number("tol", self.tol)
        return AutomatonSettings(
            n_states=None if isinstance(self.n_states, str) else int(self.n_states),
            tied=None if isinstance(self.tied, str) else bool(self.tied),
            learn=self.learn,
            n_samples=int(self.n_samples),
            n_sweeps=int(self.n_sweeps),
            pseudo_counts=(
                None if isinstance(self.pseudo_counts, str) else float(self.pseudo_counts)
            ),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            seed=seed,
        )
