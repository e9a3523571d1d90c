"""Latent-variable models learnt by linear algebra.

Everything a user types hangs here and is imported at first use: ``import tacit`` itself loads
neither numpy nor scikit-learn nor numba.
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

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
    "MixedLM",
    "ParseTree",
    "PowerLowRankLM",
    "ProbabilisticAutomaton",
    "SpanParser",
    "TacitError",
    "TopicModel",
    "Topology",
    "WeightedAutomaton",
    "datasets",
    "evaluate",
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
    "BackoffLM": "tacit.estimators.kneser_ney_lm",
    "ChowLiuTree": "tacit.estimators.chow_liu",
    "ClassLM": "tacit.estimators.class_lm",
    "ConstituentContextModel": "tacit.estimators.constituent_context",
    "FactorialHMM": "tacit.estimators.chains",
    "GaussianMixtureMoments": "tacit.estimators.gaussian_mixture",
    "GaussianTree": "tacit.estimators.gaussian_tree",
    "HMM": "tacit.estimators.hmm",
    "HigherOrderHMM": "tacit.estimators.chains",
    "KernelHMM": "tacit.estimators.kernel_hmm",
    "KernelTree": "tacit.estimators.kernel_tree",
    "KneserNeyLM": "tacit.estimators.kneser_ney_lm",
    "LatentClass": "tacit.estimators.latent_tree",
    "LatentJunctionTree": "tacit.estimators.junction",
    "LatentPCFG": "tacit.estimators.latent_pcfg",
    "LatentTree": "tacit.estimators.latent_tree",
    "MixedLM": "tacit.estimators.mixed_lm",
    "ParseTree": "tacit.data.parse_trees",
    "PowerLowRankLM": "tacit.estimators.power_low_rank_lm",
    "ProbabilisticAutomaton": "tacit.estimators.probabilistic_automaton",
    "SpanParser": "tacit.estimators.span_parser",
    "TacitError": "tacit.errors",
    "TopicModel": "tacit.estimators.topic_model",
    "Topology": "tacit.structure.topology",
    "WeightedAutomaton": "tacit.estimators.automata",
    "datasets": "tacit.datasets",
    "evaluate": "tacit.evaluate",
    "keep_words": "tacit.data.document_words",
    "learn_structure": "tacit.estimators.structures",
    "load": "tacit.estimators.saved",
    "plot": "tacit.plot",
    "read_documents": "tacit.data.document_reading",
    "read_trees": "tacit.data.parse_trees",
    "toy": "tacit.toy",
}

if TYPE_CHECKING:
    from tacit import datasets, evaluate, plot, toy
    from tacit.data.document_reading import read_documents
    from tacit.data.document_words import keep_words
    from tacit.data.parse_trees import ParseTree, read_trees
    from tacit.errors import TacitError
    from tacit.estimators.automata import WeightedAutomaton
    from tacit.estimators.chains import FactorialHMM, HigherOrderHMM
    from tacit.estimators.chow_liu import ChowLiuTree
    from tacit.estimators.class_lm import ClassLM
    from tacit.estimators.constituent_context import ConstituentContextModel
    from tacit.estimators.gaussian_mixture import GaussianMixtureMoments
    from tacit.estimators.gaussian_tree import GaussianTree
    from tacit.estimators.hmm import HMM
    from tacit.estimators.junction import LatentJunctionTree
    from tacit.estimators.kernel_hmm import KernelHMM
    from tacit.estimators.kernel_tree import KernelTree
    from tacit.estimators.kneser_ney_lm import BackoffLM, KneserNeyLM
    from tacit.estimators.latent_pcfg import LatentPCFG
    from tacit.estimators.latent_tree import LatentClass, LatentTree
    from tacit.estimators.mixed_lm import MixedLM
    from tacit.estimators.power_low_rank_lm import PowerLowRankLM
    from tacit.estimators.probabilistic_automaton import ProbabilisticAutomaton
    from tacit.estimators.saved import load
    from tacit.estimators.span_parser import SpanParser
    from tacit.estimators.structures import learn_structure
    from tacit.estimators.topic_model import TopicModel
    from tacit.structure.topology import Topology
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
