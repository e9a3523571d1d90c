"""Options that go together: declared once as the fields of a dataclass, and taken whole by a command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Any, get_type_hints


def unfolded(command: Callable[..., None]) -> Callable[..., None]:
    """The command as the command line sees it: each group of options is replaced by its options.

    Parameters
    ----------
    command : callable
        Its parameters are arguments and options, and dataclasses whose fields are options with defaults.

    Returns
    -------
    callable
        With the options of a group where the group stood, all of them by name.
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
    def run(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{each.name: given.pop(each.name) for each in fields(kind)})
        command(**given)

    run.__signature__ = declared.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def _options(kind: type[Any]) -> list[Parameter]:
    """The fields of a group as parameters of a command."""
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(
            each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name]
        )
        for each in fields(kind)
    ]
