"""Worker processes with limits of memory and time, each of which handles many inputs."""

from __future__ import annotations

import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from outcomes import Result

_STARTING = 300.0  # seconds for loading compiled loops, before the clock of an input runs
Job = tuple[str, int]
Handle = Callable[[str, int, Path, Callable[[], None]], Result]


@dataclass
class _Worker:
    process: Any
    pipe: Connection
    folder: Path
    job: Job | None = None
    limit: float = field(default=0.0)  # when the input counts as a hang


class Workers:
    """Processes that handle jobs: pairs of the name of a target and the number of an input.

    Parameters
    ----------
    handle : callable
        Gets the job, a folder for its files, and a function to call when everything is loaded and the
        input begins.
    n_workers, seconds, megabytes : int
        How many processes; the limits for an input.
    """

    def __init__(self, handle: Handle, n_workers: int, seconds: float, megabytes: int) -> None:
        self._handle, self._seconds, self._megabytes = handle, seconds, megabytes
        shared = Path("/dev/shm")
        self._scratch = Path(
            tempfile.mkdtemp(prefix="tacit-fuzz-", dir=shared if shared.is_dir() else None)
        )
        self._workers = [self._started(number) for number in range(n_workers)]

    def results(self, jobs: Iterator[Job]) -> Iterator[tuple[Job, Result]]:
        """The results of all jobs, in the order in which they are ready."""
        for place in range(len(self._workers)):
            self._give(place, next(jobs, None))
        while any(worker.job for worker in self._workers):
            wait([worker.pipe for worker in self._workers if worker.job], timeout=0.2)
            for place, worker in enumerate(self._workers):
                if worker.job is None:
                    continue
                result = self._result(place)
                if result is not None:
                    yield worker.job, result
                    self._give(place, next(jobs, None))

    def close(self) -> None:
        """End the processes and remove their files."""
        for worker in self._workers:
            worker.process.kill()
            worker.process.join()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _result(self, place: int) -> Result | None:
        """What a worker says; None where it is still at work."""
        worker = self._workers[place]
        try:
            while worker.pipe.poll():
                message = worker.pipe.recv()
                if message != "began":
                    return message
                worker.limit = time.monotonic() + self._seconds
        except (EOFError, OSError):
            worker.process.join()
            self._restart(place)
            return Result("crash", f"the process ended with code {worker.process.exitcode}")
        if time.monotonic() > worker.limit:
            self._restart(place)
            return Result("hang", f"longer than {self._seconds} seconds")
        return None

    def _give(self, place: int, job: Job | None) -> None:
        worker = self._workers[place]
        worker.job, worker.limit = job, time.monotonic() + _STARTING
        if job is not None:
            worker.pipe.send(job)

    def _restart(self, place: int) -> None:
        worker = self._workers[place]
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()
        self._workers[place] = self._started(place)

    def _started(self, number: int) -> _Worker:
        here, there = multiprocessing.Pipe()
        folder = self._scratch / str(number)
        context = multiprocessing.get_context("fork")
        process = context.Process(target=self._work, args=(there, here, folder), daemon=True)
        process.start()
        there.close()
        return _Worker(process, here, folder)

    def _work(self, pipe: Connection, unused: Connection, folder: Path) -> None:
        unused.close()
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        def began() -> None:
            _limit_memory(self._megabytes)
            pipe.send("began")

        while True:
            try:
                name, number = pipe.recv()
            except EOFError:
                return
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
            pipe.send(self._handle(name, number, folder, began))


def _limit_memory(megabytes: int) -> None:
    """Allow so much more than the process has now; the hard limit stays, so that it can be lifted again."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
