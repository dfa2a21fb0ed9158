"""Values as JSON has them, whatever types a result is made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any


def json_value(value: Any) -> Any:
    """The value as dicts, lists, strings and finite numbers; nan and infinities become None.

    >>> json_value({"slack": float("inf"), "rows": (1, 2.5)})
    {'slack': None, 'rows': [1, 2.5]}
    """
    if isinstance(value, Mapping):
        return {str(key): json_value(entry) for key, entry in value.items()}
    if isinstance(value, str) or value is None:
        return value
    if hasattr(value, "tolist"):
        return json_value(value.tolist())
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return [json_value(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int) else str(value)
