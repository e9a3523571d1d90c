"""BIF files read: the dialects of bnlearn, pgmpy, pyAgrum and JavaBayes."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.atomic import check_path
from tacit.core.input.missing_files import is_file, missing_file, read_bytes
from tacit.core.limits import check_entries, shown
from tacit.errors import FileFormatError
from tacit.trees.files.bif_network import BifNetwork, BifTable, BifVariable, check_once
from tacit.trees.files.bif_notes import noted_value

_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_WORD = re.compile(r'[^\s{}()\[\],;|"]+')
_PROPERTY = re.compile(r'(?:[^;"]|"(?:[^"\\]|\\.)*")*')


def read_bif(path: str | os.PathLike[str]) -> BifNetwork:
    """The network that a BIF file holds.

    Parameters
    ----------
    path : str or path
        A file in UTF-8.

    Raises
    ------
    MissingDataError
        There is no such file.
    FileFormatError
        It is not BIF, or not of discrete variables; the message names the line.
    """
    check_path(path)
    if not is_file(path):
        raise missing_file(path, "BIF file")
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{str(path)!r} is not UTF-8 text (byte {error.start})") from error
    try:
        return parse_bif(text)
    except FileFormatError as error:
        raise FileFormatError(f"{str(path)!r}: {error}") from error


def parse_bif(text: str) -> BifNetwork:
    """The network described by a BIF text.

    Categories are text, as they stand in the file, except where Tacit noted what they were. Quotes around
    names, commas between values and the bar before parents may be absent. ``table`` with parents lists the
    values with the variable itself changing slowest; ``default`` fills every row that is not given.

    Examples
    --------
    >>> network = parse_bif('''network n { }
    ... variable x { type discrete [ 2 ] { a, b }; }
    ... probability ( x ) { table 0.25, 0.75; }''')
    >>> network.variables[0].categories, network.tables[0].values
    (('a', 'b'), array([0.25, 0.75]))
    """
    reader = _Reader(text)
    name = "unknown"
    properties: tuple[str, ...] = ()
    variables: list[_Variable] = []
    tables: list[_Table] = []
    while (word := reader.keyword("network", "variable", "probability")) is not None:
        if word == "network":
            name = reader.word("a name") if not reader.sees("{") else "unknown"
            properties = _network_block(reader)
        elif word == "variable":
            variables.append(_variable_block(reader))
        else:
            tables.append(_probability_block(reader))
    if not variables:
        raise FileFormatError("not BIF: there is no variable in it")
    check_once([variable.word for variable in variables], "variables are")
    known = {variable.word: variable for variable in variables}
    return BifNetwork(
        name=name,
        variables=tuple(variable.value for variable in variables),
        tables=tuple(_table(table, known, len(text)) for table in tables),
        properties=properties,
    )


# ------------------------------------------------------------------------------------- signs


class _Reader:
    """A text and the position up to which it was read."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0
        self.skip()

    def skip(self) -> None:
        if match := _SPACE.match(self.text, self.place):
            self.place = match.end()

    def sees(self, *signs: str) -> bool:
        return self.text[self.place : self.place + 1] in signs

    def takes(self, sign: str) -> bool:
        """Whether the sign comes next; it is then passed."""
        if not self.sees(sign):
            return False
        self.place += 1
        self.skip()
        return True

    def needs(self, sign: str) -> None:
        if not self.takes(sign):
            raise self.error(f"{sign!r} expected")

    def word(self, expected: str) -> str:
        """The next word, whose quotes are taken off."""
        for pattern in (_QUOTED, _WORD):
            if match := pattern.match(self.text, self.place):
                self.place = match.end()
                self.skip()
                return match[match.lastindex or 0]
        raise self.error(f"{expected} expected")

    def words(self, expected: str, end: str) -> list[str]:
        """The words up to a sign, with or without commas between them."""
        words = []
        while not self.takes(end):
            words.append(self.word(expected))
            self.takes(",")
        return words

    def numbers(self) -> list[float]:
        """The numbers up to a semicolon."""
        place, words = self.place, self.words("a number", ";")
        try:
            return [float(word) for word in words]
        except ValueError as error:
            self.place = place
            raise self.error(str(error)) from error

    def keyword(self, *known: str) -> str | None:
        """The next word, which must be one of these; None at the end of the text."""
        if self.place == len(self.text):
            return None
        place = self.place
        word = self.word(f"one of {', '.join(known)}")
        if word not in known:
            self.place = place
            raise self.error(f"one of {', '.join(known)} expected")
        return word

    def property(self) -> str:
        """The text of a property, up to its semicolon."""
        match = _PROPERTY.match(self.text, self.place)
        assert match is not None  # it matches nothing, too
        self.place = match.end()
        self.needs(";")
        return match[0].strip()

    def error(self, problem: str) -> FileFormatError:
        line = self.text.count("\n", 0, self.place) + 1
        text = self.text[self.place : self.place + 24].split("\n")[0]
        return FileFormatError(f"line {line}: {problem}, but there stands {text!r}")


# ------------------------------------------------------------------------------------ blocks


@dataclass(frozen=True, slots=True)
class _Variable:
    word: str
    states: tuple[str, ...]
    value: BifVariable


@dataclass(frozen=True, slots=True)
class _Table:
    variable: str
    parents: tuple[str, ...]
    values: list[float] | None  # after "table"
    default: list[float] | None
    rows: dict[tuple[str, ...], list[float]]


def _network_block(reader: _Reader) -> tuple[str, ...]:
    reader.needs("{")
    properties = []
    while not reader.takes("}"):
        reader.keyword("property")
        properties.append(reader.property())
    return tuple(properties)


def _variable_block(reader: _Reader) -> _Variable:
    word = reader.word("the name of a variable")
    reader.needs("{")
    states: list[str] = []
    properties: list[str] = []
    while not reader.takes("}"):
        if reader.keyword("type", "property") == "property":
            properties.append(reader.property())
            continue
        if reader.word("'discrete'") != "discrete":
            raise reader.error(f"{word!r} is not discrete; only discrete variables can be read")
        reader.needs("[")
        size = reader.words("the number of categories", "]")
        reader.needs("{")
        states = reader.words("a category", "}")
        reader.needs(";")
        if size != [str(len(states))]:
            raise reader.error(
                f"{word!r} has {' '.join(size)} categories, but {len(states)} follow"
            )
    check_once(states, f"categories of {word!r} are")
    return _Variable(word, tuple(states), _described(word, states, properties))


def _described(word: str, states: list[str], properties: list[str]) -> BifVariable:
    """The variable with its properties."""
    name, latent = word, False
    categories: tuple[Any, ...] = tuple(states)
    others = []
    for text in properties:
        key, _, value = (part.strip() for part in text.partition("="))
        if key == "tacit_name":
            name = str(noted_value(value))
        elif key == "tacit_categories":
            categories = tuple(noted_value(note) for note in value.split(","))
            if len(categories) != len(states):
                raise FileFormatError(f"tacit_categories of {word!r} are not {len(states)}")
        elif key == "latent":
            latent = value.lower() in ("yes", "true")
        else:
            others.append(text)
    return BifVariable(name, categories, latent, tuple(others))


def _probability_block(reader: _Reader) -> _Table:
    reader.needs("(")
    variable = reader.word("the name of a variable")
    reader.takes("|")
    parents = tuple(reader.words("the name of a variable", ")"))
    check_once([variable, *parents], f"variables in the table of {variable!r} are")
    reader.needs("{")
    values = default = None
    rows: dict[tuple[str, ...], list[float]] = {}
    while not reader.takes("}"):
        if reader.takes("("):
            condition = tuple(reader.words("a category", ")"))
            if condition in rows:
                raise reader.error(f"the row {condition} of {variable!r} is given twice")
            rows[condition] = reader.numbers()
            continue
        word = reader.keyword("table", "default", "property")
        if word == "property":
            reader.property()
        elif word == "table":
            values = reader.numbers()
        else:
            default = reader.numbers()
    return _Table(variable, parents, values, default, rows)


# ------------------------------------------------------------------------------------ tables


def _table(table: _Table, known: dict[str, _Variable], n_bytes: int) -> BifTable:
    """The table with names and categories as they really are."""
    for word in (table.variable, *table.parents):
        if word not in known:
            raise FileFormatError(f"there is a table with {word!r}, which is no variable")
    child, parents = known[table.variable], [known[word] for word in table.parents]
    sizes = tuple(len(parent.states) for parent in parents)
    for row in table.rows:
        fits = len(row) == len(parents)
        if not fits or any(
            word not in parent.states for word, parent in zip(row, parents, strict=True)
        ):
            raise FileFormatError(
                f"the table of {shown(table.variable)} has a row {shown(row)}, "
                f"which are no categories of its parents"
            )
    check_entries(
        f"the table of {shown(table.variable)} has too many values",
        math.prod(sizes) * len(child.states),
        n_bytes,
        "write its rows out instead of a default row",
    )
    if table.values is not None:
        values = _flat_table(table, sizes, len(child.states))
    else:
        rows = [_row(table, key, child) for key in product(*(parent.states for parent in parents))]
        values = np.array(rows, dtype=np.float64).reshape(*sizes, len(child.states))
    return BifTable(child.value.name, tuple(parent.value.name for parent in parents), values)


def _flat_table(table: _Table, sizes: tuple[int, ...], card: int) -> NDArray[np.float64]:
    assert table.values is not None
    n_values = card * math.prod(sizes)
    if len(table.values) != n_values:
        raise FileFormatError(
            f"the table of {table.variable!r} has {len(table.values)} values, expected {n_values}"
        )
    return np.moveaxis(np.array(table.values).reshape(card, *sizes), 0, -1)


def _row(table: _Table, key: tuple[str, ...], child: _Variable) -> list[float]:
    row = table.rows.get(key, table.default)
    if row is None:
        raise FileFormatError(f"the table of {table.variable!r} lacks the row {key}")
    if len(row) != len(child.states):
        raise FileFormatError(
            f"the row {key} of the table of {table.variable!r} has {len(row)} values, "
            f"expected {len(child.states)}"
        )
    return row
