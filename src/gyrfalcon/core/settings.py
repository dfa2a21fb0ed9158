"""Representation of settings: a constructor call with what differs from the defaults, in one line."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any


def changed_settings_repr(value: Any) -> str:
    """The constructor call of a dataclass with the settings that differ from their defaults, in one line.

    A class uses it as its `__repr__`.

    >>> from gyrfalcon.core.schedules import Geometric
    >>> changed_settings_repr(Geometric(first=16, ratio=2.0))
    'Geometric(first=16)'
    """
    given = [
        (one.name, getattr(value, one.name), _default_of(one))
        for one in fields(value)
        if one.init and one.repr
    ]
    changed = ", ".join(f"{name}={now!r}" for name, now, default in given if not _is_default(now, default))
    return f"{type(value).__name__}({changed})"


def _default_of(field: Field[Any]) -> object:
    return field.default_factory() if field.default_factory is not MISSING else field.default


def _is_default(now: object, default: object) -> bool:
    return now is default or (type(now) is type(default) and now == default)
