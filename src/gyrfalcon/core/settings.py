"""Representation in one line: of settings what differs from the defaults, of data the shapes of arrays."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np


def changed_settings_repr(value: Any) -> str:
    """The constructor call of a dataclass with the settings that differ from their defaults, in one line.

    A class uses it as its `__repr__`.

    >>> from gyrfalcon.core.schedules import Geometric
    >>> changed_settings_repr(Geometric(first=16, ratio=2.0))
    'Geometric(first=16)'
    """
    changed = ", ".join(f"{name}={now!r}" for name, now in _changed(value))
    return f"{type(value).__name__}({changed})"


def shapes_repr(value: Any) -> str:
    """The fields of a dataclass that differ from their defaults: arrays by shape, other objects by class.

    A class uses it as its `__repr__`, where arrays would fill pages. What is None is left out.

    >>> from gyrfalcon.oracles.solvers.moments import Moments
    >>> Moments.of([[1.0, 2.0], [3.0, 4.0]], [1.0, 0.0])
    Moments(gram=array[1, 2, 2], cross=array[1, 2], squares=array[1], weight=array[1])
    """
    changed = ", ".join(f"{name}={_short(now)}" for name, now in _changed(value) if now is not None)
    return f"{type(value).__name__}({changed})"


def _changed(value: Any) -> list[tuple[str, Any]]:
    given = [
        (one.name, getattr(value, one.name), _default_of(one))
        for one in fields(value)
        if one.init and one.repr
    ]
    return [(name, now) for name, now, default in given if not _is_default(now, default)]


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array{list(value.shape)}"
    if _is_plain(value):
        return repr(value)
    is_small = is_dataclass(value) and all(_is_plain(getattr(value, one.name)) for one in fields(value))
    return repr(value) if is_small else type(value).__name__


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float | str | Enum)


def _default_of(field: Field[Any]) -> object:
    return field.default_factory() if field.default_factory is not MISSING else field.default


def _is_default(now: object, default: object) -> bool:
    return now is default or (type(now) is type(default) and now == default)
