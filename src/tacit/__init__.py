"""Latent-variable models learnt by linear algebra.

Everything a user types hangs here and is imported at first use: ``import tacit`` itself loads
neither numpy nor scikit-learn nor numba.
"""

from typing import TYPE_CHECKING

__version__ = "0.2.0"

__all__ = [  # noqa: RUF022  by letter, whatever the case
    "BackoffLM",
    "ChowLiuTree",
    "ClassLM",
    "ConstituentContextModel",
    "FactorialHMM",
    "GaussianMixtureMoments",
    "GaussianTree",
    "HMM",
    "HigherOrderHMM",
    "KernelHMM",
    "KernelTree",
    "KneserNeyLM",
    "LatentClass",
    "LatentJunctionTree",
    "LatentPCFG",
    "LatentTree",
    "LikelihoodClassifier",
    "MixedLM",
    "ParseTree",
    "PowerLowRankLM",
    "ProbabilisticAutomaton",
    "SpanParser",
    "TableImputer",
    "TacitError",
    "TopicModel",
    "Topology",
    "WeightedAutomaton",
    "datasets",
    "evaluate",
    "fit_table",
    "hierarchical_decomposition",
    "keep_words",
    "learn_structure",
    "load",
    "plot",
    "read_documents",
    "read_trees",
    "toy",
]

# Where each public name lives; a module stands for itself.
_HOMES = {
    "BackoffLM": "tacit.language.kneser_ney_lm",
    "ChowLiuTree": "tacit.trees.chow_liu_tree",
    "ClassLM": "tacit.language.class_lm",
    "ConstituentContextModel": "tacit.parsing.constituent_context",
    "FactorialHMM": "tacit.junction.structured_hmms",
    "GaussianMixtureMoments": "tacit.numbers.gaussian_mixture",
    "GaussianTree": "tacit.numbers.gaussian_tree",
    "HMM": "tacit.sequences.hmm",
    "HigherOrderHMM": "tacit.junction.structured_hmms",
    "KernelHMM": "tacit.sequences.kernel_hmm",
    "KernelTree": "tacit.numbers.kernel_tree",
    "KneserNeyLM": "tacit.language.kneser_ney_lm",
    "LatentClass": "tacit.trees.latent_class",
    "LatentJunctionTree": "tacit.junction.latent_junction_tree",
    "LatentPCFG": "tacit.parsing.latent_pcfg",
    "LatentTree": "tacit.trees.latent_tree",
    "LikelihoodClassifier": "tacit.core.classify.likelihood_classifier",
    "MixedLM": "tacit.language.mixed_lm",
    "ParseTree": "tacit.parsing.data.parse_trees",
    "PowerLowRankLM": "tacit.language.power_low_rank_lm",
    "ProbabilisticAutomaton": "tacit.sequences.probabilistic_automaton",
    "SpanParser": "tacit.parsing.span_parser",
    "TableImputer": "tacit.numbers.table_imputer",
    "TacitError": "tacit.errors",
    "TopicModel": "tacit.topics.topic_model",
    "Topology": "tacit.trees.structure.topology",
    "WeightedAutomaton": "tacit.sequences.weighted_automaton",
    "datasets": "tacit.datasets",
    "evaluate": "tacit.evaluate",
    "fit_table": "tacit.numbers.fit_table",
    "hierarchical_decomposition": "tacit.trees.learn.spectral.tensors",
    "keep_words": "tacit.topics.data.keep_words",
    "learn_structure": "tacit.trees.learn.selection.structures",
    "load": "tacit.core.files.load",
    "plot": "tacit.plot",
    "read_documents": "tacit.topics.data.read_documents",
    "read_trees": "tacit.parsing.data.parse_trees",
    "toy": "tacit.toy",
}

if TYPE_CHECKING:
    from tacit import datasets, evaluate, plot, toy
    from tacit.core.classify.likelihood_classifier import LikelihoodClassifier
    from tacit.core.files.load import load
    from tacit.errors import TacitError
    from tacit.junction.latent_junction_tree import LatentJunctionTree
    from tacit.junction.structured_hmms import FactorialHMM, HigherOrderHMM
    from tacit.language.class_lm import ClassLM
    from tacit.language.kneser_ney_lm import BackoffLM, KneserNeyLM
    from tacit.language.mixed_lm import MixedLM
    from tacit.language.power_low_rank_lm import PowerLowRankLM
    from tacit.numbers.fit_table import fit_table
    from tacit.numbers.gaussian_mixture import GaussianMixtureMoments
    from tacit.numbers.gaussian_tree import GaussianTree
    from tacit.numbers.kernel_tree import KernelTree
    from tacit.numbers.table_imputer import TableImputer
    from tacit.parsing.constituent_context import ConstituentContextModel
    from tacit.parsing.data.parse_trees import ParseTree, read_trees
    from tacit.parsing.latent_pcfg import LatentPCFG
    from tacit.parsing.span_parser import SpanParser
    from tacit.sequences.hmm import HMM
    from tacit.sequences.kernel_hmm import KernelHMM
    from tacit.sequences.probabilistic_automaton import ProbabilisticAutomaton
    from tacit.sequences.weighted_automaton import WeightedAutomaton
    from tacit.topics.data.keep_words import keep_words
    from tacit.topics.data.read_documents import read_documents
    from tacit.topics.topic_model import TopicModel
    from tacit.trees.chow_liu_tree import ChowLiuTree
    from tacit.trees.latent_class import LatentClass
    from tacit.trees.latent_tree import LatentTree
    from tacit.trees.learn.selection.structures import learn_structure
    from tacit.trees.learn.spectral.tensors import hierarchical_decomposition
    from tacit.trees.structure.topology import Topology
else:
    # Hidden from type checkers, which would otherwise believe that any name exists.

    def __getattr__(name: str) -> object:
        """Import a public name when it is first asked for (PEP 562)."""
        import importlib

        if name not in _HOMES:
            raise AttributeError(f"module 'tacit' has no attribute {name!r}; it has {__all__}")
        home = _HOMES[name]
        module = importlib.import_module(home)
        value = module if home == f"tacit.{name}" else getattr(module, name)
        globals()[name] = value  # found without this function from now on
        return value


def __dir__() -> list[str]:
    """The public names, whether already imported or not."""
    return sorted({*globals(), *__all__})
