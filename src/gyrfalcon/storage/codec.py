"""Values as a tree of JSON and a list of arrays, and back: no pickle, only classes that were named.

A frozen dataclass is stored as its name and fields, an array by its number. Reading builds nothing but the
classes in the table it is given, so a foreign file can at worst be refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

Classes = Mapping[str, type]
STORED_DTYPES = ("float64", "int64", "bool")


def class_table(classes: Iterable[type]) -> dict[str, type]:
    """Names to classes."""
    return {cls.__name__: cls for cls in classes}


class Encoder:
    """Turns values into JSON, collecting their arrays."""

    def __init__(self, classes: Classes) -> None:
        self._classes = classes
        self.arrays: list[np.ndarray[Any, Any]] = []

    def encode(self, value: object) -> object:
        """The JSON tree of a value."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | str) or type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, tuple | list):
            return {"tuple" if isinstance(value, tuple) else "list": [self.encode(item) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[self.encode(key), self.encode(item)] for key, item in value.items()]}
        return self._instance(value)

    def _array(self, value: np.ndarray[Any, Any]) -> object:
        if value.dtype.name not in STORED_DTYPES:
            raise TypeError(f"an array of {value.dtype.name} can't be stored; use float64, int64 or bool.")
        self.arrays.append(value)
        return {"array": len(self.arrays) - 1}

    def _instance(self, value: object) -> object:
        name = type(value).__name__
        if self._classes.get(name) is not type(value):
            raise TypeError(
                f"{value!r} can't be stored: {name} is not a known class. Action labels may be text, "
                "numbers, booleans, None or tuples of these; name classes of your own with classes=[...]."
            )
        if isinstance(value, Enum):
            return {"enum": name, "value": self.encode(value.value)}
        if not is_dataclass(value):
            raise TypeError(f"{value!r} can't be stored: {name} is neither a dataclass nor an Enum.")
        return {
            "class": name,
            "fields": {f.name: self.encode(getattr(value, f.name)) for f in fields(value) if f.init},
        }


class Decoder:
    """Turns JSON and arrays back into values."""

    def __init__(self, classes: Classes, array: Callable[[int], np.ndarray[Any, Any]]) -> None:
        self._classes = classes
        self._array = array

    def decode(self, tree: object) -> Any:
        """The value of a JSON tree."""
        if not isinstance(tree, dict):
            return tree
        match tree:
            case {"float": str(text)}:
                return float(text)
            case {"array": int(number)}:
                return self._array(number)
            case {"tuple": list(items)}:
                return tuple(self.decode(item) for item in items)
            case {"list": list(items)}:
                return [self.decode(item) for item in items]
            case {"dict": list(pairs)}:
                return {self.decode(key): self.decode(item) for key, item in pairs}
            case {"enum": str(name), "value": value}:
                return self._known(name)(self.decode(value))
            case {"class": str(name), "fields": dict(parts)}:
                return self._known(name)(**{key: self.decode(part) for key, part in parts.items()})
        raise ValueError(f"an entry with the keys {sorted(tree)} is of no known kind.")

    def _known(self, name: str) -> type:
        if name not in self._classes:
            raise ValueError(
                f"it holds a {name}, which is not a known class; name classes of your own with classes=[...]."
            )
        return self._classes[name]
