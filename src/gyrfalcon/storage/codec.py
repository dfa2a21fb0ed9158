"""Values as a tree of JSON and a list of arrays, and back: no pickle, only registered classes.

A frozen dataclass is stored as its id and fields, an array by its number; a value that stands in several
places is stored once. Reading builds nothing but the classes of the registry, those that the caller names,
and the regressors that they name, which are fitted again: a foreign file can at worst be refused, or cost
time and memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any

import numpy as np

from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.storage.class_ids import ClassIds

STORED_DTYPES = ("float64", "int64", "bool")
_INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
_SCALARS = (*_INTEGERS, np.bool_, np.str_, np.float16, np.float32, np.float64)
SCALARS: dict[str, type] = {cls.__name__: cls for cls in _SCALARS}


class Encoder:
    """Turns values into JSON, collecting their arrays."""

    def __init__(self, classes: ClassIds) -> None:
        self._classes = classes
        self.arrays: list[np.ndarray[Any, Any]] = []
        # By identity, which lasts while the value itself holds on to its parts.
        self._array_numbers: dict[int, int] = {}
        self._instance_numbers: dict[int, int] = {}

    def encode(self, value: object) -> object:
        """The JSON tree of a value; of exact types only, so that what is read equals what was written."""
        match value:
            case None | bool():
                return value
            case str() if type(value) is str:
                return value
            case int() if type(value) is int:
                # Python limits the decimal digits of integers, not the hexadecimal ones.
                return value if abs(value) < 2**63 else {"int": hex(value)}
            case float() if type(value) is float:
                return value if math.isfinite(value) else {"float": repr(value)}
            case bytes() if type(value) is bytes:
                return {"bytes": value.hex()}
            case tuple() if type(value) is tuple:
                return {"tuple": [self.encode(item) for item in value]}
            case list() if type(value) is list:
                return {"list": [self.encode(item) for item in value]}
            case dict() if type(value) is dict:
                return {"dict": [[self.encode(key), self.encode(item)] for key, item in value.items()]}
            case np.ndarray():
                return self._array(value)
            case np.generic() if SCALARS.get(type(value).__name__) is type(value):
                return {"scalar": type(value).__name__, "value": self.encode(value.item())}
        return self._instance(value)

    def _array(self, value: np.ndarray[Any, Any]) -> object:
        if value.dtype.name not in STORED_DTYPES:
            raise TypeError(f"an array of {value.dtype.name} can't be stored; use float64, int64 or bool.")
        if id(value) not in self._array_numbers:
            self._array_numbers[id(value)] = len(self.arrays)
            self.arrays.append(value)
        return {"array": self._array_numbers[id(value)]}

    def _instance(self, value: object) -> object:
        cls = type(value)
        class_id = self._classes.id_of(cls)
        if class_id is None:
            raise TypeError(
                f"{short_repr(value)} can't be stored: {cls.__name__} is not a known class. "
                "Action labels may be "
                "text, numbers, booleans, bytes, None or tuples of these; name dataclasses and Enums of your "
                "own with classes=[...]."
            )
        if isinstance(value, Enum):
            return {"enum": class_id, "value": self.encode(value.value)}
        if not is_dataclass(value):
            raise TypeError(
                f"{short_repr(value)} can't be stored: {cls.__name__} is neither a dataclass nor an Enum."
            )
        if id(value) in self._instance_numbers:
            return {"again": self._instance_numbers[id(value)]}
        parts = {f.name: self.encode(getattr(value, f.name)) for f in fields(value) if f.init}
        self._instance_numbers[id(value)] = len(self._instance_numbers)
        return {"class": class_id, "fields": parts}


class Decoder:
    """Turns JSON and arrays back into values."""

    def __init__(self, classes: ClassIds, array: Callable[[int], np.ndarray[Any, Any]]) -> None:
        self._classes = classes
        self._array = cache(array)
        self._instances: list[Any] = []

    def decode(self, tree: object) -> Any:
        """The value of a JSON tree."""
        if not isinstance(tree, dict):
            return tree
        match tree:
            case {"float": str(text)}:
                return float(text)
            case {"int": str(text)}:
                return int(text, 16)
            case {"bytes": str(text)}:
                return bytes.fromhex(text)
            case {"scalar": str(name), "value": value}:
                return _scalar(name)(self.decode(value))
            case {"array": int(number)}:
                return self._array(number)
            case {"tuple": list(items)}:
                return tuple(self.decode(item) for item in items)
            case {"list": list(items)}:
                return [self.decode(item) for item in items]
            case {"dict": list(pairs)}:
                return {self.decode(key): self.decode(item) for key, item in pairs}
            case {"enum": str(class_id), "value": value}:
                return self._classes.class_of(class_id)(self.decode(value))
            case {"class": str(class_id), "fields": dict(parts)}:
                build = self._classes.builder_of(class_id)
                self._instances.append(build(**{key: self.decode(part) for key, part in parts.items()}))
                return self._instances[-1]
            case {"again": int(number)} if 0 <= number < len(self._instances):
                return self._instances[number]
        raise ValueError(f"an entry with the keys {short_repr(sorted(tree))} is of no known kind.")


def _scalar(name: str) -> type:
    if name not in SCALARS:
        raise ValueError(f"it holds a scalar of the type {short_repr(name)}, which .save never writes.")
    return SCALARS[name]
