"""Declarations of what a model file holds.

A `Record` says of a class which fields it has, and each `Field` what it looks like in a file: an `Array`, a
value of the header (see `header_values`), another record, one of several records (`OneOf`), or a list of any
of these (`Many`). Values stand in the header under the name of their field, arrays under the dotted path of
theirs: ``parts.0.weights``.

Axes have names. The first array with an axis of some name says how long it is; from then on, all arrays and
checks of the record and of the records within it must agree. ``"word+1"`` is one longer, ``"3"`` is three.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tacit.core.files.header_values import shown
from tacit.core.files.ranges import Range
from tacit.core.files.ranges import finite as all_finite
from tacit.errors import FileFormatError, TacitError

Arrays = dict[str, NDArray[Any]]
# The sizes of named axes; those of a record end with it. A tuple has a size for each of several items.
Sizes = ChainMap[str, Any]

# What may go wrong where a value is made of hostile fields.
_DAMAGE = (TacitError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass
class Source:
    """The arrays of a file that were not read yet."""

    arrays: Arrays
    strict: bool = True  # whether undeclared fields are refused

    def take(self, path: str) -> NDArray[Any]:
        """An array, which is then no longer in the source."""
        if path not in self.arrays:
            raise FileFormatError("is missing")
        return self.arrays.pop(path)


class Form(Protocol):
    """What a field looks like in a file."""

    def write(self, value: Any, path: str, arrays: Arrays) -> Any:
        """Add the arrays of a value, and return what stands in the header."""
        ...

    def read(self, plain: Any, path: str, source: Source, sizes: Sizes) -> Any:
        """The value that `write` wrote; an error where it is something else."""
        ...


class Array:
    """An array.

    Parameters
    ----------
    axes : str
        Their names or sizes with blanks between, such as ``"state symbol+1"`` or ``"rule state*state"``;
        ``"*"`` is of any size, and ``"..."`` alone any number of such axes.
    *ranges : Range
        What holds of its numbers.
    dtype : type, or several
        What it is in memory and in the file.
    empty : bool
        Whether axes may have length zero.
    finite : bool
        Whether infinities and NaN are refused.
    """

    def __init__(
        self,
        axes: str,
        *ranges: Range,
        dtype: DTypeLike | tuple[DTypeLike, ...] = np.float64,
        empty: bool = False,
        finite: bool = True,
    ) -> None:
        self.axes = axes.split()
        self.dtypes = [np.dtype(one) for one in (dtype if isinstance(dtype, tuple) else (dtype,))]
        self.ranges = (all_finite, *ranges) if finite else ranges
        self.empty = empty

    def write(self, value: Any, path: str, arrays: Arrays) -> None:
        """Add the array."""
        arrays[path] = np.asarray(value)

    def read(self, plain: Any, path: str, source: Source, sizes: Sizes) -> NDArray[Any]:
        """The array, checked."""
        array = source.take(path)
        if array.dtype not in self.dtypes:
            raise FileFormatError(f"has type {array.dtype}, not {self.dtypes[0]}")
        if 0 in array.shape and not self.empty:
            raise FileFormatError(f"is empty: it has shape {array.shape}")
        if self.axes != ["..."]:
            self._check_shape(array, sizes)
        for check in self.ranges:
            if wrong := check(array, sizes):
                raise FileFormatError(wrong)
        return array

    def _check_shape(self, array: NDArray[Any], sizes: Sizes) -> None:
        expected = [
            length
            if axis == "*"
            else axis_size(axis, sizes, length if array.size or not length else None)
            for axis, length in zip(self.axes, array.shape, strict=False)
        ]
        if len(self.axes) != array.ndim or list(array.shape) != expected:
            sized = " ".join(self.axes)
            raise FileFormatError(f"has shape {array.shape}, not ({sized}) = {tuple(expected)}")


def axis_size(axis: str, sizes: Sizes, length: int | None = None) -> int:
    """The size of an axis such as ``"word"``, ``"word+1"``, ``"state*state"`` or ``"3"``.

    Parameters
    ----------
    axis : str
    sizes : ChainMap
    length : int, optional
        How long an array is that has this axis: a name that is not known yet gets its size from it.

    Examples
    --------
    >>> sizes = ChainMap({})
    >>> axis_size("word+1", sizes, 4), sizes["word"], axis_size("word*word", sizes)
    (4, 3, 9)
    """
    product, _, more = axis.partition("+")
    added, size = int(more or 0), 1
    names = product.split("*")
    if length is not None and len(names) == 1 and not product.isdecimal() and product not in sizes:
        if length < added:
            raise FileFormatError(f"is too short: {length} for {axis!r}")
        sizes[product] = length - added
    for name in names:
        if not name.isdecimal() and name not in sizes:
            raise FileFormatError(f"has an axis {axis!r} whose size nothing else says")
        size *= int(name) if name.isdecimal() else sizes[name]
    return size + added


@dataclass(frozen=True)
class Field:
    """A field of a record.

    Parameters
    ----------
    name : str
        The attribute; in files it goes without underscores at its ends.
    form : Form
    optional : bool
        Whether it may be None, and is then not in the file.
    sizes : mapping of str to callable
        Named sizes that follow from the value: integers, or tuples of them.
    get : callable, optional
        What is written, of the whole record, where that is not the attribute.
    """

    name: str
    form: Form
    optional: bool = False
    sizes: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    get: Callable[[Any], Any] | None = None

    @property
    def key(self) -> str:
        """What it is called in files."""
        return self.name.strip("_")

    def write(self, record: Any, plain: dict[str, Any], path: str, arrays: Arrays) -> None:
        """Put the value into the header of its record, or among the arrays."""
        value = getattr(record, self.name, None) if self.get is None else self.get(record)
        if value is None and self.optional:
            return
        header = self.form.write(value, joined(path, self.key), arrays)
        if not isinstance(self.form, Array):
            plain[self.key] = header

    def read(self, plain: dict[str, Any], path: str, source: Source, sizes: Sizes) -> Any:
        """The value, of which the header of its record has a part."""
        inner = joined(path, self.key)
        is_present = inner in source.arrays if isinstance(self.form, Array) else self.key in plain
        if self.optional and not is_present:
            return None
        with damage_at(inner):
            if not is_present:
                raise FileFormatError("is missing")
            value = self.form.read(plain.pop(self.key, None), inner, source, sizes)
            for name, size in self.sizes.items():
                _bind(sizes, name, size(value))
        return value


def _bind(sizes: Sizes, name: str, size: Any) -> None:
    if sizes.get(name, size) != size:
        raise FileFormatError(f"has {name} = {shown(size)}, not {shown(sizes[name])}")
    sizes[name] = size


class LocatedError(FileFormatError):
    """An error that says already where in the file it is."""


@contextmanager
def damage_at(path: str) -> Iterator[None]:
    """Within the block, whatever does not fit is a `FileFormatError` that names a place in the file."""
    try:
        yield
    except LocatedError:
        raise
    except _DAMAGE as error:
        message = str(error) if isinstance(error, TacitError) else shown(error)
        raise LocatedError(f"{path!r} {message}" if path else message) from error


class Record:
    """The fields of a class.

    Parameters
    ----------
    kind : type
        Of the values.
    *fields : Field
        Each reads an attribute of its name, and is an argument of that name where the value is made.
    make : callable, optional
        Makes the value of its fields, where that is not `kind` itself.
    check : callable, optional
        Looks at the fields together before the value is made; raises an error, or says what is wrong.
    uses : str
        Names of sizes, blanks between, that `make` and `check` get besides the fields.
    """

    def __init__(
        self,
        kind: type,
        *fields: Field,
        make: Callable[..., Any] | None = None,
        check: Callable[..., str | None] | None = None,
        uses: str = "",
    ) -> None:
        self.kind, self.fields, self.uses = kind, fields, uses.split()
        self.make, self.check = make or kind, check

    def write(self, value: Any, path: str, arrays: Arrays) -> dict[str, Any]:
        """The header of the record; its arrays are added."""
        plain: dict[str, Any] = {}
        for declared in self.fields:
            declared.write(value, plain, path, arrays)
        return plain

    def read(self, plain: Any, path: str, source: Source, sizes: Sizes) -> Any:
        """The value of the record."""
        values = read_fields(self.fields, plain, path, source, sizes.new_child())
        values |= {name: sizes[name] for name in self.uses}
        with damage_at(path):
            if self.check is not None and (wrong := self.check(**values)):
                raise FileFormatError(wrong)
            return self.make(**values)


def read_fields(
    fields: Sequence[Field], plain: Any, path: str, source: Source, sizes: Sizes
) -> dict[str, Any]:
    """The values of some fields by name; an error where there are others."""
    if not isinstance(plain, dict):
        raise FileFormatError(f"is {shown(plain)}, not an object with fields")
    unread = dict(plain)
    values = {declared.name: declared.read(unread, path, source, sizes) for declared in fields}
    if unread and source.strict:
        raise FileFormatError(f"{path!r} has fields that are not known: {shown(sorted(unread))}")
    return values


class OneOf:
    """One of several records, by the class of the value; the header says which."""

    def __init__(self, **records: Record) -> None:
        self.records = records

    def write(self, value: Any, path: str, arrays: Arrays) -> dict[str, Any]:
        """The header of the record, and its kind."""
        for name, record in self.records.items():
            if isinstance(value, record.kind):
                return {"kind": name, **record.write(value, path, arrays)}
        raise TypeError(f"{path!r} is a {type(value).__name__}, which files do not hold")

    def read(self, plain: Any, path: str, source: Source, sizes: Sizes) -> Any:
        """The value of the record that the header names."""
        kind = plain.get("kind") if isinstance(plain, dict) else None
        if not isinstance(kind, str) or kind not in self.records:
            raise FileFormatError(f"is of kind {shown(kind)}; known are {sorted(self.records)}")
        fields = {key: value for key, value in plain.items() if key != "kind"}
        return self.records[kind].read(fields, path, source, sizes)


class Many:
    """A tuple of values of one form.

    Parameters
    ----------
    form : Form
    item_sizes : str
        Names of sizes, blanks between, that are tuples with an entry for each item.
    least : int
        There are at least so many.
    optional : bool
        Whether items may be None.
    """

    def __init__(
        self, form: Form, item_sizes: str = "", least: int = 0, *, optional: bool = False
    ) -> None:
        self.form, self.item_sizes, self.least, self.optional = (
            form,
            item_sizes.split(),
            least,
            optional,
        )

    def write(self, value: Any, path: str, arrays: Arrays) -> list[Any]:
        """The headers of all items."""
        return [
            None if self._is_none(item) else self.form.write(item, f"{path}.{at}", arrays)
            for at, item in enumerate(value)
        ]

    def read(self, plain: Any, path: str, source: Source, sizes: Sizes) -> tuple[Any, ...]:
        """The values of all items."""
        if not isinstance(plain, list) or len(plain) < self.least:
            raise FileFormatError(f"is not a list of at least {self.least}")
        if any(len(sizes[name]) != len(plain) for name in self.item_sizes):
            raise FileFormatError(
                f"is a list of {len(plain)}, not of {len(sizes[self.item_sizes[0]])}"
            )
        values = []
        for at, item in enumerate(plain):
            inner = sizes.new_child({name: sizes[name][at] for name in self.item_sizes})
            with damage_at(f"{path}.{at}"):
                is_none = self._is_none(item)
                values.append(
                    None if is_none else self.form.read(item, f"{path}.{at}", source, inner)
                )
            new = [name for name in inner.maps[0] if name not in self.item_sizes]
            sizes.update((name, inner[name]) for name in new)
        return tuple(values)

    def _is_none(self, item: Any) -> bool:
        return self.optional and item is None


def joined(path: str, key: str) -> str:
    """The path of a field of a record."""
    return f"{path}.{key}" if path else key
