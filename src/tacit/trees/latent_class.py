"""Latent classes: one hidden variable above all columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tacit.errors import TopologyError
from tacit.messages.hidden_states import posterior_by_name
from tacit.trees.latent_tree import LatentTree
from tacit.trees.learn.learners import CLASS_LEARNERS
from tacit.trees.table_model import Soft, Target

if TYPE_CHECKING:
    from tacit.trees.files.bif import BifTree


class LatentClass(LatentTree):
    """One hidden variable above all columns: latent class analysis, a mixture of product distributions.

    A `LatentTree` with ``structure="star"``; all arguments but `structure` are the same. Up to 12
    classes, learn="auto" starts from clusters of the rows in the principal axes of the columns' dependence,
    and exchanges classes during EM: a redundant class is removed, and one whose columns still depend on each
    other is split, as long as the likelihood grows (``diagnostics_["n_exchanged"]``). Further starts (five;
    20 with effort="high", none with "low") are clusters from drawn centres, of which the likeliest go on.
    With pseudo_counts="auto", the strength of the prior of each column is learnt, too
    (``diagnostics_["pseudo_counts"]``).

    learn="tensor" is one more learner, consistent and without iterations: three groups of up to `features`
    columns are three views of the class (``diagnostics_["views"]``), and the decomposition of their joint
    table gives weights and tables (Anandkumar, Hsu and Kakade 2012). It uses few columns and needs
    many rows. Fewer than three columns have no classes: two are joined directly.

    Without a target, `predict` and `predict_proba` give the class of each row.

    Attributes
    ----------
    n_states_ : int
        Number of classes.

    Examples
    --------
    >>> import tacit
    >>> star = tacit.Topology.star([f"x{place}" for place in range(5)])
    >>> rows = tacit.toy.random_tree_model(topology=star, n_states=3, random_state=0).sample(500, 1)
    >>> model = tacit.LatentClass(3).fit(rows)
    >>> model.posterior(rows)["h"].shape
    (500, 3)
    """

    _learners = CLASS_LEARNERS

    def __init__(
        self,
        n_states: int | str = "auto",
        learn: str = "auto",
        *,
        effort: str = "default",
        n_views: int = 5,
        features: Any = 3,
        n_restarts: int = 5,
        tol: float | str = "auto",
        stopping: str = "gain",
        max_iter: int = 1000,
        learning_rate: float | Sequence[float] = 0.6,
        pseudo_counts: float | str = "auto",
        negative: str = "floor",
        unknown: str = "error",
        n_bins: int = 5,
        columns: Mapping[Any, str] | None = None,
        n_jobs: int | None = None,
        progress: Any = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(
            n_states,
            "star",
            learn,
            n_components=1,
            effort=effort,
            n_views=n_views,
            features=features,
            n_restarts=n_restarts,
            tol=tol,
            stopping=stopping,
            max_iter=max_iter,
            learning_rate=learning_rate,
            pseudo_counts=pseudo_counts,
            negative=negative,
            unknown=unknown,
            n_bins=n_bins,
            columns=columns,
            n_jobs=n_jobs,
            progress=progress,
            random_state=random_state,
        )

    @property
    def n_states_(self) -> int:
        """Number of classes."""
        return self.node_states_.get(self._class_node, 1)

    def predict(self, X: Any, target: Target | None = None) -> Any:
        """The most likely class of each row; with a target as for `LatentTree.predict`."""
        if target is not None:
            return super().predict(X, target)
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(
        self,
        X: Any,
        target: Target | None = None,
        *,
        joint: bool = False,
        soft: Soft | None = None,
        return_repairs: bool = False,
    ) -> Any:
        """P(class | row): (row, class) array; with a target as for `LatentTree.predict_proba`."""
        if target is not None:
            return super().predict_proba(
                X, target, joint=joint, soft=soft, return_repairs=return_repairs
            )
        evidence = self._evidence(X, soft)
        with self._threads():
            posterior, repairs = posterior_by_name(self.parameters_, evidence)
        classes = posterior.get(self._class_node, np.ones((evidence.n_rows, 1)))
        return (classes, repairs.as_dict()) if return_repairs else classes

    @property
    def _class_node(self) -> str:
        """The name of the hidden node; fewer than three columns have none."""
        self._check_fitted()
        return next(iter(self.topology_.hidden), "")

    @classmethod
    def _for_network(cls, network: BifTree) -> Self:
        hidden = network.topology.hidden
        if len(hidden) != 1 or not all(hidden[0] in edge for edge in network.topology.edges):
            raise TopologyError(
                f"the network has {len(hidden)} hidden variables and is no star of one above all others; "
                f"LatentTree.from_bif reads it"
            )
        return cls(network.node_states[hidden[0]])
