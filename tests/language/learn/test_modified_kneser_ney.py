"""Modified Kneser-Ney, the default of `KneserNeyLM`: by hand, and from its formulas by dictionaries."""

from fractions import Fraction

import numpy as np
import pytest

from oracles.kneser_ney import BEGIN, ModifiedKneserNey
from tacit import KneserNeyLM

# Bigrams once: b b, c b, d b, <s> d; twice: <s> c, c c, b </s>; three times: <s> b, b c; four: c </s>.
# So Y = 4 / (4 + 2 * 3) = 2/5, and D1 = 1 - 2 Y 3/4, D2 = 2 - 3 Y 2/3, D3+ = 3 - 4 Y 1/2.
# Words after how many others: d one, </s> two, c three, b four. So Y = 1 / (1 + 2 * 1) = 1/3.
TEXT = ["c", "b b", "c c b c", "b c", "d b", "b c c"]
DISCOUNTS = [
    (Fraction(1, 3), Fraction(1), Fraction(5, 3)),
    (Fraction(2, 5), Fraction(6, 5), Fraction(11, 5)),
]
# Of ten, words lose 1/3 + 1 + 5/3 + 5/3: 7/15 of all goes to b, c, d, </s> and <unk> alike, 7/75 to each.
WORDS = {
    "b": Fraction(7, 30) + Fraction(7, 75),  # (4 - 5/3) / 10, and its share
    "c": Fraction(4, 30) + Fraction(7, 75),
    "d": Fraction(2, 30) + Fraction(7, 75),
    "</s>": Fraction(1, 10) + Fraction(7, 75),
    "<unk>": Fraction(7, 75),
    "<s>": Fraction(0),
}
# After b, of six: b once, </s> twice, c three times; they lose 2/5 + 6/5 + 11/5, which is 19/30 of all.
AFTER_B = {
    word: Fraction(own, 30) + Fraction(19, 30) * WORDS[word]
    for word, own in {"b": 3, "</s>": 4, "c": 4, "d": 0, "<unk>": 0, "<s>": 0}.items()
}
# After c, of seven: b once, c twice, </s> four times; they lose 2/5 + 6/5 + 11/5, which is 19/35 of all.
AFTER_C = {
    word: Fraction(own, 35) + Fraction(19, 35) * WORDS[word]
    for word, own in {"b": 3, "c": 4, "</s>": 9, "d": 0, "<unk>": 0, "<s>": 0}.items()
}


def asked(model, context, *, begin=False):
    probs = model.predict_next_proba(context, begin=begin).tolist()
    return dict(zip(model.vocabulary_.words, probs, strict=True))


def test_a_text_by_hand():
    model = KneserNeyLM(order=2).fit(TEXT)
    assert [discount.source for discount in model.discounts_] == ["estimated", "estimated"]
    for actual, expected in zip(model.discounts_, DISCOUNTS, strict=True):
        assert actual.values == pytest.approx([float(one) for one in expected], rel=1e-12)
    for context, expected in (("", WORDS), ("b", AFTER_B), ("c", AFTER_C)):
        assert sum(expected.values()) == 1
        exact = {word: float(prob) for word, prob in expected.items()}
        assert asked(model, context) == pytest.approx(exact, rel=1e-12)
    # <s> is followed by d once, c twice, b three times; d by b once.
    start, after_d = Fraction(19, 30), Fraction(2, 5)
    d = start * WORDS["d"] + Fraction(1, 10)
    b = after_d * WORDS["b"] + Fraction(3, 5)
    line = d * b * AFTER_B["c"] * (AFTER_C["<unk>"] * WORDS["</s>"])
    assert np.exp(model.score_samples(["d b c x"])[0]) == pytest.approx(float(line), rel=1e-12)


def test_the_formulas_give_what_was_found_by_hand():
    oracle = ModifiedKneserNey([line.split() for line in TEXT], 2)
    assert oracle.discounts == DISCOUNTS
    for context, expected in (((), WORDS), (("b",), AFTER_B), (("c",), AFTER_C)):
        assert {word: oracle.prob(context, word) for word in oracle.words} == {
            word: expected[word] for word in oracle.words
        }


def drawn_text(seed):
    """Frequent and rare words, half of them followed by a word of their own; some of all small counts."""
    rng = np.random.default_rng(seed)
    follows, proportions = rng.permutation(40), 1 / np.arange(1, 41)
    lines = []
    for _ in range(120):
        line = [int(rng.choice(40, p=proportions / proportions.sum()))]
        for _ in range(rng.integers(0, 9)):
            drawn = int(rng.choice(40, p=proportions / proportions.sum()))
            line.append(int(follows[line[-1]]) if rng.random() < 0.5 else drawn)
        lines.append([f"w{word}" for word in line])
    return lines


@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("seed", [0, 3, 4])
def test_all_probabilities_are_those_of_the_formulas(order, seed):
    lines = drawn_text(seed)
    model, oracle = KneserNeyLM(order).fit(lines), ModifiedKneserNey(lines, order)
    assert {discount.source for discount in model.discounts_} == {"estimated"}
    actual = np.array([discount.values for discount in model.discounts_])
    assert actual == pytest.approx(np.array(oracle.discounts, dtype=float), rel=1e-12)
    contexts = {(), ("w0", "w0", "w0", "w0"), ("w39", "never")}
    contexts |= {gram[:-1] for counts in oracle.counts for gram in list(counts)[:60]}
    for context in contexts:
        begin = context[:1] == (BEGIN,)
        probs = asked(model, context[begin:], begin=begin)
        expected = {word: float(oracle.prob(context, word)) for word in oracle.words}
        assert probs == pytest.approx(expected | {BEGIN: 0.0}, rel=1e-12)
