"""`LatentTree().fit` stays within its family, core and messages, and seldom returns to a folder it left."""

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[1] / "tools" / "walk"


def test_the_fit_of_a_tree_walks_through_few_folders():
    command = [sys.executable, str(TOOL), "tree"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "in trees, core, messages\n" in told
    assert "leaves its family" not in told
    (line,) = [line for line in told.splitlines() if "top-level" in line]
    assert int(line.split(", ")[1].split()[0]) <= 8
