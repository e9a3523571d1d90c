"""The queries of a fitted tree of categories, or a mixture of such trees."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from tacit.core.model import checked_summary
from tacit.errors import NotAvailableError
from tacit.messages.network_files import tree_of
from tacit.trees.model_files import TREE_FILE
from tacit.trees.table_model import Given, Soft, TableModel

if TYPE_CHECKING:
    from tacit.core.input.examples import Examples
    from tacit.core.summary import Summary
    from tacit.messages.assignments import Assignment, States
    from tacit.messages.evidence import Evidence
    from tacit.messages.hidden_states import Completion
    from tacit.messages.mixture import Mixture
    from tacit.messages.network import Network, Tables
    from tacit.messages.rooted_tree import RootedTree
    from tacit.trees.model.components import Component

Array = NDArray[np.float64]


class TreeModel(TransformerMixin, TableModel):
    """A fitted tree of categories, or a mixture of such trees; `tacit.messages` answers the queries."""

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
            return any(tree.tables and tree.node_states for tree in self.trees_)
        if ability == "bif":
            return all(tree.tables is not None for tree in self.trees_)
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

    @checked_summary
    def summary(self) -> Summary:
        """What was learnt, on a page: structure, choices, fit, and a profile of every hidden state."""
        from tacit.trees.query.summary import tree_summary

        return tree_summary(self)

    # -- answers ------------------------------------------------------------------------------------

    def _log_likelihoods(self, X: Any, soft: Soft | None) -> tuple[Array, dict[str, Any]]:
        from tacit.messages.conditionals import log_prob

        evidence = self._evidence(X, soft)
        with self._threads():
            scores = log_prob(self.parameters_, evidence, negative=self.negative)  # type: ignore[arg-type]  # checked
        return scores.values, scores.repairs.as_dict()

    def _conditionals(
        self, X: Any, places: Sequence[int], soft: Soft | None, *, in_turn: bool, joint: bool
    ) -> tuple[list[Array], dict[str, Any]]:
        from tacit.messages.conditionals import conditionals
        from tacit.messages.joint import joint_conditional
        from tacit.messages.repairs import Repairs

        parts: list[tuple[Array, ...]] = []
        repairs = Repairs()
        with self._threads():
            for block in self._blocks(X, soft):
                evidence = block if in_turn else block.without(places)
                if joint:
                    together = joint_conditional(self.parameters_, evidence, places)
                    parts.append((together.table,))
                    repairs += together.repairs
                else:
                    beliefs = conditionals(self.parameters_, evidence, places)
                    parts.append(beliefs.tables)
                    repairs += beliefs.repairs
        return _joined(parts), repairs.as_dict()

    def _predictions(self, X: Any, targets: Sequence[Hashable], *, in_turn: bool) -> list[Any]:
        from tacit.core.input.decode import column_values

        leaves = [self.schema_.index(target) for target in targets]
        tables, _ = self._conditionals(X, leaves, None, in_turn=in_turn, joint=False)
        return [
            column_values(self.schema_.columns[leaf], table.argmax(axis=1))
            for leaf, table in zip(leaves, tables, strict=True)
        ]

    def _marginals(self, X: Any, soft: Soft | None) -> dict[Hashable, Array]:
        from tacit.messages.conditionals import marginals

        blocks, columns = self._blocks(X, soft), self._categorical
        leaves = [self.schema_.index(column) for column in columns]
        with self._threads():
            parts = [marginals(self.parameters_, evidence, leaves).tables for evidence in blocks]
        return dict(zip(columns, _joined(parts), strict=True))

    def _joint_given(self, places: Sequence[int], given: Given | None) -> Array:
        from tacit.messages.joint import joint_conditional

        evidence = self._given(given).without(places)
        with self._threads():
            table = joint_conditional(self.parameters_, evidence, places).table
        return np.asarray(table[0])

    def _impute(self, X: Any, *, median: bool = False) -> Any:
        from tacit.core.input.decode import complete
        from tacit.messages.conditionals import impute

        evidence = self._evidence(X, None)
        with self._threads():
            codes: NDArray[Any] = impute(self.parameters_, evidence).codes
        return complete(X, codes, self.schema_)

    def _most_likely(self, X: Any) -> Any:
        return self.most_probable_assignment(X).rows

    def most_probable_assignment(self, X: Any, *, soft: Soft | None = None) -> Assignment:
        """The values of all missing and hidden variables that are most probable together (max-product).

        Observed cells stay as they are. Of equally probable assignments, the first state that takes part in
        one is chosen at each variable, from the root down. In a mixture the component is one more hidden
        variable. `impute` and `posterior` look at each variable for itself.

        Parameters
        ----------
        X : table
        soft : mapping of column to (row, category) likelihoods, optional
            For missing cells; they count in the choice and in `log_prob`.

        Returns
        -------
        Assignment
            `rows`, completed; `hidden`, the state of each hidden variable by the names of `posterior`, -1
            where a row is from another tree of a mixture; `log_prob`, of everything together.

        Raises
        ------
        NotAvailableError
            The model was learnt as operators, or has columns of numbers.
        """
        from tacit.core.input.decode import complete
        from tacit.messages.assignments import Assignment
        from tacit.messages.hidden_states import most_likely

        evidence = self._evidence(X, soft)
        with self._threads():
            completion = most_likely(self.parameters_, evidence)
        codes: NDArray[Any] = completion.codes
        rows = complete(X, codes, self.schema_)
        return Assignment(rows, self._hidden_states(completion), completion.log_prob)

    def _hidden_states(self, completion: Completion) -> dict[str, States]:
        """The state of each hidden variable of completed rows."""
        from tacit.messages.assignments import hidden_by_name

        return hidden_by_name(self.parameters_, completion)

    def _posterior(self, X: Any, soft: Soft | None) -> dict[str, Array]:
        from tacit.messages.hidden_states import posterior_by_name

        blocks = self._blocks(X, soft)
        with self._threads():
            parts = [posterior_by_name(self.parameters_, evidence)[0] for evidence in blocks]
        return dict(zip(parts[0], _joined([part.values() for part in parts]), strict=True))

    def _sample(
        self, n_samples: int, given: Given | None, rng: np.random.Generator, like: Any
    ) -> Any:
        from tacit.core.input.decode import decode
        from tacit.messages.sampling import sample

        evidence = self._given(given)
        with self._threads():
            codes: NDArray[Any] = sample(self.parameters_, n_samples, rng, evidence).codes
        return decode(codes, self.schema_, like=like)

    def transform(self, X: Any) -> Array:
        """Posteriors of all hidden nodes side by side, see `get_feature_names_out`."""
        return np.hstack(list(self.posterior(X).values()))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns of `transform`: hidden node and state."""
        names = [f"{name}={h}" for name, k in self.node_states_.items() for h in range(k)]
        return np.array(names, dtype=object)

    # -- files --------------------------------------------------------------------------------------

    def to_bif(self, path: Any, *, component: int | None = None) -> None:
        """Write the probability tables as a Bayesian network in BIF, hidden nodes flagged.

        Parameters
        ----------
        path : str or path
        component : int, optional
            Which tree of a mixture is written: BIF cannot hold the whole mixture.
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

    def _examples(self, X: Any) -> Examples:
        from tacit.core.input.examples import Examples
        from tacit.core.input.read_table import read_table

        table = read_table(
            X, n_bins=self.n_bins, columns=getattr(self, "columns", None), cut_integers=True
        )
        return Examples(table.n_rows, table.take)

    def _evidence(self, X: Any, soft: Soft | None) -> Evidence:
        from tacit.trees.query.given import row_evidence

        self._check_fitted()
        self._check_policies()
        return row_evidence(X, self.schema_, unknown=self.unknown, soft=soft)

    def _blocks(self, X: Any, soft: Soft | None) -> Iterator[Evidence]:
        """The evidence of the rows, in blocks."""
        yield self._evidence(X, soft)

    def _given(self, known: Given | None) -> Evidence:
        from tacit.trees.query.given import given_evidence

        self._check_fitted()
        self._check_policies()
        return given_evidence(self.schema_, known, unknown=self.unknown)


def _joined(parts: Sequence[Iterable[Array]]) -> list[Array]:
    """The arrays of blocks of rows, one below the other."""
    if len(parts) == 1:
        return list(parts[0])
    return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
