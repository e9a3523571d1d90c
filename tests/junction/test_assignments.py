"""The most probable assignment in a junction tree, by going through all states of all variables."""

import numpy as np
import pandas as pd
import pytest

from tacit import FactorialHMM, HigherOrderHMM, LatentJunctionTree
from tacit.junction.model.shared_tables import tied
from tacit.junction.structure.graphs import VariableGraph
from tacit.toy.junctions import random_factorial_model, random_hmm_model, random_loopy_model


def with_true_tables(estimator, truth):
    """An estimator that holds the tables of a known model."""
    codes = truth.sample(300, random_state=1)
    model = estimator.fit(pd.DataFrame(codes, columns=list(truth.names)))
    states = {**truth.n_states, **dict(zip(truth.names, truth.cards, strict=True))}
    _, ties = tied(VariableGraph.of(truth.graph), truth.names, states, {})
    values = np.empty(ties.size)
    for block in ties.blocks:
        children, parents = block.families[0]
        axes = [*truth.parents[children[0]], children[0]]
        table = truth.tables[children[0]].transpose([axes.index(n) for n in (*parents, *children)])
        values[block.span] = table.ravel()
    tables = ties.tables(values)
    model.parameters_, model.tree_, model.junction_ = tables, tables.tree, ties.junction
    return model


TRUTHS = {
    "second order": (
        lambda: random_hmm_model(5, order=2, n_categories=3, diagonal=1.0, random_state=0),
        lambda _: HigherOrderHMM(2, 2),
    ),
    "factorial": (
        lambda: random_factorial_model(3, n_chains=2, random_state=0),
        lambda _: FactorialHMM(2, 2),
    ),
    "loopy": (
        lambda: random_loopy_model(n_categories=2, random_state=0),
        lambda truth: LatentJunctionTree(truth.graph, truth.n_states),
    ),
}


@pytest.mark.parametrize("name", TRUTHS)
def test_no_other_assignment_is_more_probable(name):
    make, estimator = TRUTHS[name]
    truth = make()
    model = with_true_tables(estimator(truth), truth)
    hidden = list(model.junction_.hidden_variables)
    joint = truth.marginal([*truth.names, *hidden])
    rng = np.random.default_rng(0)
    codes = truth.sample(12, random_state=2).astype(np.int64)
    codes[rng.random(codes.shape) < 0.4] = -1
    codes[0] = -1
    rows = pd.DataFrame(codes, columns=list(truth.names)).astype(object).where(codes >= 0, None)
    actual = model.most_probable_assignment(rows)
    assert list(actual.hidden) == hidden == list(model.posterior(rows))
    completed = actual.rows[list(truth.names)].to_numpy().astype(int)
    assert np.array_equal(completed[codes >= 0], codes[codes >= 0])
    for row in range(len(codes)):
        at = (*completed[row], *(actual.hidden[variable][row] for variable in hidden))
        possible = joint[tuple(slice(None) if code < 0 else code for code in codes[row])]
        assert joint[at] == pytest.approx(possible.max(), rel=1e-12)
        assert actual.log_prob[row] == pytest.approx(np.log(possible.max()))
