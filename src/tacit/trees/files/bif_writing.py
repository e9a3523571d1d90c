"""Bayesian networks written as BIF."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

from tacit.core.files.atomic import write_text
from tacit.trees.files.bif_network import BifNetwork, BifTable, BifVariable
from tacit.trees.files.bif_notes import value_note

# Words with a meaning of their own in BIF.
_KEYWORDS = frozenset(
    ("network", "variable", "probability", "property", "type", "discrete", "default", "table")
)
_OTHER = re.compile(r"[^A-Za-z0-9_]")
_NUMBER = re.compile(r"[0-9]+")


def write_bif_network(path: str | os.PathLike[str], network: BifNetwork) -> None:
    """Write a network to a BIF file, whole or not at all; `read_bif` gives the same network back."""
    write_text(path, bif_text(network))


def bif_text(network: BifNetwork) -> str:
    """The network as BIF.

    Probabilities are written with enough digits to read back exactly the same number.

    Examples
    --------
    >>> import numpy as np
    >>> rain = BifVariable("rain", ("no", "yes"))
    >>> table = BifTable("rain", (), np.array([0.75, 0.25]))
    >>> print(bif_text(BifNetwork("weather", (rain,), (table,))))
    network weather {
    }
    variable rain {
      type discrete [ 2 ] { no, yes };
    }
    probability ( rain ) {
      table 0.75, 0.25;
    }
    <BLANKLINE>
    """
    names = [variable.name for variable in network.variables]
    words = dict(zip(names, _words(names, numbers=False), strict=True))
    states = {
        variable.name: _words(variable.categories, numbers=True) for variable in network.variables
    }
    lines = [f"network {_word(network.name, numbers=False)} {{"]
    lines += [f"  property {text};" for text in network.properties]
    lines.append("}")
    for variable in network.variables:
        lines += _variable_lines(variable, words[variable.name], states[variable.name])
    for table in network.tables:
        lines += _table_lines(table, words, states)
    return "\n".join(lines) + "\n"


def _variable_lines(variable: BifVariable, word: str, states: Sequence[str]) -> Iterator[str]:
    yield f"variable {word} {{"
    yield f"  type discrete [ {len(states)} ] {{ {', '.join(states)} }};"
    if word != variable.name:
        yield f"  property tacit_name = {value_note(variable.name)};"
    if tuple(states) != variable.categories:
        yield f"  property tacit_categories = {', '.join(map(value_note, variable.categories))};"
    if variable.latent:
        yield "  property latent = yes;"
    for text in variable.properties:
        yield f"  property {text};"
    yield "}"


def _table_lines(
    table: BifTable, words: dict[str, str], states: dict[str, list[str]]
) -> Iterator[str]:
    parents = ", ".join(words[name] for name in table.parents)
    yield f"probability ( {words[table.variable]}{' | ' if parents else ''}{parents} ) {{"
    rows = table.values.reshape(-1, table.values.shape[-1]).tolist()
    conditions = product(*(states[name] for name in table.parents))
    for condition, row in zip(conditions, rows, strict=True):
        key = f"({', '.join(condition)})" if condition else "table"
        yield f"  {key} {', '.join(repr(value) for value in row)};"
    yield "}"


def _words(values: Iterable[Any], *, numbers: bool) -> list[str]:
    """A word for each value, all different even if case is ignored."""
    plain = list(values)
    words = [_word(str(value), numbers=numbers) for value in plain]
    # Those that can stay as they are come first, so that no other takes their word.
    taken: dict[str, int] = {}
    for place, word in enumerate(words):
        if word == str(plain[place]):
            taken.setdefault(word.lower(), place)
    for place, word in enumerate(words):
        if taken.get(word.lower()) == place:
            continue
        count, candidate = 2, word
        while candidate.lower() in taken:
            candidate, count = f"{word}_{count}", count + 1
        words[place], taken[candidate.lower()] = candidate, place
    return words


def _word(text: str, *, numbers: bool) -> str:
    """A text as a word that BIF understands."""
    word = _OTHER.sub("_", text) or "_"
    if word.lower() in _KEYWORDS:
        return word + "_"
    if word[0].isdigit() and not (numbers and _NUMBER.fullmatch(word)):
        return "_" + word
    return word
