"""The papers, run again: settings, runs, picture, verdict."""

from tacit.reproduce.runner.claims import Verdict
from tacit.reproduce.runner.running import listing, run

__all__ = ["Verdict", "listing", "run"]
