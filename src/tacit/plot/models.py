"""Which models a picture can be drawn of."""

from __future__ import annotations

from typing import Any

from tacit.core.model import Model
from tacit.errors import NotAvailableError


def can(model: Any, ability: str) -> bool:
    """Whether something is a fitted model that can do this."""
    return isinstance(model, Model) and model.__sklearn_is_fitted__() and model.can(ability)


def check_can(model: Any, ability: str, otherwise: str) -> None:
    """Raise a `NotAvailableError` with what to pass instead where a model cannot do this."""
    if not can(model, ability):
        raise NotAvailableError(f"{type(model).__name__} {otherwise}")


def number_places(model: Any) -> frozenset[int]:
    """The places of columns of numbers in a fitted model of a table."""
    return frozenset(model.schema_.continuous) if can(model, "numbers") else frozenset()
