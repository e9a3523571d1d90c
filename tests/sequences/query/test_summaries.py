"""Pages about models of sequences."""

import numpy as np
import pytest

import tacit
from oracles.letters import letters
from tacit.sequences.query.summaries import symbol_profiles

TEXTS = letters(["aabbbaabbb", "bbbaaabb", "aaabbbaa", "bbaabbaa"] * 8)


def test_states_show_the_symbols_that_are_more_likely_in_them():
    words = symbol_profiles(np.array([[0.9, 0.1], [0.2, 0.8]]), np.ones(2), ["a", "b"])
    assert words == ["a 90% (overall 55%)", "b 80% (overall 45%)"]


def test_a_page_shows_states_transitions_and_what_was_chosen():
    rng = np.random.default_rng(0)
    model = tacit.HMM().fit(
        [rng.normal(size=40) + 4 * (np.arange(40) // 10 % 2) for _ in range(12)]
    )
    page = str(model.summary())
    assert page.startswith(f"HMM: {model.n_states_} states, gaussian emissions")
    for word in ("Candidates by held-out sequences", "Transitions", "visited", "±"):
        assert word in page
    symbols = str(tacit.HMM(2).fit(TEXTS).summary())
    assert "more likely than overall" in symbols
    assert "free parameters" in symbols
    operators = str(tacit.HMM(2, "spectral").fit(TEXTS).summary())
    assert operators.startswith("HMM: operators of rank 2, 2 symbols")


@pytest.mark.parametrize(
    ("model", "title", "word"),
    [
        (tacit.WeightedAutomaton(2), "WeightedAutomaton: rank 2, 2 symbols", "Singular values"),
        (
            tacit.ProbabilisticAutomaton(2, "em"),
            "ProbabilisticAutomaton: 2 states, 2 symbols",
            "(end)",
        ),
    ],
)
def test_a_page_of_an_automaton(model, title, word):
    page = str(model.fit(TEXTS).summary())
    assert page.startswith(title)
    assert word in page


def test_a_page_of_densities_shows_their_quantiles():
    rng = np.random.default_rng(0)
    series = rng.normal(size=400) + 6 * (np.arange(400) // 20 % 2)
    model = tacit.KernelHMM(2, n_basis=8).fit(series)
    page = str(model.summary())
    assert page.startswith("KernelHMM: 2 states, 1 column of numbers")
    assert "5%, median, 95%" in page
    assert "<table>" in model._repr_html_()
