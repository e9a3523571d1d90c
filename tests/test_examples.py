"""Every script in examples/ is short, runs, and says what it promises."""

import runpy
from pathlib import Path

import pytest

import tacit

FOLDER = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))

# A few words that each script prints when it has done its work.
PROMISED = {
    "any_conditional.py": ["P(diagnosis = malignant)", "30 columns:", " 1 columns:"],
    "classify_dna.py": ["splice junctions, by the letters of 21 places"],
    "complete_digits.py": ["pixels of the lower halves", "digits recognised"],
    "find_groups.py": ["3 classes; how many wines", "class 2:"],
    "hmm_casino.py": ["2 dice", "loaded P(1 to 6)", "Viterbi", "L loaded"],
    "hmm_earthquakes.py": ["107 years", "that of 3 states", "2007:", "earthquakes.png"],
    "hmm_stocks.py": ["calm     days", "restless days", "20 days ahead", "of the last 250 returns"],
    "mixed_table.py": [
        "GaussianTree()",
        "Ciro |",
        "mean error in the gaps",
    ],
    "read_the_manual.py": [
        "docstrings, ",
        "topic 11",
        "predicted from its other half",
        "is of topic",
    ],
    "two_machines.py": ["treewidth 2", "would be too many", "two chains", "the large machine: 9"],
}


def test_every_example_is_known_here():
    assert {script.name for script in SCRIPTS} == set(PROMISED)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_example_runs_and_says_what_it_promises(script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr().out
    for words in PROMISED[script.name]:
        assert words in printed


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_example_is_shorter_than_sixty_lines(script):
    assert len(script.read_text(encoding="utf-8").splitlines()) < 60


# Stationary Poisson chains: log-likelihood, AIC and BIC as in Zucchini and MacDonald, Hidden Markov Models
# for Time Series (2009), chapter 6.
TEXTBOOK = {
    1: (-391.9189, 785.8, 788.5),
    2: (-342.3183, 692.6, 703.3),
    3: (-329.4603, 676.9, 701.0),
    4: (-327.8316, 687.7, 730.4),
}


def test_earthquakes_have_the_likelihoods_of_the_textbook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    counts = runpy.run_path(str(FOLDER / "hmm_earthquakes.py"))["COUNTS"]
    for n_states, (log_likelihood, aic, bic) in TEXTBOOK.items():
        model = tacit.HMM(n_states, emissions="poisson", stationary=True, pseudo_counts=0)
        model.fit([counts])
        assert model.score([counts]) == pytest.approx(log_likelihood, abs=0.002)
        assert model.aic([counts]) == pytest.approx(aic, abs=0.06)
        assert model.bic([counts]) == pytest.approx(bic, abs=0.06)
