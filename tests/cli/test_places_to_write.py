"""Commands that write to a full disk, a read-only folder, or a folder that disappears."""

import os
import random
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tacit
from tacit.cli import app

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no limits of files there")

READ_ONLY = Path("/sys")  # of which even root cannot make a file
COMMANDS = {
    "tree": ("fit tree table.csv -o {}.tacit --states 2 --components 1", ".tacit"),
    "hmm": ("fit hmm letters.csv -o {}.tacit --states 2", ".tacit"),
    "classes": ("fit classes table.csv -o {}.tacit --classes 2", ".tacit"),
    "sample": ("sample m.tacit -n 2000 -o {}.csv", ".csv"),
    "impute": ("impute m.tacit gaps.csv -o {}.csv", ".csv"),
    "plot": ("plot m.tacit -o {}.png", ".png"),
    "count": ("lm count text.txt -o {}.counts", ".counts"),
    "train": ("lm train text.txt -o {}.tacit --order 2", ".tacit"),
    "arpa": ("lm arpa lm.tacit {}.arpa", ".arpa"),
    "grammar": ("grammar train trees.mrg -o {}.tacit --states 1", ".tacit"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Inputs of all commands."""
    place = tmp_path_factory.mktemp("inputs")
    rng = random.Random(0)
    rows = [rng.choices("xyz", k=6) for _ in range(400)]
    table = {f"c{column}": [row[column] for row in rows] for column in range(6)}
    names = ",".join(table)
    (place / "table.csv").write_text(f"{names}\n" + "".join(f"{','.join(row)}\n" for row in rows))
    (place / "gaps.csv").write_text(f"{names}\n" + "x,,y,,z,\n" * 1500)
    (place / "letters.csv").write_text(
        "".join(f"{' '.join(rng.choices('abc', k=20))}\n" for _ in range(60))
    )
    text = [" ".join(f"w{rng.randrange(200)}" for _ in range(10)) for _ in range(300)]
    (place / "text.txt").write_text("\n".join(text))
    nouns = [f"n{number}" for number in range(150)]
    trees = (f"(S (NP (N {rng.choice(nouns)})) (VP (V sees)))\n" for _ in range(400))
    (place / "trees.mrg").write_text("".join(trees))
    tacit.ChowLiuTree().fit(table).save(place / "m.tacit")
    tacit.KneserNeyLM(order=2).fit(text).save(place / "lm.tacit")
    return place


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_one_line_and_the_old_file_stays(name, folder, tmp_path):
    command, suffix = COMMANDS[name]
    if name == "plot":
        pytest.importorskip("matplotlib", reason="pictures are drawn")
    target = tmp_path / f"out{suffix}"
    if suffix == ".counts":
        shutil.copytree(write_counts(folder, tmp_path), target)
    else:
        target.write_text("old")
    before = content(target)
    done = subprocess.run(
        [sys.executable, "-m", "tacit", *command.format(tmp_path / "out").split()],
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=small_files,
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("error: ")
    assert "file too large" in done.stderr.lower()
    assert done.stderr.count("\n") == 1
    assert content(target) == before
    assert {path.name for path in tmp_path.iterdir()} <= {target.name, "old.counts"}


def write_counts(folder, tmp_path):
    path = tmp_path / "old.counts"
    result = CliRunner().invoke(app, ["lm", "count", str(folder / "text.txt"), "-o", str(path)])
    assert result.exit_code == 0, result.output
    return path


def content(path):
    files = path.iterdir() if path.is_dir() else [path]
    return {file.name: file.read_bytes() for file in files}


@pytest.mark.skipif(not READ_ONLY.is_dir(), reason="no such folder on this system")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_read_only_folder_is_one_line(name, folder, monkeypatch):
    if name == "plot":
        pytest.importorskip("matplotlib", reason="pictures are drawn")
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(app, COMMANDS[name][0].format(READ_ONLY / "out").split())
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")
    assert "cannot be written" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_folder_that_disappears_is_one_line(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    place, fit = tmp_path / "new", tacit.LatentClass.fit
    place.mkdir()

    def fit_slowly(self, *arguments, **options):
        place.rmdir()
        return fit(self, *arguments, **options)

    monkeypatch.setattr(tacit.LatentClass, "fit", fit_slowly)
    result = CliRunner().invoke(app, COMMANDS["classes"][0].format(place / "out").split())
    assert result.exit_code == 1
    assert f"the folder {str(place)!r} does not exist" in result.stderr
    assert result.stderr.count("\n") == 1
