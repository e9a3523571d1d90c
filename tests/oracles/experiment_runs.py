"""Made-up runs of experiments: every trial of some settings, with numbers that a test chooses."""

from tacit.reproduce.runner.runs import Runs


def made_run(kind, trial, error, seconds):
    """The run of a trial, with these numbers."""
    results = {kind.first_result: error, "kl": 0.1, "not_positive": 0.0, "seconds": seconds}
    results |= {"splits": 0.1, "spread": 0.1 * error, "wrong_by_bayes": error}
    results |= {"wrong_aside": error, "nats": -error}
    results |= {"valid": error, "gain": error, "mean": error}
    results |= {"without_whole": error, "by_sentence": error}
    results |= {"evalb": error, "words": 1000.0}
    names = kind.columns()[len(trial.key) :]
    cells = [f"{results[name]:.6g}" if name in results else "" for name in names]
    whole = {"n_steps": "10", "n_ahead": "10", "n_words": "100000", "n_types": "1000"}
    whole |= {"n_sentences": "100", "n_trees": "1000"}
    cells = [whole.get(name, cell) for name, cell in zip(names, cells, strict=True)]
    return kind.of_cells([*trial.key, *cells])


def made_runs(settings, error, seconds=lambda _: 1.0):
    """Every trial of the settings; `error` and `seconds` are functions of the trial."""
    return Runs(tuple(made_run(settings.kind, t, error(t), seconds(t)) for t in settings.trials()))
