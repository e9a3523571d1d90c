"""Jelinek-Mercer smoothing and absolute discounting as special cases of power low rank ensembles."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import tacit
from oracles.interpolation import BEGIN, AbsoluteDiscounting, JelinekMercer
from tacit.errors import ArgumentError, NotAvailableError
from tacit.language.kneser_ney_lm import BackoffLM, KneserNeyLM
from tacit.language.model.ensemble import OrderPlan
from tacit.language.power_low_rank_lm import PowerLowRankLM

LINES = ["a b a c", "b a", "", "c c a b b a", "a b a c", "b", "a a b d", "d a b a"]
DISCOUNTS = (0.25, 0.5, 0.75)
ORACLES = {"jelinek-mercer": JelinekMercer, "absolute": AbsoluteDiscounting}


def oracle(preset, order, base="uniform", pads="one"):
    discounts = [Fraction(number) for number in DISCOUNTS[:order]]
    if base == "unigram":
        discounts[0] = Fraction(0)
    n_pads = order - 1 if pads == "all" else 1
    return ORACLES[preset]([line.split() for line in LINES], discounts, n_pads)


def special_case(preset, order, **options):
    given = [[number] for number in DISCOUNTS[:order]]
    return PowerLowRankLM(order, preset=preset, discounts=given, **options).fit(LINES)


def assert_agree(model, expected, n_pads, order):
    words = ["a", "b", "c", "d", "never"]
    contexts = [context for n in range(order + 1) for context in product(words, repeat=n)]
    vocabulary = model.vocabulary_.words
    for context in contexts:
        known = tuple(word if word in "abcd" else "<unk>" for word in context)
        actual = dict(zip(vocabulary, model.predict_next_proba(list(context)), strict=True))
        assert actual.pop(BEGIN) == 0
        before = (BEGIN,) * n_pads + known
        for word, prob in actual.items():
            assert prob == pytest.approx(float(expected.prob(before, word)), rel=0, abs=1e-10)


@pytest.mark.parametrize("preset", ["jelinek-mercer", "absolute"])
@pytest.mark.parametrize("base", ["uniform", "unigram"])
@pytest.mark.parametrize(("order", "pads"), [(1, "one"), (2, "one"), (3, "one"), (3, "all")])
def test_they_are_their_formulas(preset, base, order, pads):
    model = special_case(preset, order, base=base, pads=pads)
    n_pads = order - 1 if pads == "all" else 1
    assert_agree(model, oracle(preset, order, base, pads), n_pads, order)


@pytest.mark.parametrize("pads", ["one", "all"])
def test_equal_powers_are_jelinek_mercer(pads):
    """Algorithm 19 with equal powers scales the counts (Parikh, 2015, section 9.4.1): the last power is 1."""
    order = 3
    model = PowerLowRankLM(
        order,
        powers={2: (1,), 3: (1,)},
        ranks={2: (), 3: ()},
        discounts=[[number] for number in DISCOUNTS],
        base="unigram",
        pads=pads,
    ).fit(LINES)
    n_pads = order - 1 if pads == "all" else 1
    assert_agree(model, oracle("jelinek-mercer", order, "unigram", pads), n_pads, order)


def test_a_last_power_of_zero_is_kneser_ney():
    model = PowerLowRankLM(
        3, powers={2: (0,), 3: (0,)}, ranks={2: (), 3: ()}, discounts=0.5, pads="all"
    ).fit(LINES)
    expected = KneserNeyLM(3, modified=False, discounts=0.5, pads="all").fit(LINES)
    assert model.model_.grams.probs == pytest.approx(expected.model_.probs, rel=1e-12)


def test_absolute_discounting_loses_the_counts_of_the_text_and_jelinek_mercer_keeps_them():
    """Equation 9.3, which holds with Kneser-Ney and not with absolute discounting (section 9.2.3)."""
    counts = {word: " ".join(LINES).split().count(word) for word in "abcd"}
    for preset, holds in (("jelinek-mercer", True), ("absolute", False)):
        model = special_case(preset, 2, base="unigram")
        vocabulary = model.vocabulary_.words
        expected = np.zeros(len(vocabulary))
        for line in LINES:
            words = line.split()
            for at in range(len(words) + 1):
                expected += model.predict_next_proba(words[:at])
        actual = dict(zip(vocabulary, expected, strict=True))
        agrees = all(abs(actual[word] - counts[word]) < 1e-10 for word in counts)
        assert agrees == holds


@pytest.mark.parametrize("powers", [(1.0,), (0.5, 0.5), (1.0, 0.0)])
def test_low_rank_parts_between_equal_powers_are_as_printed(powers):
    """Algorithms 19 and 20: each step has the same discount d*, and all sums stay what they were."""
    order_2 = OrderPlan(powers, (2,) * len(powers), modified=False, even_steps=True)
    assert order_2.steps[1] == (1 / (len(powers) + 1), powers[0])
    ranks = (2,) * len(powers)
    model = PowerLowRankLM(
        2, preset="printed", powers={2: powers}, ranks={2: ranks}, discounts=0.5
    ).fit(LINES)
    expected = np.zeros(len(model.vocabulary_))
    for line in LINES:
        words = line.split()
        for at in range(len(words) + 1):
            probs = model.predict_next_proba(words[:at])
            assert probs.sum() == pytest.approx(1, abs=1e-12)
            assert probs.min() >= 0
            expected += probs
    actual = dict(zip(model.vocabulary_.words, expected, strict=True))
    for word in "abcd":
        assert actual[word] == pytest.approx(" ".join(LINES).split().count(word), rel=1e-10)


@pytest.mark.parametrize("preset", ["jelinek-mercer", "absolute"])
def test_they_are_written_as_arpa_files_and_model_files(preset, tmp_path):
    model = special_case(preset, 3)
    assert model.can("arpa")
    model.to_arpa(tmp_path / "model.arpa")
    again = BackoffLM.from_arpa(tmp_path / "model.arpa")
    text = [*LINES, "d d a", "never a b"]
    assert again.score_samples(text) == pytest.approx(model.score_samples(text), abs=1e-5)
    model.save(tmp_path / "model.tacit")
    loaded = tacit.load(tmp_path / "model.tacit")
    assert loaded.plans_ == model.plans_
    assert loaded.score_samples(text) == pytest.approx(model.score_samples(text), rel=0, abs=0)


def test_low_rank_parts_are_not_written_as_arpa_files(tmp_path):
    model = PowerLowRankLM(2, ranks={2: (2, 2)}).fit(LINES)
    assert not model.can("arpa")
    with pytest.raises(NotAvailableError, match="low rank parts"):
        model.to_arpa(tmp_path / "model.arpa")
    with pytest.raises(NotAvailableError, match="one <s>"):
        special_case("absolute", 3, pads="all").to_arpa(tmp_path / "model.arpa")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"preset": "jelinek-mercer"}, "discounts="),
        ({"preset": "jelinek-mercer", "discounts": 1.5}, "from 0 to"),
        ({"preset": "absolute", "discounts": (0.5, 1.0, 1.5)}, "each order"),
        ({"preset": "absolute", "ranks": {2: (2,)}}, "contradicts"),
        ({"preset": "printed"}, "ranks="),
        ({"preset": "printed", "ranks": {2: 2}}, "3: "),
        ({"preset": "printed", "ranks": {2: 2, 3: 2}, "weights": {2: (0.5,)}}, "contradicts"),
        ({"preset": "printed", "ranks": {2: 2, 3: 2}, "n_restarts": 2}, "contradicts"),
        ({"preset": "printed", "ranks": {2: 2, 3: 2}, "base": "uniform"}, "contradicts"),
        ({"discounts": "some"}, "discounts"),
        ({"powers": {2: (1,)}, "ranks": {2: ()}, "discounts": (0.5, 1.5, 1.5)}, "from 0 to 1"),
        ({"powers": {2: (0.5, 0.5)}, "ranks": {2: (2, 2)}}, "descending"),
    ],
)
def test_what_contradicts_or_is_missing_is_said(arguments, named):
    with pytest.raises(ArgumentError, match=named):
        PowerLowRankLM(**arguments).fit(LINES)
