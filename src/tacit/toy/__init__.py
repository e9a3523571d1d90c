"""Known truths: random models and their exact tables."""

from tacit.toy.automata import AutomatonModel, ExactStrings, all_strings, random_automaton
from tacit.toy.chains import ExactNgrams, HmmModel, random_hmm, repeating_process
from tacit.toy.exact import ExactMoments, exact_marginal, joint_table
from tacit.toy.graphs import ExactGraphMoments, GraphModel
from tacit.toy.junctions import (
    random_factorial_model,
    random_graph_model,
    random_hmm_model,
    random_loopy_model,
)
from tacit.toy.models import TreeModel, random_tables, random_tree_model, sample_codes
from tacit.toy.sentences import sample_sentences, sample_trees
from tacit.toy.trees import balanced, broad, caterpillar, deep, named_topology, random_topology

__all__ = [
    "AutomatonModel",
    "ExactGraphMoments",
    "ExactMoments",
    "ExactNgrams",
    "ExactStrings",
    "GraphModel",
    "HmmModel",
    "TreeModel",
    "all_strings",
    "balanced",
    "broad",
    "caterpillar",
    "deep",
    "exact_marginal",
    "joint_table",
    "named_topology",
    "random_automaton",
    "random_factorial_model",
    "random_graph_model",
    "random_hmm",
    "random_hmm_model",
    "random_loopy_model",
    "random_tables",
    "random_topology",
    "random_tree_model",
    "repeating_process",
    "sample_codes",
    "sample_sentences",
    "sample_trees",
]
