"""Model files of hidden Markov models that were written once and stay readable."""

import json

import numpy as np
import pytest

import tacit
from oracles.stored_hmms import FOLDER, MODELS, answers


@pytest.mark.parametrize("name", MODELS)
def test_a_stored_hidden_markov_model_says_what_it_said(name):
    model = tacit.load(FOLDER / f"{name}.tacit")
    recorded = json.loads((FOLDER / f"{name}.json").read_text())
    now = answers(name, model)
    assert now.keys() == recorded.keys()
    for key, value in recorded.items():
        for one, other in zip(now[key], value, strict=True):
            assert np.asarray(one) == pytest.approx(np.asarray(other), rel=1e-7, abs=1e-9), key
