"""Every command that the documentation shows runs, in order, and prints what is shown."""

import doctest
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

ROOT = Path(__file__).parent.parent
PAGES = ["docs/command_line.rst", "docs/reproducing.rst"]
COLUMNS = [
    *("mean_radius", "mean_texture", "mean_smoothness", "mean_concavity"),
    *("worst_area", "worst_texture", "diagnosis"),
]
NUMBERS = ["mean_radius", "mean_texture", "mean_concavity", "worst_area"]
CONSOLE = re.compile(r"^\.\. code-block:: console\n\n((?:   .*\n|\n)+)", flags=re.MULTILINE)
TEXT = re.compile(r"^\.\. code-block:: text\n\n((?:   .*\n)+)", flags=re.MULTILINE)


def console_blocks(text):
    """Pairs of a command and what is shown of its output, from the console blocks of a page."""
    for block in CONSOLE.findall(text):
        lines = [line[3:] for line in block.rstrip().splitlines()]
        shown = "\n".join(lines)
        for part in re.split(r"^\$ ", shown, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def write_tables(folder):
    """The files that the pages speak of."""
    pd = pytest.importorskip("pandas", reason="makes the tables")
    from sklearn.datasets import load_breast_cancer

    from tacit.datasets import breast_cancer_table
    from tacit.toy import random_automaton, sample_sentences, sample_trees

    frame = pd.DataFrame(breast_cancer_table())[COLUMNS]
    train, test = frame.iloc[::2], frame.iloc[1::2].copy()
    test.iloc[::5, 3] = None
    train.to_csv(folder / "train.csv", index=False)
    test.to_csv(folder / "test.csv", index=False)
    numbers = load_breast_cancer(as_frame=True).data
    numbers.columns = [name.replace(" ", "_") for name in numbers.columns]
    kept = numbers[NUMBERS].assign(diagnosis=frame["diagnosis"]).iloc[::2]
    kept.to_csv(folder / "numbers.csv", index=False)
    rng = np.random.default_rng(0)
    high = np.cumsum(rng.random(240) < 0.1) % 2
    shown = re.search(TEXT, (ROOT / PAGES[0]).read_text(encoding="utf-8"))
    (folder / "graph.txt").write_text(shown[1], encoding="utf-8")
    truth = random_automaton(3, 4, random_state=0)
    visits = truth.sample(200, random_state=1)
    pages = np.array(["home", "search", "item", "buy"])
    lines = [" ".join(pages[codes]) + "\n" for codes in visits.split(visits.codes)]
    (folder / "clicks.txt").write_text("".join(lines), encoding="utf-8")
    text = ["the cat sat on the mat", "the dog sat on the log", "a cat saw the dog"] * 10
    (folder / "text.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    sentences = sample_sentences(300, random_state=0)
    lines = [" ".join(f"{word}/{tag}" for word, tag in sentence) + "\n" for sentence in sentences]
    (folder / "tagged.txt").write_text("".join(lines), encoding="utf-8")
    trees = "".join(f"{tree}\n" for tree in sample_trees(50, random_state=1))
    (folder / "treebank.mrg").write_text(trees, encoding="utf-8")
    pd.DataFrame({"level": rng.normal(4 * high)}).to_csv(folder / "waves.csv", index=False)
    trips = {
        "id": np.repeat(np.arange(8), 30),
        "time": np.tile(np.arange(30), 8),
        "door": np.where(high, "shut", "open"),
        "speed": rng.normal(30.0 * high, 5.0).round(1),
        "stage": pd.array(np.where(np.arange(240) % 9, -1, high)).astype("Int64"),
    }
    pd.DataFrame(trips).replace({"stage": -1}, pd.NA).to_csv(folder / "trips.csv", index=False)


def runs_as_shown(command, shown):
    from tacit.cli import app

    program, *arguments = shlex.split(command)
    assert program == "tacit"
    result = CliRunner().invoke(app, arguments, prog_name="tacit")
    expected = 1 if shown.startswith("error:") else 0
    assert result.exit_code == expected, f"{command}\n{result.output}"
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(shown, result.output, options), (
        f"{command}\nprinted\n{result.output}\nwhere the page shows\n{shown}"
    )


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_a_page_print_what_it_shows(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="pictures are drawn")
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    blocks = list(console_blocks((ROOT / page).read_text(encoding="utf-8")))
    assert blocks
    for command, shown in blocks:
        runs_as_shown(command, shown)


def test_commands_of_the_readme_run(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="pictures are drawn")
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    commands = [line.partition("  #")[0] for block in blocks for line in block.splitlines()]
    commands = [line for line in commands if line.startswith("tacit ")]
    assert len(commands) >= 5
    for command in commands:
        runs_as_shown(command, "...")
