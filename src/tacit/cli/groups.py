"""Groups of options: declared once as the fields of a dataclass, which is one parameter of a command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Any, get_type_hints


def unfolded(command: Callable[..., None]) -> Callable[..., None]:
    """The command with each group of options replaced by its options, for typer.

    Parameters
    ----------
    command : callable
        Its parameters are arguments and options, and dataclasses whose fields are options with defaults.

    Returns
    -------
    callable
        With the options of a group in place of the group, all of them keyword-only.
    """
    declared = signature(command, eval_str=True)
    groups: dict[str, Any] = {}  # dataclasses
    parameters: list[Parameter] = []
    for name, parameter in declared.parameters.items():
        if is_dataclass(parameter.annotation):
            groups[name] = parameter.annotation
            parameters += _options(groups[name])
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def run(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{option.name: values.pop(option.name) for option in fields(kind)})
        command(**values)

    run.__signature__ = declared.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def _options(kind: type[Any]) -> list[Parameter]:
    """The fields of a group as parameters of a command."""
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(
            option.name,
            Parameter.KEYWORD_ONLY,
            default=option.default,
            annotation=hints[option.name],
        )
        for option in fields(kind)
    ]
