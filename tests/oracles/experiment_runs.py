"""Made-up runs of experiments: every trial of some settings, with numbers that a test chooses."""

from tacit.experiments.runs import Runs
from tacit.experiments.trials import Run


def made_run(trial, error, seconds):
    """The run of a trial, with these numbers."""
    outcome = [f"{error:.6g}", "0.1", "0", f"{seconds:.6g}", "10", ""]
    return Run.of_cells([*trial.key, *outcome])


def made_runs(settings, error, seconds=lambda _: 1.0):
    """Every trial of the settings; `error` and `seconds` are functions of the trial."""
    return Runs(tuple(made_run(t, error(t), seconds(t)) for t in settings.trials()))
