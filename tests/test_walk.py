"""Fits of one latent tree and of `HMM()` stay in their families and seldom return to a folder they left."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "walk"
MOST_RETURNS = 8


@pytest.mark.parametrize(
    ("name", "folders"), [("tree", "trees, core, messages"), ("hmm", "sequences, core")]
)
def test_fit_walks_through_few_folders(name, folders):
    command = [sys.executable, str(TOOL), name]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert f"in {folders}\n" in output
    assert "leaves its family" not in output
    for text in ("top-level folders", "directories"):
        (line,) = [line for line in output.splitlines() if text in line]
        assert int(line.split(", ")[1].split()[0]) <= MOST_RETURNS
