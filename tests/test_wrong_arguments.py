"""Wrong arguments of public functions, one at a time: an answer, or one line that says what to give."""

import inspect

import numpy as np
import pytest

import tacit
from tacit import evaluate, toy
from tacit.errors import LONGEST_MESSAGE, TacitError
from tacit.topics.model.topics import Topics

HUGE = 10**5000  # Python refuses to write its digits
WRONG = {
    "None": None,
    "huge": HUGE,
    "10**9": 10**9,
    "negative": -1,
    "fraction": 1.5,
    "nan": float("nan"),
    "text": "x",
    "bytes": b"x",
    "list of huge": [HUGE],
    "ragged": [[1, 2], [3]],
    "mapping": {"a": None},
    "object": object(),
    "zeros": np.zeros(2),
    "objects": np.array(["a", None], object),
    "complex": 1j,
    "type": int,
}
TREE, OTHER = (toy.random_tree_model(4, random_state=seed) for seed in range(2))
GRAPH = toy.random_hmm_model(4, random_state=0)
CHAIN, STRINGS = toy.random_hmm(2, 3, random_state=0), toy.random_automaton(2, 3, random_state=0)
TREES = toy.sample_trees(8, 0)
PARSER, GRAMMAR = tacit.SpanParser().fit(TREES), tacit.LatentPCFG(1, learn="em").fit(TREES)
DOCUMENTS = tacit.read_documents([["a", "b", "c", "a"], ["b", "c", "d"], ["a", "d"]] * 3)
TOPICS = Topics(np.full((2, 4), 0.25), np.full(2, 0.5))
ROWS = {f"x{i}": np.arange(40) * (i + 3) % 5 for i in range(4)}

TOY = [
    (toy.all_strings, {"n_symbols": 2, "length": 2}),
    (toy.balanced, {"n_children": 2, "n_levels": 3}),
    (toy.broad, {"n_groups": 2}),
    (toy.caterpillar, {"n_leaves": 4}),
    (toy.deep, {"n_hidden": 2}),
    (toy.named_topology, {"name": "bin4"}),
    (toy.random_topology, {"n_leaves": 5}),
    (toy.exact_marginal, {"tables": TREE.tables, "leaves": [0, 1]}),
    (toy.joint_table, {"tables": TREE.tables}),
    (toy.random_tables, {"tree": TREE.tables.tree, "cards": 2, "n_states": 2}),
    (toy.random_tree_model, {"n_leaves": 4}),
    (toy.sample_codes, {"tables": TREE.tables, "n_samples": 3}),
    (TREE.sample, {"n_samples": 3}),
    (TREE.log_prob, {"codes": np.zeros((2, 4), dtype=int)}),
    (toy.random_graph_model, {"parents": {"h": (), "a": ("h",)}, "observed": ["a"]}),
    (toy.random_hmm_model, {"length": 4}),
    (toy.random_factorial_model, {"length": 3}),
    (toy.random_loopy_model, {"n_categories": 4}),
    (GRAPH.marginal, {"names": ["x0", "h1"]}),
    (GRAPH.sample, {"n_samples": 3}),
    (GRAPH.log_prob, {"codes": np.zeros((2, 4), dtype=int)}),
    (toy.random_hmm, {"n_states": 2, "n_symbols": 3}),
    (CHAIN.sample, {"n_samples": 3}),
    (CHAIN.log_prob, {"sequences": CHAIN.sample(2, random_state=0)}),
    (CHAIN.window_table, {"width": 2, "length": 4}),
    (toy.repeating_process, {}),
    (toy.random_automaton, {"n_states": 2, "n_symbols": 3}),
    (STRINGS.sample, {"n_samples": 3}),
    (STRINGS.statistics, {}),
    (STRINGS.statistics().table, {"length": 2}),
    (STRINGS.log_prob, {"sequences": STRINGS.sample(2, random_state=0)}),
    (toy.sample_trees, {"n_samples": 2}),
    (toy.sample_sentences, {"n_samples": 2}),
]
MEASURES = [
    (evaluate.align_states, {"tables": TREE.tables, "reference": TREE.tables}),
    (evaluate.state_orders, {"tables": TREE.tables, "reference": TREE.tables}),
    (evaluate.edge_correlations, {"tables": TREE.tables}),
    (evaluate.coherence, {"tops": [[0, 1], [1, 2]], "counts": DOCUMENTS.counts}),
    (evaluate.completion_perplexity, {"topics": TOPICS, "counts": DOCUMENTS.counts}),
    (evaluate.topic_agreement, {"first": np.eye(2), "second": np.eye(2)}),
    (evaluate.kl, {"log_prob_true": [-1.0, -2.0], "log_prob": [-1.0, -2.0]}),
    (evaluate.l1_error, {"log_prob_true": [-1.0, -2.0], "log_prob": [-1.0, -2.0]}),
    (evaluate.labelled_score, {"gold": TREES, "predicted": TREES}),
    (evaluate.score_brackets, {"guesses": [[(0, 2)]], "golds": [(3, [(0, 2)])]}),
    (evaluate.parser_scores, {"model": PARSER, "trees": TREES}),
    (evaluate.grammar_scores, {"model": GRAMMAR, "trees": TREES}),
    (evaluate.splits, {"topology": TREE.topology}),
    (evaluate.hop_error, {"one": TREE.topology, "other": TREE.topology}),
    (evaluate.robinson_foulds, {"one": TREE.topology, "other": TREE.topology}),
    (evaluate.sample_size_bounds, {"model": TREE}),
    (
        evaluate.grammar_sample_size_bound,
        {"n_states": 2, "n_rules": 3, "tree_size": 5, "coefficient": 0.1, "singular_value": 0.1},
    ),
]
OTHERS = [
    (tacit.keep_words, {"documents": DOCUMENTS}),
    (tacit.read_documents, {"X": DOCUMENTS.counts}),
    (tacit.read_trees, {"source": ["(S (A a) (B b))"]}),
    (tacit.learn_structure, {"data": ROWS}),
    (tacit.learn_structure, {"data": ROWS, "metric": "kernel"}),
    (
        tacit.hierarchical_decomposition,
        {"tensor": np.ones((2, 2, 2, 2)), "tree": "((0,1),(2,3));", "rank": 1},
    ),
]


def is_fine_or_refused(function, arguments):
    try:
        function(**arguments)
    except TacitError as error:
        message = str(error)
        assert "\n" not in message
        assert 0 < len(message) <= LONGEST_MESSAGE


def name_of(value):
    return value.__qualname__ if callable(value) else ""


@pytest.mark.filterwarnings("ignore::tacit.errors.TacitWarning")
@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize(("function", "good"), [*TOY, *MEASURES, *OTHERS], ids=name_of)
def test_wrong_arguments_are_answered_or_refused_in_one_line(function, good, kind):
    for name in inspect.signature(function).parameters:
        if not (kind == "type" and name in {"form", "progress"}):  # a user's function may fail
            is_fine_or_refused(function, {**good, name: WRONG[kind]})


@pytest.mark.parametrize(("function", "good"), [*TOY, *MEASURES, *OTHERS], ids=name_of)
def test_right_arguments_are_answered(function, good):
    function(**good)


@pytest.mark.parametrize("function", [name for name in toy.__all__ if name.islower()])
def test_every_function_of_toy_models_is_among_them(function):
    assert getattr(toy, function) in [known for known, _ in TOY]


@pytest.mark.parametrize("function", [name for name in evaluate.__all__ if name.islower()])
def test_every_measure_is_among_them(function):
    assert getattr(evaluate, function) in [known for known, _ in MEASURES]


@pytest.mark.parametrize(
    "ask",
    [
        lambda: toy.balanced(2, 40),
        lambda: toy.caterpillar(10**6),
        lambda: toy.named_topology("star999999"),
        lambda: toy.all_strings(1, 10**6),
        lambda: toy.random_hmm(10**5, 2),
        lambda: toy.random_tree_model(9, n_states=10**5),
        lambda: toy.random_hmm_model(100, order=40, n_states=1),
        lambda: toy.random_factorial_model(2, n_chains=24),
        lambda: toy.random_automaton(2, 2, mean_length=1e12),
        lambda: TREE.sample(10**9),
        lambda: CHAIN.sample(10, 10**9),
        lambda: STRINGS.sample(10**9),
        lambda: toy.sample_sentences(10**9),
    ],
    ids=range(13),
)
def test_models_and_samples_that_are_too_large_are_refused(ask):
    with pytest.raises(tacit.errors.TooExpensiveError, match="give"):
        ask()
