"""The papers, run again: settings, runs, picture, verdict."""

from tacit.experiments.running import listing, run
from tacit.experiments.verdicts import Verdict

__all__ = ["Verdict", "listing", "run"]
