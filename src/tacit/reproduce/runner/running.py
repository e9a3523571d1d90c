"""Experiments by name: listed, run, judged."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from tacit.core.arguments import did_you_mean
from tacit.errors import ArgumentError
from tacit.reproduce.runner.claims import Experiment, Verdict, verdict
from tacit.reproduce.runner.records import append_line, open_record, read_results
from tacit.reproduce.runner.runs import Run, Runs
from tacit.reproduce.runner.trials import Trial, cell

# The folder of each experiment, in the order of the papers.
_FOLDERS = (
    ("trees", ("fig-4.4", "fig-4.5", "fig-4.6")),
    ("junction", ("fig-5.4", "fig-5.5")),
    ("numbers", ("fig-6.5", "fig-6.6", "fig-6.7")),
    ("trees", ("fig-7.5", "fig-7.6", "fig-7.7", "fig-7.8", "fig-7.9")),
    ("parsing", ("table-8.1", "table-8.2", "fig-8.5")),
    ("language", ("table-9.1", "fig-9.2", "table-9.2", "table-9.3", "table-9.4")),
    ("trees", ("parikh-fig-2", "song-fig-2", "song-fig-3")),
    ("parsing", ("lpcfg-f1",)),
    ("sequences", ("wfa-pos",)),
)
MODULES = {
    name: f"{folder}.{name.replace('-', '_').replace('.', '_')}"
    for folder, names in _FOLDERS
    for name in names
}

# What users choose from; tests have a smaller one of their own.
SCALES = ("small", "paper")


def listing() -> list[tuple[str, str]]:
    """The names of all experiments, each with the claim that it tests.

    Examples
    --------
    >>> [name for name, claim in listing()][:2]
    ['fig-4.4', 'fig-4.5']
    """
    return [(name, experiment_of(name).claim) for name in MODULES]


def experiment_of(name: str) -> Experiment:
    """The experiment of a name."""
    if name not in MODULES:
        guess = did_you_mean(name, MODULES).removesuffix(".") or ";"
        names = ", ".join(MODULES)
        raise ArgumentError(f"no experiment is called {name!r}{guess} there are {names}")
    module = importlib.import_module(f"tacit.reproduce.{MODULES[name]}")
    experiment: Experiment = module.EXPERIMENT
    return experiment


def run(name: str, *, scale: str = "small", out: Path | str, progress: Any = None) -> Verdict:
    """Run an experiment of the papers and say whether its claim held.

    Writes ``NAME-SCALE.csv``, a line for every run, and ``NAME-SCALE.png``, a picture like the seed's. Runs
    that are in the table already, with the same settings and by the same version, are not run again, so
    that a run that was stopped continues.

    Parameters
    ----------
    name : str
        See `listing`.
    scale : {"small", "paper"}
        "small": fewer models, sizes and smaller trees, at most two minutes. "paper": the seed's settings.
    out : path
        The folder for both files; made if it is not there.
    progress : None, bool or callable
        As of estimators.

    Returns
    -------
    Verdict

    Raises
    ------
    ArgumentError
        No such experiment or scale.
    FileFormatError, FileWriteError
        The table is something else, or cannot be written.
    MissingDataError
        The experiment's data are not where loaders look.
    DependencyError
        matplotlib is not installed.
    """
    from tacit.core.progress import reporting
    from tacit.core.threads import limit_threads
    from tacit.plot.style import pyplot

    experiment = experiment_of(name)
    if scale not in experiment.settings:
        raise ArgumentError(f"scale={scale!r} is not known; choose one of {SCALES}")
    pyplot()  # no runs without a picture of them
    experiment.check_data()
    settings = experiment.settings[scale]
    csv = Path(out) / f"{name}-{scale}.csv"
    results = read_results(csv, settings)
    open_record(csv, settings.columns)
    trials = settings.trials()
    missing = [trial for trial in trials if trial.key not in results]
    # One thread, so that CPU times compare.
    with reporting(progress) as report, limit_threads(1):
        work, finished = sum(map(settings.study.work, missing)), 0
        for trial in missing:
            report(finished / work, str(trial))
            run = perform(trial)
            append_line(csv, run.cells)
            results[trial.key] = run.results
            finished += settings.study.work(trial)
    runs = Runs(tuple(Run(trial, results[trial.key]) for trial in trials))
    png = csv.with_suffix(".png")
    _save_picture(experiment, scale, runs, png)
    experiment.draw_more(csv)
    return verdict(experiment, runs, csv, png)


def perform(trial: Trial) -> Run:
    """Fit and judge; numbers are rounded as in the table, so that reading it gives the same run."""
    study = trial.study
    fit = study.fit(trial)
    measured: dict[str, float | str] = {"seconds": fit.seconds}
    if fit.error is not None and "failure" in study.results:
        measured |= {"failure": " ".join(str(fit.error).split())}
    else:
        measured |= study.judge(trial, fit.value)
    return Run(trial, study.parse(cell(measured.get(name, v)) for name, v in study.results.items()))


def _save_picture(experiment: Experiment, scale: str, runs: Runs, png: Path) -> None:
    from tacit.core.files.atomic import atomic_path
    from tacit.reproduce.runner.panels import picture

    if experiment.draw is not None:
        figure = experiment.draw(runs)
    else:
        panels = experiment.panels(experiment.settings[scale])
        figure = picture(runs, experiment.title, panels, experiment.measures, experiment.over)
    with atomic_path(png) as temporary:
        figure.savefig(temporary, dpi=160)
