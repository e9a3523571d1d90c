"""What every fitted tree of categories, or a mixture of such trees, can be asked."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from tacit.core.arguments import check_rows, generator_from
from tacit.errors import NotAvailableError
from tacit.messages.network_files import tree_of
from tacit.trees.model_files import TREE_FILE
from tacit.trees.table_model import Given, Soft, TableModel, Target

if TYPE_CHECKING:
    from tacit.core.summary import Summary
    from tacit.messages.evidence import Evidence
    from tacit.messages.mixture import Mixture
    from tacit.messages.network import Network, Tables
    from tacit.messages.rooted_tree import RootedTree
    from tacit.trees.model.components import Component

Array = NDArray[np.float64]


class TreeModel(TransformerMixin, TableModel):
    """A fitted tree of categories, or a mixture of such trees; all questions go to `tacit.messages`."""

    abilities: ClassVar[frozenset[str]] = TableModel.abilities | {
        "states",
        "components",
        "bif",
        "singular values",
    }
    tree_: RootedTree
    parameters_: Network | Tables | Mixture
    _file = TREE_FILE

    def can(self, ability: str) -> bool:
        """Whether this model, as it was fitted, can do something; see `abilities`."""
        if not super().can(ability):
            return False
        if ability == "states":
            return any(each.tables and each.node_states for each in self.trees_)
        if ability == "bif":
            return all(each.tables is not None for each in self.trees_)
        if ability == "singular values":
            return "edges" in self.diagnostics_
        return True

    # -- what was learnt ----------------------------------------------------------------------------

    @property
    def tables_(self) -> Tables | None:
        """Probability tables, where the learner gives them; of a mixture see `trees_`."""
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
            f"trees_ has the tables of each"
        )

    @property
    def trees_(self) -> tuple[Component, ...]:
        """The trees that the model is made of, each with `weight`, `topology` and `tables`.

        A single tree has weight 1. Of a mixture, `topology_` and `tree_` are those of the heaviest.
        """
        from tacit.trees.model.components import components_of

        self._check_fitted()
        return components_of(self.parameters_, self.topology_, self.tree_)

    @property
    def node_states_(self) -> dict[str, int]:
        """The number of states of each hidden node; of operators, the rank towards its parent.

        Of a mixture, ``"component"`` has as many as there are trees, and the nodes of tree 0 go by names like
        ``"0/h1"``.
        """
        from tacit.messages.mixture import Mixture

        self._check_fitted()
        if isinstance(self.parameters_, Mixture):
            return self.parameters_.n_states
        tree = self.tree_
        sizes = self.network_.ranks if self.tables_ is None else self.tables_.layout.n_states
        return {tree.names[node]: sizes[node] for node in tree.hidden}

    @property
    def n_parameters_(self) -> int:
        """Free parameters: each row of a probability table sums to one."""
        from tacit.messages.network import Network, Tables

        self._check_fitted()
        if isinstance(self.parameters_, Network):
            raise NotAvailableError(
                "operators have no countable number of free parameters; fit with learn="
                '"auto", "em", "online-em" or "mossel-roch" to get probability tables'
            )
        if isinstance(self.parameters_, Tables):
            return self.parameters_.layout.n_parameters
        return self.parameters_.n_parameters

    def summary(self) -> Summary:
        """What was learnt, on a page: structure, choices, fit, and a profile of every hidden state."""
        from tacit.trees.query.summary import tree_summary

        self._check_fitted()
        return tree_summary(self)

    # -- questions ----------------------------------------------------------------------------------

    def score_samples(
        self, X: Any, *, soft: Soft | None = None, return_repairs: bool = False
    ) -> Any:
        """Natural logarithm of the probability of what was observed of each row.

        A row of which nothing was observed has 0. Estimates that are not positive (possible after
        ``learn="spectral"`` and ``"hierarchical"`` only) are treated as the estimator's `negative` says.

        Parameters
        ----------
        X : table
        soft : mapping of column to (row, category) likelihoods, optional
        return_repairs : bool
            Whether to return also how many estimates were not positive.

        Returns
        -------
        (row,) array, or this and a dict
        """
        from tacit.messages.conditionals import log_prob

        evidence = self._evidence(X, soft)
        with self._threads():
            scores = log_prob(self.parameters_, evidence, negative=self.negative)  # type: ignore[arg-type]  # checked
        return (scores.values, scores.repairs.as_dict()) if return_repairs else scores.values

    def predict_proba(
        self,
        X: Any,
        target: Target | None = None,
        *,
        joint: bool = False,
        soft: Soft | None = None,
        return_repairs: bool = False,
    ) -> Any:
        """P(target | whatever else is present in each row); the target's own cells are not used.

        Parameters
        ----------
        X : table
        target : column, or sequence of columns, optional
            None of their cells is used. Without it each column in turn, given all others.
        joint : bool
            Several targets together: the table of all of their combinations.
        soft : mapping of column to (row, category) likelihoods, optional
            Of missing cells.
        return_repairs : bool
            Whether to return also how many estimates had a negative part, which was cut off.

        Returns
        -------
        array, or dict of column to array
            (row, category) for one target, in the order of ``categories_[target]``; a dict of these for
            several; with `joint` one array with an axis per target. Without a target one array, with the
            categories of all columns side by side. With `return_repairs` this and a dict.
        """
        from tacit.messages.conditionals import conditionals
        from tacit.messages.joint import joint_conditional
        from tacit.trees.query.given import is_column, target_columns

        evidence = self._evidence(X, soft)
        columns = self.schema_.labels if target is None else target_columns(self.schema_, target)
        leaves = [self.schema_.index(column) for column in columns]
        if target is not None:
            evidence = evidence.without(leaves)
        answer: Any
        with self._threads():
            if joint:
                together = joint_conditional(self.parameters_, evidence, leaves)
                answer, repairs = together.table, together.repairs
            else:
                beliefs = conditionals(self.parameters_, evidence, leaves)
                repairs = beliefs.repairs
                if target is None:
                    answer = np.hstack(beliefs.tables)
                elif is_column(self.schema_, target):
                    answer = beliefs.tables[0]
                else:
                    answer = dict(zip(columns, beliefs.tables, strict=True))
        return (answer, repairs.as_dict()) if return_repairs else answer

    def _predictions(self, X: Any, targets: Sequence[Hashable], *, in_turn: bool) -> list[Any]:
        from tacit.core.input.decode import column_values
        from tacit.messages.conditionals import conditionals

        evidence = self._evidence(X, None)
        leaves = [self.schema_.index(target) for target in targets]
        with self._threads():
            evidence = evidence if in_turn else evidence.without(leaves)
            tables = conditionals(self.parameters_, evidence, leaves).tables
        return [
            column_values(self.schema_.columns[leaf], table.argmax(axis=1))
            for leaf, table in zip(leaves, tables, strict=True)
        ]

    def marginals(self, X: Any, *, soft: Soft | None = None) -> dict[Hashable, Array]:
        """P(cell | whole row) of every column, in one upward and one downward pass over each tree.

        An observed cell has its category with certainty.
        """
        from tacit.messages.conditionals import marginals

        evidence = self._evidence(X, soft)
        with self._threads():
            tables = marginals(self.parameters_, evidence).tables
        return dict(zip(self.schema_.labels, tables, strict=True))

    def query(self, target: Target, given: Given | None = None) -> dict[Any, float]:
        """P(target | given) as a dict from category (or tuple of categories) to probability.

        Parameters
        ----------
        target : column, or sequence of columns
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
        from tacit.trees.query.given import is_column, target_columns

        evidence = self._given(given)
        leaves = [self.schema_.index(each) for each in target_columns(self.schema_, target)]
        with self._threads():
            table = joint_conditional(self.parameters_, evidence.without(leaves), leaves).table
        values = table[0].ravel().tolist()
        categories = [self.schema_.columns[leaf].categories for leaf in leaves]
        if is_column(self.schema_, target):
            return dict(zip(categories[0], values, strict=True))
        return dict(zip(product(*categories), values, strict=True))

    def impute(self, X: Any) -> Any:
        """The rows with each missing cell set to its most probable category; the caller's kind of table."""
        from tacit.core.input.decode import complete
        from tacit.messages.conditionals import impute

        evidence = self._evidence(X, None)
        with self._threads():
            codes: NDArray[Any] = impute(self.parameters_, evidence).codes
        return complete(X, codes, self.schema_)

    def most_likely(self, X: Any) -> Any:
        """The rows with missing cells filled by the most likely joint completion.

        Hidden states are completed along, and so is the component of a mixture.
        """
        from tacit.core.input.decode import complete
        from tacit.messages.hidden_states import most_likely

        evidence = self._evidence(X, None)
        with self._threads():
            codes: NDArray[Any] = most_likely(self.parameters_, evidence).codes
        return complete(X, codes, self.schema_)

    def posterior(self, X: Any, *, soft: Soft | None = None) -> dict[str, Array]:
        """P(hidden state | what was observed of the row), by name of the hidden node.

        Of a mixture, ``"component"`` says which tree each row is from; the nodes of every tree, called like
        ``"0/h1"``, have the posterior that they have if the row is from that tree.
        """
        from tacit.messages.hidden_states import posterior_by_name

        evidence = self._evidence(X, soft)
        with self._threads():
            return posterior_by_name(self.parameters_, evidence)[0]

    def transform(self, X: Any) -> Array:
        """Posteriors of all hidden nodes side by side, see `get_feature_names_out`."""
        return np.hstack(list(self.posterior(X).values()))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns of `transform`: hidden node and state."""
        names = [f"{name}={h}" for name, k in self.node_states_.items() for h in range(k)]
        return np.array(names, dtype=object)

    def sample(
        self,
        n_samples: int = 1,
        *,
        given: Given | None = None,
        random_state: Any = None,
        like: Any = None,
    ) -> Any:
        """Rows drawn from the model, or from its conditional given evidence.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        given : mapping of column to category, set of categories, or array of likelihoods, optional
        random_state : int, Generator or None
        like : table or name of a library, optional
            The kind of table to return, by default that of the training data.
        """
        from tacit.core.input.decode import decode
        from tacit.messages.sampling import sample

        check_rows("n_samples", n_samples)
        evidence = self._given(given)
        rng = generator_from(random_state)
        with self._threads():
            codes: NDArray[Any] = sample(self.parameters_, n_samples, rng, evidence).codes
        return decode(codes, self.schema_, like=self._kind_of_table if like is None else like)

    # -- files --------------------------------------------------------------------------------------

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

        tables = chosen_component(self.trees_, component).tables
        if tables is None:
            raise NotAvailableError(
                "BIF holds probability tables, and this model was learnt as operators; fit with "
                'learn="auto", "em", "online-em" or "mossel-roch"'
            )
        write_bif(path, tables, [column.categories for column in self.schema_.columns])

    def _restore(self, values: Mapping[str, Any]) -> None:
        super()._restore(values)
        self.tree_ = tree_of(self.parameters_)

    # -- within -------------------------------------------------------------------------------------

    def _evidence(self, X: Any, soft: Soft | None) -> Evidence:
        from tacit.trees.query.given import row_evidence

        self._check_fitted()
        self._check_policies()
        return row_evidence(X, self.schema_, unknown=self.unknown, soft=soft)

    def _given(self, known: Given | None) -> Evidence:
        from tacit.trees.query.given import given_evidence

        self._check_fitted()
        self._check_policies()
        return given_evidence(self.schema_, known, unknown=self.unknown)
