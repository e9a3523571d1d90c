"""What every tree estimator can be asked, once it is fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import DensityMixin, TransformerMixin

from tacit.core.arguments import check_choice, check_rows, generator_from
from tacit.core.model import Model
from tacit.errors import NotAvailableError

if TYPE_CHECKING:
    from tacit.core.input.table import Schema
    from tacit.messages.evidence import Evidence
    from tacit.messages.mixture import Mixture
    from tacit.messages.network import Network, Tables
    from tacit.messages.repairs import Repairs
    from tacit.messages.rooted_tree import RootedTree
    from tacit.trees.model.components import Component
    from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]


class TreeQueries(TransformerMixin, DensityMixin, Model):
    """Queries of a fitted tree; missing cells of the rows are summed out everywhere.

    Rows may lack columns and have them in any order; a missing cell is None, NaN, null or -1 in an array of
    integers. ``soft={"column": likelihoods}`` gives, for cells that are missing in the rows, one likelihood
    per row and category; what was observed counts where both are there.
    """

    kind = "table"
    abilities = frozenset(
        {"score", "predict", "query", "impute", "sample", "states", "tree", "bif"}
    ) | {"singular values"}
    schema_: Schema
    topology_: Topology
    tree_: RootedTree
    parameters_: Network | Tables | Mixture
    diagnostics_: dict[str, Any]
    negative: str = "floor"
    unknown: str = "error"
    n_jobs: int | None = None

    def can(self, ability: str) -> bool:
        """Whether this model, as it was fitted, can do something: without hidden variables, no states."""
        if ability == "states" and not self.n_states_:
            return False
        return super().can(ability)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is something to ask."""
        return hasattr(self, "parameters_")

    @property
    def tables_(self) -> Tables | None:
        """Probability tables, where the way of learning gives them; of a mixture see `components_`."""
        from tacit.messages.network import Tables

        self._check_fitted()
        return self.parameters_ if isinstance(self.parameters_, Tables) else None

    @property
    def network_(self) -> Network:
        """The tables of a single tree as a network, or its operators."""
        from tacit.messages.network import Network, Tables

        self._check_fitted()
        if isinstance(self.parameters_, Tables):
            return self.parameters_.network
        if isinstance(self.parameters_, Network):
            return self.parameters_
        raise NotAvailableError(
            f"this model is a mixture of {self.parameters_.n_components} trees, not a single network; "
            f"components_ has the tables of each"
        )

    @property
    def components_(self) -> tuple[Component, ...]:
        """The trees that the model is made of, each with `weight`, `topology` and `tables`.

        A single tree has weight 1. Of a mixture, `topology_` and `tree_` are those of the heaviest.
        """
        from tacit.trees.model.components import components_of

        self._check_fitted()
        return components_of(self.parameters_, self.topology_, self.tree_)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn wants to know: cells may be missing, and may be text."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    @property
    def n_iter_(self) -> int:
        """Steps that learning took; 1 where it does not go in steps."""
        self._check_fitted()
        return int(self.diagnostics_.get("n_steps", 1))

    @property
    def categories_(self) -> dict[str, tuple[Any, ...]]:
        """The categories of each column, in the order of all answers."""
        self._check_fitted()
        return {column.name: column.categories for column in self.schema_.columns}

    @property
    def n_states_(self) -> dict[str, int]:
        """The number of states of each hidden node; of operators, the rank towards its parent.

        Of a mixture, ``"component"`` has as many as there are trees, and the nodes of tree 0 go by names like
        ``"0/h1"``.
        """
        from tacit.messages.mixture import Mixture

        self._check_fitted()
        if isinstance(self.parameters_, Mixture):
            return self.parameters_.n_states
        tree = self.tree_
        if self.tables_ is not None:
            return {tree.names[node]: self.tables_.layout.n_states[node] for node in tree.hidden}
        ranks = self.network_.ranks
        return {tree.names[node]: ranks[node] for node in tree.hidden}

    def score_samples(self, X: Any, *, soft: Mapping[str, Any] | None = None) -> Array:
        """Natural logarithm of the probability of what was observed of each row.

        A row of which nothing was observed has 0. Estimates that are not positive (possible after
        ``learn="spectral"`` and ``"hierarchical"`` only) are treated as the estimator's `negative` says,
        and counted in ``diagnostics_["repairs"]``.
        """
        from tacit.messages.conditionals import log_prob

        evidence = self._evidence(X, soft)
        with self._threads():
            found = log_prob(
                self.parameters_,
                evidence,
                negative=self.negative,  # type: ignore[arg-type]
            )
        self._record(found.repairs)
        return found.values

    def log_prob(self, X: Any, *, soft: Mapping[str, Any] | None = None) -> Array:
        """The same as `score_samples`."""
        return self.score_samples(X, soft=soft)

    def score(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> float:
        """Mean natural-log likelihood per row."""
        from tacit.trees.data.sample_weight import checked_weights

        values = self.score_samples(X)
        return float(np.average(values, weights=checked_weights(sample_weight, len(values))))

    def predict_proba(
        self,
        X: Any,
        target: str | Sequence[str] | None = None,
        *,
        joint: bool = False,
        soft: Mapping[str, Any] | None = None,
    ) -> Any:
        """P(target | whatever else is present in each row); the target's own cells are not used.

        Parameters
        ----------
        X : table
        target : str or sequence of str, optional
            A column, or several; none of their cells is used. Without it each column in turn, given all
            others.
        joint : bool
            Several targets together: the table of all of their combinations.
        soft : mapping, optional
            Likelihoods of missing cells.

        Returns
        -------
        array, or dict of str to array
            (row, category) for one target, in the order of ``categories_[target]``; a dict of these for
            several; with `joint` one array with an axis per target. Without a target one array, with the
            categories of all columns side by side.
        """
        from tacit.messages.conditionals import conditionals
        from tacit.messages.joint import joint_conditional
        from tacit.trees.query.given import target_names

        evidence = self._evidence(X, soft)
        names = list(self.schema_.names) if target is None else target_names(self.schema_, target)
        leaves = [self.schema_.index(name) for name in names]
        if target is not None:
            evidence = evidence.without(leaves)
        with self._threads():
            if joint:
                together = joint_conditional(self.parameters_, evidence, leaves)
                self._record(together.repairs)
                return together.table
            found = conditionals(self.parameters_, evidence, leaves)
        self._record(found.repairs)
        if target is None:
            return np.hstack(found.tables)
        if isinstance(target, str):
            return found.tables[0]
        return dict(zip(names, found.tables, strict=True))

    def marginals(self, X: Any, *, soft: Mapping[str, Any] | None = None) -> dict[str, Array]:
        """P(cell | whole row) of every column, in one upward and one downward pass over each tree.

        An observed cell has its category with certainty.
        """
        from tacit.messages.conditionals import marginals

        evidence = self._evidence(X, soft)
        with self._threads():
            found = marginals(self.parameters_, evidence)
        self._record(found.repairs)
        return dict(zip(self.schema_.names, found.tables, strict=True))

    def query(
        self, target: str | Sequence[str], given: Mapping[str, Any] | None = None
    ) -> dict[Any, float]:
        """P(target | given) as a dict from category (or tuple of categories) to probability.

        Parameters
        ----------
        target : str or sequence of str
        given : mapping of column to category, set of categories, or array of likelihoods

        Examples
        --------
        >>> import tacit
        >>> model = tacit.ChowLiuTree().fit({"a": [0, 0, 1, 1], "b": ["x", "x", "y", "x"]})
        >>> model.query("b", given={"a": 0})["x"] > 0.8
        True
        """
        from itertools import product

        from tacit.messages.joint import joint_conditional
        from tacit.trees.query.given import target_names

        evidence = self._given(given)
        names = target_names(self.schema_, target)
        leaves = [self.schema_.index(name) for name in names]
        with self._threads():
            found = joint_conditional(self.parameters_, evidence.without(leaves), leaves)
        self._record(found.repairs)
        values = found.table[0].ravel().tolist()
        if isinstance(target, str):
            return dict(zip(self.categories_[target], values, strict=True))
        every = product(*(self.categories_[name] for name in names))
        return dict(zip(every, values, strict=True))

    def impute(self, X: Any) -> Any:
        """The rows with each missing cell set to its most probable category; the caller's kind of table."""
        from tacit.messages.conditionals import impute
        from tacit.trees.data.decode import complete

        evidence = self._evidence(X, None)
        with self._threads():
            found = impute(self.parameters_, evidence)
        self._record(found.repairs)
        codes: NDArray[Any] = found.codes
        return complete(X, codes, self.schema_)

    def most_likely(self, X: Any) -> Any:
        """The rows with missing cells filled by the most likely joint completion.

        Hidden states are completed along, and so is the component of a mixture.
        """
        from tacit.messages.hidden_states import most_likely
        from tacit.trees.data.decode import complete

        evidence = self._evidence(X, None)
        with self._threads():
            found = most_likely(self.parameters_, evidence)
        codes: NDArray[Any] = found.codes
        return complete(X, codes, self.schema_)

    def posterior(self, X: Any, *, soft: Mapping[str, Any] | None = None) -> dict[str, Array]:
        """P(hidden state | what was observed of the row), by name of the hidden node.

        Of a mixture, ``"component"`` says which tree each row is from; the nodes of every tree, called like
        ``"0/h1"``, have the posterior that they have if the row is from that tree.
        """
        from tacit.messages.hidden_states import posterior_by_name

        evidence = self._evidence(X, soft)
        with self._threads():
            found, repairs = posterior_by_name(self.parameters_, evidence)
        self._record(repairs)
        return found

    def transform(self, X: Any) -> Array:
        """Posteriors of all hidden nodes side by side, see `get_feature_names_out`."""
        return np.hstack(list(self.posterior(X).values()))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns of `transform`: hidden node and state."""
        self._check_fitted()
        names = [f"{name}={h}" for name, k in self.n_states_.items() for h in range(k)]
        return np.array(names, dtype=object)

    def sample(
        self,
        n: int = 1,
        *,
        given: Mapping[str, Any] | None = None,
        random_state: Any = None,
        like: Any = None,
    ) -> Any:
        """Rows drawn from the model, or from its conditional given evidence.

        Parameters
        ----------
        n : int
            Number of rows.
        given : mapping of column to category, set of categories, or array of likelihoods, optional
        random_state : int, Generator or None
        like : table or name of a library, optional
            The kind of table to return, by default that of the training data.
        """
        from tacit.messages.sampling import sample
        from tacit.trees.data.decode import decode

        check_rows("n", n)
        evidence = self._given(given)
        rng = generator_from(random_state)
        with self._threads():
            found = sample(self.parameters_, n, rng, evidence)
        self._record(found.repairs)
        codes: NDArray[Any] = found.codes
        return decode(codes, self.schema_, like=self._kind if like is None else like)

    def save(self, path: Any) -> None:
        """Write the model to one file that `tacit.load` reads; nothing is executed on loading."""
        from tacit.trees.saved import save

        save(self, path)

    def to_bif(self, path: Any, *, component: int | None = None) -> None:
        """Write the probability tables as a Bayesian network in BIF, hidden nodes flagged.

        Parameters
        ----------
        path : str or path
        component : int, optional
            Which tree of a mixture is written: as a whole it is no network that BIF could hold.
        """
        from tacit.trees.files.bif import write_bif
        from tacit.trees.model.components import chosen_component

        tables = chosen_component(self.components_, component).tables
        if tables is None:
            raise NotAvailableError(
                "BIF holds probability tables, and this model was learnt as operators; fit with "
                'learn="auto", "em", "online-em" or "mossel-roch"'
            )
        write_bif(path, tables, [column.categories for column in self.schema_.columns])

    # -- within -----------------------------------------------------------------------------------

    @property
    def _kind(self) -> str:
        return str(self.diagnostics_.get("kind_of_table", "dict"))

    def _threads(self) -> Any:
        from tacit.core.threads import limit_threads

        return limit_threads(self.n_jobs)

    def _evidence(self, X: Any, soft: Mapping[str, Any] | None) -> Evidence:
        from tacit.trees.query.given import row_evidence

        self._check_fitted()
        self._check_policies()
        return row_evidence(X, self.schema_, unknown=self.unknown, soft=soft)

    def _given(self, known: Mapping[str, Any] | None) -> Evidence:
        from tacit.trees.query.given import given_evidence

        self._check_fitted()
        self._check_policies()
        return given_evidence(self.schema_, known, unknown=self.unknown)

    def _check_policies(self) -> None:
        """Check the arguments that questions obey: they may have been set after fitting."""
        check_choice("negative", self.negative, ("floor", "nan", "raise"))
        check_choice("unknown", self.unknown, ("error", "missing"))

    def _record(self, repairs: Repairs) -> None:
        """Put what the last query had to repair into the diagnostics."""
        self.diagnostics_["repairs"] = repairs.as_dict()
