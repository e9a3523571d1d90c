"""The papers, run again: settings, runs, picture, verdict."""

from tacit.reproduce.runner.running import listing, run
from tacit.reproduce.runner.verdicts import Verdict

__all__ = ["Verdict", "listing", "run"]
