"""Made-up runs of experiments: every trial of some settings, with numbers that a test chooses."""

from tacit.reproduce.runner.runs import Run, Runs
from tacit.reproduce.runner.trials import cell


def made_run(trial, error, seconds):
    """The run of a trial, with these numbers as tables have them."""
    names = list(trial.study.results)
    results = dict.fromkeys(names, error)
    results |= {"kl": 0.1, "not_positive": 0.0, "seconds": seconds, "splits": 0.1, "words": 1000.0}
    results |= {"spread": 0.1 * error, "nats": -error, "n_steps": 10, "n_ahead": 10}
    results |= {"n_words": 100_000, "n_types": 1000, "n_sentences": 100, "n_trees": 1000}
    results |= {"failure": "", "chosen": ""}
    return Run(trial, trial.study.parse(cell(results[name]) for name in names))


def made_runs(settings, error, seconds=lambda _: 1.0):
    """Every trial of the settings; `error` and `seconds` are functions of the trial."""
    return Runs(tuple(made_run(t, error(t), seconds(t)) for t in settings.trials()))
