"""Measures of models: held-out scores, distances between models, F1 of brackets, quality of topics."""

from tacit.evaluate.held_out import kl, l1_error
from tacit.evaluate.parsing import grammar_scores, parser_scores
from tacit.evaluate.sample_sizes import (
    SampleSizeBound,
    grammar_sample_size_bound,
    sample_size_bounds,
)
from tacit.evaluate.strength import edge_correlations
from tacit.evaluate.trees import align_states, hop_error, robinson_foulds, splits, state_orders
from tacit.parsing.query.brackets import score_brackets
from tacit.parsing.query.labelled_brackets import labelled_score
from tacit.topics.query.quality import coherence, completion_perplexity, topic_agreement

__all__ = [
    "SampleSizeBound",
    "align_states",
    "coherence",
    "completion_perplexity",
    "edge_correlations",
    "grammar_sample_size_bound",
    "grammar_scores",
    "hop_error",
    "kl",
    "l1_error",
    "labelled_score",
    "parser_scores",
    "robinson_foulds",
    "sample_size_bounds",
    "score_brackets",
    "splits",
    "state_orders",
    "topic_agreement",
]
