"""A file of an imputer that was written by version 0.2 is read by this one."""

import json

import numpy as np
import pytest

import tacit
from oracles.stored_imputer import FOLDER, NAME, answers, rows


def test_a_stored_imputer_says_what_it_said():
    imputer = tacit.load(FOLDER / f"{NAME}.tacit")
    expected = json.loads((FOLDER / f"{NAME}.json").read_text(encoding="utf-8"))
    actual = answers(imputer)
    assert actual.pop("numbers") == pytest.approx(expected.pop("numbers"), rel=1e-6)
    assert actual == expected


def test_a_stored_imputer_grows_its_forests_again():
    imputer = tacit.load(FOLDER / f"{NAME}.tacit")
    assert imputer.forests_ is not None
    filled = imputer.transform(rows(seed=2))
    assert "empty" not in filled
    assert not any(value is None for column in filled.values() for value in column)
    assert np.isfinite(np.array(filled["x"])).all()
