"""Fitted models to files and back, by the fields that each class declares."""

from __future__ import annotations

import inspect
import os
import re
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from tacit.core.files.container import FORMAT, check_suffix, write_file
from tacit.core.files.fields import (
    Arrays,
    Field,
    Sizes,
    Source,
    damage_at,
    joined,
    read_fields,
)
from tacit.core.files.header_values import integer, mapping, shown
from tacit.core.files.json_values import from_json, to_json
from tacit.errors import FileFormatError, FileWriteError

Upgrade = Callable[[dict[str, Any], Arrays], None]

_CONTAINER_KEYS = ("format", "version", "digest")  # what the file itself says

_COMMON = (Field("diagnostics_", mapping()), Field("n_features_in_", integer(), optional=True))


class ModelFile:
    """What the file of a class of estimators holds, besides its arguments and diagnostics.

    Parameters
    ----------
    *fields : Field
        Attributes of the fitted model; those whose names do not end in an underscore are arguments.
    arguments : mapping of str to callable, optional
        What files hold of some arguments, as a function of the fitted model; None for nothing. Of the other
        arguments they hold what is a number, a text, a list of numbers, or a dict of integers.
    columns : callable, optional
        Gives the names of the columns that a fitted model was learnt from: its `feature_names_in_`, where it
        has these.
    upgrade : callable, optional
        Changes the header and the arrays of a file of format 1 or 2 to what the fields say.
    check : callable, optional
        Looks at the fields together, as that of a `Record` does.
    """

    def __init__(
        self,
        *fields: Field,
        arguments: Mapping[str, Callable[[Any], Any] | None] | None = None,
        columns: Callable[[Any], Sequence[str]] | None = None,
        upgrade: Upgrade | None = None,
        check: Callable[..., str | None] | None = None,
    ) -> None:
        self.fields = (*fields, *_COMMON)
        self.arguments = arguments or {}
        self.columns = columns
        self.upgrade = upgrade
        self.check = check

    def write(self, model: Any, path: str, arrays: Arrays) -> dict[str, Any]:
        """The header of a fitted model; its arrays are added."""
        plain: dict[str, Any] = {
            "estimator": type(model).__name__,
            "arguments": self._arguments(model),
            "has_feature_names": hasattr(model, "feature_names_in_"),
        }
        for declared in self.fields:
            declared.write(model, plain, path, arrays)
        return plain

    def read(self, kind: type[Any], plain: dict[str, Any], path: str, source: Source) -> Any:
        """The model of a class whose header and arrays a file holds."""
        arguments, named = plain.get("arguments"), plain.get("has_feature_names", False)
        if not isinstance(arguments, dict) or not isinstance(named, bool):
            raise FileFormatError("the arguments or names of the estimator are missing")
        header_keys = ("arguments", "has_feature_names")
        fields = {key: value for key, value in plain.items() if key not in header_keys}
        values = read_fields(self.fields, fields, path, source, ChainMap({}))
        parameters = {name: value for name, value in values.items() if name[-1] != "_"}
        known = inspect.signature(kind.__init__).parameters  # other versions may have others
        with damage_at(path):
            for name, value in arguments.items():
                if name in known and _is_of(value, known[name].annotation):
                    parameters[name] = value
                elif name in known and source.strict:
                    raise FileFormatError(f"has an argument {name} = {shown(value)}")
            if self.check is not None and (wrong := self.check(**values)):
                raise FileFormatError(wrong)
            model = kind(**parameters)
            model._restore(  # noqa: SLF001  the class has it for this module
                {name: value for name, value in values.items() if name.endswith("_")}
            )
            if self.columns is not None:
                names = self.columns(model)
                model.n_features_in_ = len(names)
                if named:
                    model.feature_names_in_ = np.array(names, dtype=object)
        return model

    def _arguments(self, model: Any) -> dict[str, Any]:
        plain = self._plain_arguments(model)
        known = inspect.signature(type(model).__init__).parameters
        return {name: plain[name] for name in plain if _is_of(plain[name], known[name].annotation)}

    def _plain_arguments(self, model: Any) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        fields = {declared.name for declared in self.fields}
        for name, value in model.get_params(deep=False).items():
            if name in self.arguments:
                write = self.arguments[name]
                written = None if write is None else write(model)
                if written is not None:
                    plain[name] = written
            elif name in fields:
                continue
            elif isinstance(value, Mapping):
                if all(isinstance(count, Integral) for count in value.values()):
                    plain[name] = {str(key): int(count) for key, count in value.items()}
            elif value is None or isinstance(value, bool | int | float | str):
                plain[name] = value
            elif isinstance(value, np.integer | np.floating):
                plain[name] = value.item()
            elif isinstance(value, list | tuple) and all(isinstance(item, Real) for item in value):
                plain[name] = [float(item) for item in value]
        return plain


# What arguments of some type are in JSON, by the words of the annotation that allow it.
_TYPES: dict[type, set[str]] = {
    type(None): {"None"},
    bool: {"bool"},
    int: {"int", "float"},
    float: {"float"},
    str: {"str", "Literal"},
    dict: {"Mapping", "dict"},
    list: {"Sequence", "Collection", "Iterable", "list", "tuple"},
}


def _is_of(value: Any, annotation: Any) -> bool:
    """Whether an argument is of a type that the constructor names.

    Examples
    --------
    >>> _is_of(3, "int | None"), _is_of("a", "int | None"), _is_of([], "Any")
    (True, False, True)
    """
    words = set(re.findall(r"\w+", annotation)) if isinstance(annotation, str) else {"Any"}
    return "Any" in words or bool(_TYPES.get(type(value), set()) & words)


class SavedModel:
    """A base of estimators that files hold: they declare their fields as `_file`."""

    _file: ClassVar[ModelFile]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file, whole or not at all; `tacit.load` reads it.

        Parameters
        ----------
        path : str or path
            Ends in ``.tacit``; a file that is there already is replaced.

        Raises
        ------
        ArgumentError, FileWriteError
            The file has another extension, or cannot be written there.
        """
        self._check_fitted()
        check_suffix(path)
        arrays: Arrays = {}
        header = self._file.write(self, "", arrays)
        try:
            decoded(from_json(to_json(header)), dict(arrays))
        except FileFormatError as error:
            raise FileWriteError(
                f"the model cannot be saved: it could not be read back, since {error}"
            ) from error
        write_file(path, header, arrays)

    def _check_fitted(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "diagnostics_")

    def _restore(self, values: Mapping[str, Any]) -> None:
        """Take over the fitted attributes that a file holds."""
        for name, value in values.items():
            if value is not None:
                setattr(self, name, value)


class InnerModel:
    """A fitted model inside another: the form of a field.

    Parameters
    ----------
    kind : type
        A base of all that may stand there.
    """

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def write(self, value: Any, path: str, arrays: Arrays) -> dict[str, Any]:
        """The header of the model."""
        file: ModelFile = value._file  # noqa: SLF001  what the class declares for this module
        return file.write(value, path, arrays)

    def read(self, plain: Any, path: str, source: Source, sizes: Sizes) -> Any:
        """The model."""
        if not isinstance(plain, dict):
            raise FileFormatError(f"is {shown(plain)}, not a model")
        return _model(plain, path, source, self.kind)


def decoded(header: Mapping[str, Any], arrays: Arrays) -> Any:
    """The model of a header and arrays, which are used up."""
    plain = {key: value for key, value in header.items() if key not in _CONTAINER_KEYS}
    source = Source(arrays, strict=header.get("format", FORMAT) >= FORMAT)
    model = _model(plain, "", source, SavedModel)
    if arrays and source.strict:
        raise FileFormatError(f"arrays that are not known: {shown(sorted(arrays))}")
    return model


def public_class(name: str) -> Any:
    """What has this name among the public names; None where nothing has. Core imports no family."""
    public = import_module("tacit")
    return getattr(public, name) if name in public.__all__ else None


def _model(plain: dict[str, Any], path: str, source: Source, base: type) -> Any:
    name = str(plain.get("estimator"))
    kind = public_class(name)
    if not isinstance(kind, type) or not issubclass(kind, SavedModel) or not issubclass(kind, base):
        raise FileFormatError(f"{shown(name)} is no {base.__name__} that this version knows")
    header = {key: value for key, value in plain.items() if key != "estimator"}
    file = kind._file  # noqa: SLF001  what the class declares for this module
    if file.upgrade is not None and not source.strict:
        _upgrade(file.upgrade, header, path, source)
    return file.read(kind, header, path, source)


def _upgrade(upgrade: Upgrade, header: dict[str, Any], path: str, source: Source) -> None:
    """Bring the header and the arrays of a model of an older format to what its fields say."""
    prefix = joined(path, "")
    names = [name for name in source.arrays if name.startswith(prefix)]
    arrays = {name.removeprefix(prefix): source.arrays.pop(name) for name in names}
    if "n_features" in header:
        header["n_features_in"] = header.pop("n_features")
    with damage_at(path):
        upgrade(header, arrays)
    source.arrays |= {prefix + name: array for name, array in arrays.items()}


def renamed(content: dict[str, Any], names: Mapping[str, str]) -> None:
    """Rename fields or arrays of an older format; a name that ends in a dot stands for all that begin so.

    Examples
    --------
    >>> arrays = {"start": 1, "emit.0": 2, "emit.1": 3}
    >>> renamed(arrays, {"start": "chain.start", "emit.": "chain.emit."})
    >>> arrays
    {'chain.start': 1, 'chain.emit.0': 2, 'chain.emit.1': 3}
    """
    for old, new in names.items():
        matches = [
            name for name in content if name == old or (old[-1] == "." and name.startswith(old))
        ]
        content.update({new + name.removeprefix(old): content.pop(name) for name in matches})
