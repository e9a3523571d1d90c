import pytest

from oracles.commands import tacit_says


@pytest.fixture
def run(folder, monkeypatch):
    """Runs `tacit` in the folder of the module and gives what it printed."""
    monkeypatch.chdir(folder)
    return tacit_says
