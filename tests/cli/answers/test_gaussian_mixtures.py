"""Answers of a Gaussian mixture that was fitted to a table with names of columns."""

import numpy as np
import pandas as pd
import pytest

from oracles.commands import tacit_says
from tacit import GaussianMixtureMoments


@pytest.mark.parametrize("command", ["score", "predict"])
def test_columns_are_found_by_name_without_a_warning(command, tmp_path, recwarn):
    rows = np.random.default_rng(0).normal(size=(60, 2)) + 4.0 * (np.arange(60) % 2)[:, None]
    frame = pd.DataFrame(rows, columns=["x", "y"])
    GaussianMixtureMoments(2).fit(frame).save(tmp_path / "m.tacit")
    outputs = []
    for order in (["x", "y"], ["y", "x"]):
        frame[order].to_csv(tmp_path / "rows.csv", index=False)
        outputs.append(tacit_says(command, str(tmp_path / "m.tacit"), str(tmp_path / "rows.csv")))
    assert outputs[0] == outputs[1]
    assert not recwarn.list
