"""Every Python example of the README runs, in order, as a reader would type it."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def test_examples_of_the_readme_run(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib", reason="the README draws a picture")
    text = README.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    scope = {"__name__": "readme"}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), scope)
