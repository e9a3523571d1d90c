"""Feature functions of inside and outside trees that users give to grammars."""

import numpy as np
import pytest

import tacit
from oracles.grammars import coded, every_tree, random_grammar, tree_probability
from tacit.errors import ArgumentError, ArgumentTypeError
from tacit.parsing.data.outside_trees import inside_trees, outside_trees
from tacit.parsing.data.parse_trees import read_trees
from tacit.parsing.data.treebank import BRACKET, TAG, GrammarSymbols, Label, coded_treebank
from tacit.parsing.learn.spectral_grammar import Smoothing, node_vectors, spectral_grammar
from tacit.parsing.moments.given_features import given_features
from tacit.parsing.moments.inside_outside import NodeFeatures, inside_codes, outside_codes
from tacit.parsing.query.grammar import tree_scores
from tacit.parsing.structure.rules import Rules

LINE = "(S (NP (D a) (N b)) (VP (V c) (ADV d) (ADV e)))"


def inside(tree):
    """The tree itself, down to its words."""
    return [str(tree)]


def outside(tree):
    """Labels, sides and siblings on the way up."""
    way = []
    while tree.above is not None:
        way.append((tree.parent, tree.side, str(tree.sibling)))
        tree = tree.above
    return [tuple(way)]


def test_inside_and_outside_trees_by_hand():
    trees, symbols = coded_treebank(read_trees([LINE]), min_count=1)
    below = inside_trees(trees, symbols)
    around = outside_trees(trees, below)
    by_text = {str(tree): node for node, tree in enumerate(below)}
    assert str(below[-1]) == "(S (NP (D a) (N b)) (VP (V c) (@VP (ADV d) (ADV e))))"
    assert (around[-1].label, around[-1].parent, around[-1].above) == ("S", None, None)
    rest = around[by_text["(@VP (ADV d) (ADV e))"]]
    assert (rest.label, rest.parent, rest.side) == ("@VP", "VP", "right")
    assert str(rest.sibling) == "(V c)"
    assert (rest.above.label, rest.above.side) == ("VP", "right")
    assert str(rest.above.sibling) == "(NP (D a) (N b))"
    assert rest.above.above == around[-1]
    first = around[by_text["(D a)"]]
    assert (first.side, first.above.side, str(first.sibling)) == ("left", "left", "(N b)")


@pytest.mark.parametrize("seed", range(3))
def test_exact_moments_of_given_features_give_the_exact_probability_of_every_tree(seed):
    tables = random_grammar(n_states=2, n_layers=2, n_words=3, random_state=seed)
    trees = every_tree(tables)
    truth = np.array([tree_probability(tables, tree) for tree in trees])
    treebank = coded(trees, truth)
    labels = [
        Label((f"l{code}",), TAG if tag >= 0 else BRACKET)
        for code, tag in enumerate(tables.lexicon.tag_of_label.tolist())
    ]
    symbols = GrammarSymbols(tuple(labels), ("x", "y", "z"))
    features = given_features(treebank, symbols, (inside, outside))
    vectors = node_vectors(features, treebank, 2)
    grammar = spectral_grammar(
        vectors, treebank, tables.rules, tables.lexicon, smoothing=Smoothing(0.0, 0.0)
    )
    signs, logs = tree_scores(grammar, treebank)
    assert signs * np.exp(logs) == pytest.approx(truth, abs=1e-8)


def own_features(trees):
    """Tacit's own features as functions: looked up by the text of the tree and where it stands."""
    treebank, symbols = coded_treebank(trees, min_count=1)
    rules = Rules.of(treebank, len(symbols.labels))
    below = inside_trees(treebank, symbols)
    around = outside_trees(treebank, below)
    leaf = treebank.left < 0
    codes = [np.where(leaf, -1, code) for code in inside_codes(treebank, rules)]
    codes.append(np.where(leaf, treebank.word, -1))
    tables = {}
    for which, (objects, columns) in enumerate(
        ((below, codes), (around, outside_codes(treebank, rules)))
    ):
        for node, tree in enumerate(objects):
            named = {(kind, int(column[node])): 1.0 for kind, column in enumerate(columns)}
            tables[which, repr(tree)] = {key: 1.0 for key in named if key[1] >= 0}
    return [lambda tree, which=which: tables[which, repr(tree)] for which in (0, 1)]


@pytest.mark.parametrize("learn", ["spectral", "auto"])
def test_own_features_given_as_functions_give_the_same_grammar(learn):
    trees = tacit.toy.sample_trees(60, random_state=0)
    arguments = {"n_states": 2, "learn": learn, "min_count": 1, "negative": "nan"}
    own = tacit.LatentPCFG(**arguments).fit(trees)
    given = tacit.LatentPCFG(features=own_features(trees), **arguments).fit(trees)
    assert own.diagnostics_["n_features"] == given.diagnostics_["n_features"]
    assert given.score_samples(trees) == pytest.approx(
        # Tensors are kept in single precision: a last digit of a float32 may differ.
        own.score_samples(trees),
        rel=1e-5,
    )


def test_own_features_are_the_same_numbers():
    trees = tacit.toy.sample_trees(40, random_state=1)
    treebank, symbols = coded_treebank(trees, min_count=1)
    rules = Rules.of(treebank, len(symbols.labels))
    own = NodeFeatures.of(treebank, rules)
    given = given_features(treebank, symbols, own_features(trees))
    for label in range(len(symbols.labels)):
        for one, other in zip(own.of_label(label), given.of_label(label), strict=True):
            products = (one @ one.T).toarray()
            assert (other @ other.T).toarray() == pytest.approx(products, abs=1e-10)


def test_numbers_lists_and_arrays_are_features():
    trees, symbols = coded_treebank(read_trees([LINE, LINE]), min_count=1)
    forms = (
        lambda _: {"label": 2.0, "nothing": 0.0},
        lambda _: np.array([2.0, 0.0]),
        lambda _: {("label",): np.float64(2.0)},
    )
    expected = None
    for form in forms:
        features = given_features(trees, symbols, (form, lambda tree: [tree.label]))
        inside_rows = features.inside.toarray()
        assert (inside_rows != 0).sum(axis=1).tolist() == [1] * len(trees.label)
        expected = inside_rows if expected is None else expected
        assert inside_rows == pytest.approx(expected, abs=0)
    # Sums of squares are what scales: the root of the label's count over that of the feature, plus 20.
    count = features.counts[0]
    assert inside_rows[0].max() == pytest.approx(2 * np.sqrt(count / (4 * count + 20)))


def test_a_grammar_with_functions_is_saved_without_them(tmp_path):
    trees = tacit.toy.sample_trees(60, random_state=0)
    model = tacit.LatentPCFG(2, "spectral", features=(inside, outside), negative="nan").fit(trees)
    model.save(tmp_path / "g.tacit")
    loaded = tacit.load(tmp_path / "g.tacit")
    assert loaded.features is None
    assert loaded.score_samples(trees) == pytest.approx(model.score_samples(trees), nan_ok=True)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"features": inside}, ArgumentTypeError, "give a pair of functions"),
        ({"features": (inside, 3)}, ArgumentTypeError, "give a pair of functions"),
        ({"features": (inside, outside), "learn": "em"}, ArgumentError, 'learn="em", which uses'),
        ({"features": (str, outside)}, ArgumentTypeError, "str.. gave '.*'; return a list"),
        ({"features": (inside, lambda _: 3)}, ArgumentTypeError, "gave 3; return a list"),
        ({"features": (inside, lambda _: [[]])}, ArgumentTypeError, "is not hashable"),
        ({"features": (inside, lambda _: {"a": "b"})}, ArgumentTypeError, "finite number"),
        ({"features": (inside, lambda _: {"a": np.nan})}, ArgumentTypeError, "finite number"),
        (
            {"features": (lambda tree: [tree.word] if tree.word else [], outside)},
            ArgumentError,
            "gave no feature to any node of the label 'NP'",
        ),
    ],
)
def test_what_are_no_features_is_refused_in_one_line(arguments, error, message):
    with pytest.raises(error, match=message) as caught:
        tacit.LatentPCFG(2, min_count=1, **arguments).fit([LINE, LINE])
    assert "\n" not in str(caught.value)
