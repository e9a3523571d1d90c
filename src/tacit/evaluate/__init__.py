"""How good is it: held-out scores and distances between models."""

from tacit.evaluate.brackets import score_brackets
from tacit.evaluate.held_out import kl, l1_error
from tacit.evaluate.labelled_brackets import labelled_score
from tacit.evaluate.strength import edge_correlations
from tacit.evaluate.topics import coherence, completion_perplexity, topic_agreement
from tacit.evaluate.trees import align_states, hop_error, robinson_foulds, splits, state_orders

__all__ = [
    "align_states",
    "coherence",
    "completion_perplexity",
    "edge_correlations",
    "hop_error",
    "kl",
    "l1_error",
    "labelled_score",
    "robinson_foulds",
    "score_brackets",
    "splits",
    "state_orders",
    "topic_agreement",
]
