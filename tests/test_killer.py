"""A few kills by `tools/killer`: outputs are old, absent or whole, and the next run gives the same bytes."""

import subprocess
import sys
from pathlib import Path

import pytest

KILLER = Path(__file__).parents[1] / "tools" / "killer"


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_killed_commands_leave_nothing_by_halves():
    done = subprocess.run(
        [sys.executable, str(KILLER), "--kills", "3", "count", "merge"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 of 3 kills are good" in done.stdout
