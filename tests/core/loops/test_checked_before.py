"""Every module of compiled loops says what is checked before it is called."""

import re
from pathlib import Path

import tacit
from tacit.core import loops

SOURCE = Path(tacit.__file__).parent
ROOTS = ("core", "messages", "trees", "numbers", "sequences", "language", "parsing", "topics")


def named():
    """The pairs of family and module that the page of checks names."""
    pairs, family = set(), ""
    for word in re.findall(r"[a-z_]+", loops.__doc__):
        if word in (*ROOTS, "reproduce") and (word, family) != ("topics", "topics"):
            family = word
        else:
            pairs.add((family, word))
    return pairs


def test_the_page_of_checks_names_every_module_of_loops():
    modules = {
        (path.parent.parent.name, path.stem)
        for path in SOURCE.glob("*/loops/*.py")
        if path.stem not in ("__init__", "compiled") and "@njit" in path.read_text()
    }
    assert len(modules) > 40
    assert modules <= named()
