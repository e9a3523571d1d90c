"""Every script in examples/ is short, runs, and says what it promises."""

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))

# A few words that each script prints when it has done its work.
PROMISED = {
    "any_conditional.py": ["P(diagnosis = malignant)", "30 columns:", " 1 columns:"],
    "classify_dna.py": ["splice junctions, by the letters of 21 places"],
    "complete_digits.py": ["pixels of the lower halves", "digits recognised"],
    "find_groups.py": ["3 classes; how many wines", "class 2:"],
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
