"""Model files of every format that was ever released are still read, and say what they said."""

import json

import pytest

import tacit
from oracles.stored_models import MODELS, STORED, answers
from tacit.files.models import FORMAT

FILES = sorted(STORED.glob("format-*.tacit"))


def test_every_format_has_stored_files():
    formats = {int(path.name.split("-")[1]) for path in FILES}
    assert formats == set(range(1, FORMAT + 1))
    assert len(FILES) == len(formats) * len(MODELS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_stored_file_says_what_it_said(path):
    said = json.loads(path.with_suffix(".json").read_text())
    found = answers(tacit.load(path))
    for what in ("columns", "newick", "imputed"):
        assert found[what] == said[what]
    for what in ("log_prob", "predicted"):
        # Machines differ in the last digits of sums.
        assert found[what] == [pytest.approx(row, rel=1e-9) for row in said[what]]
