"""The stored model files of formats 1 and 2, written again in format 3, and how to read them all.

`python tests/oracles/stored_again.py` writes them anew: only until version 0.2, the first with format 3, is
released. From then on they prove that format 3 is still read.
"""

import re
from pathlib import Path

import tacit

FOLDER = Path(__file__).parents[1] / "files" / "stored"


def older_files():
    """The stored files of formats 1 and 2."""
    return sorted(path for path in FOLDER.glob("*.tacit") if re.search(r"-[12]\b", path.stem))


def in_format_3(path):
    """Where the same model stands in format 3."""
    return path.with_stem(re.sub(r"-[12]\b", "-3", path.stem))


if __name__ == "__main__":
    for path in older_files():
        tacit.load(path).save(in_format_3(path))
