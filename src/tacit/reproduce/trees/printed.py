"""The algorithms as the papers print them.

Tacit's estimators go beyond the papers: they divide by the roots of the marginals, weigh views by what they
show and cut directions that are lost in noise. A seed's claim is about what the seed describes, so that its
experiment runs these stages without any of that. Which leaves stand for a subtree the papers leave open;
Tacit chooses them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.core.input.table import Table
    from tacit.junction.model.shared_tables import Ties
    from tacit.messages.network import Network
    from tacit.trees.moments.source import CountedMoments
    from tacit.trees.structure.topology import Topology


def learn_as_printed(
    learn: str, n_states: int, topology: Topology, rows: Any, **options: Any
) -> Network:
    """What `LatentTree(preset="printed")` learns."""
    from tacit.trees.latent_tree import LatentTree

    return LatentTree(n_states, topology, learn, preset="printed", **options).fit(rows).network_


def junction_as_printed(
    learn: str, n_states: int, graph: Any, rows: Any, seed: int = 0, **options: Any
) -> tuple[Network, int]:
    """What an algorithm of thesis chapter 5 learns of a graph with loops, and in how many steps.

    "spectral" has all joint states of every separator and tables as they are; "online-em" is stepwise EM once
    for each learning rate in `rates`, of which the one with the highest likelihood is kept. The seed decides
    the starts and the order of the rows.
    """
    from tacit.core.input.read_table import read_table
    from tacit.junction.learn.spectral import junction_spectral
    from tacit.junction.model.shared_tables import tied
    from tacit.junction.structure.graphs import VariableGraph
    from tacit.trees.moments.source import CountedMoments

    table = read_table(rows)
    names, cards = table.schema.names, table.schema.cards
    variables = VariableGraph.of(graph)
    states = {
        **dict.fromkeys(variables.variables, n_states),
        **dict(zip(names, cards, strict=True)),
    }
    junction, ties = tied(variables, names, states, {})
    moments = CountedMoments.of(table.codes, cards)
    if learn == "spectral":
        return junction_spectral(junction, moments, whiten=False, cut=0.0, **options).network, 0
    assert learn == "online-em", learn
    return _best_of_rates(table, ties, moments, seed, **options)


def _best_of_rates(
    table: Table, ties: Ties, moments: CountedMoments, seed: int, rates: Sequence[float]
) -> tuple[Network, int]:
    from dataclasses import replace

    from tacit.core.progress import silent
    from tacit.junction.learn.learners import JunctionJob, learn_online_em
    from tacit.messages.online_em import Schedule
    from tacit.trees.learn.learners import Settings

    # A little more than no pseudo-counts: an entry that the first rows leave at zero would stay there.
    settings = Settings(pseudo_counts=0.1)
    job = JunctionJob(table, ties.junction, ties, moments, moments, settings, silent)
    fits = [
        learn_online_em(
            replace(job, settings=replace(settings, seed=len(rates) * seed + number)),
            Schedule(decay=rate),
        )
        for number, rate in enumerate(rates)
    ]
    best = max(fits, key=lambda fit: float(fit.diagnostics["objective"]))
    return best.network, sum(int(fit.diagnostics["n_steps"]) for fit in fits)
