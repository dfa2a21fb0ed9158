"""Representation of settings: the name of a class and what differs from its defaults, in one line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from typing import Any


def changed_fields_repr(value: Any) -> str:
    """The call that makes a dataclass, without the fields that are at their defaults.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, repr=False)
    ... class Circle:
    ...     radius: float
    ...     colour: str = "blue"
    ...     __repr__ = changed_fields_repr
    >>> Circle(2.0), Circle(2.0, "red")
    (Circle(radius=2.0), Circle(radius=2.0, colour='red'))
    """
    changed = ", ".join(f"{name}={now!r}" for name, now in _changed(value))
    return f"{type(value).__name__}({changed})"


def _changed(value: Any) -> Iterator[tuple[str, Any]]:
    for field in fields(value):
        now = getattr(value, field.name)
        if field.init and field.repr and not _is_default(field, now):
            yield field.name, now


def _is_default(field: Field[Any], now: Any) -> bool:
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return default is now or (type(default) is type(now) and bool(default == now))
