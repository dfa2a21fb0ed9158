"""What an object is, as plain data: the basis of content keys, of labels, and of settings in results.

Two objects with the same content are the same learner or environment to a sweep. Content is the class's name
and all its settings, defaults too. The code of a class is not part of it: when you change what your own
class does, change its name or a setting as well, or begin a new folder of results.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from hashlib import sha256
from inspect import isfunction
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.environments.data.classification import Classification
from gyrfalcon.environments.data.logged_replay import LoggedReplay
from gyrfalcon.environments.data.named import NamedSet
from gyrfalcon.oracles.regressors.spec import Estimator, estimator_of
from gyrfalcon.sweeps.registry import PARTS

_KEYED = 'Keyed(object, key="a name of yours")'
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True)
class Keyed:
    """An object with a key chosen by the user, for objects without readable content.

    The key is all that a sweep knows of the object: change it whenever the object changes.

    Parameters
    ----------
    value : object
        The learner or environment.
    key : str
        Name of the object in keys and labels of results.
    """

    value: Any
    key: str

    def __post_init__(self) -> None:
        key: object = self.key
        if not isinstance(key, str) or not key.strip():
            raise ValueError(f"key is {self.key!r}; give a name for the object, such as 'my learner 1'.")


def settings_of(value: object) -> Any:
    """The object as plain data, from which registered classes can be built again.

    >>> from gyrfalcon.core.schedules import Geometric
    >>> settings_of(Geometric(ratio=3))
    {'name': 'Geometric', 'first': 100, 'ratio': 3.0, 'longest': None}
    """
    match value:
        case Enum():
            return settings_of(value.value)
        case np.generic():
            return settings_of(value.item())
        case bool() | int() | float() | str() | None:
            return value
        case bytes():
            return {"bytes": value.hex()}
        case tuple() | list():
            return tuple(settings_of(item) for item in value)
        case Mapping():
            pairs = [(settings_of(key), settings_of(item)) for key, item in value.items()]
            return {"mapping": tuple(sorted(pairs, key=lambda pair: as_text(pair[0])))}
        case set() | frozenset():
            return {"set": tuple(sorted(map(settings_of, value), key=as_text))}
        case np.ndarray():
            return _array(value)
        case Keyed():
            return {"key": value.key}
        case Estimator():
            return {"name": value.name, **{key: settings_of(one) for key, one in value.params}}
    return _of_object(value)


def label_of(value: object) -> str:
    """The object as people read it: its name, and those settings that are not the defaults.

    >>> from gyrfalcon.learners.optimistic.linucb import LinUCB
    >>> label_of(LinUCB(alpha=0.3)), label_of(LinUCB())
    ('LinUCB(alpha=0.3)', 'LinUCB')
    """
    match value:
        case Enum() | np.generic():
            return repr(settings_of(value))
        case Keyed():
            return value.key
        case NamedSet():
            chosen = {key: one for key, one in _chosen(value) if key not in ("data_set", "content")}
            return _call(value.data_set, chosen)
        case Classification() | LoggedReplay() | Estimator():
            return repr(value)
        case tuple() | list():
            comma = "," if len(value) == 1 else ""
            return f"({', '.join(map(label_of, value))}{comma})"
        case np.ndarray():
            return f"array({_array(value)['array'][:8]})"
    if is_dataclass(value) and not isinstance(value, type):
        return _call(name_of(type(value)), dict(_chosen(value)))
    return str(settings_of(value)["function"]) if isfunction(value) else repr(value)


def as_text(data: object) -> str:
    """Plain data as JSON that is the same for the same data."""
    return json.dumps(_for_json(data), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def settings_digest(data: object) -> str:
    """32 hexadecimal digits of plain data, half of a SHA-256.

    >>> settings_digest({"a": 1, "b": (1.5, None)}) == settings_digest({"b": (1.5, None), "a": 1})
    True
    """
    return sha256(as_text(data).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def name_of(cls: type) -> str:
    """The name of a class in the registry, and with its module if it is not there."""
    known = PARTS.get(cls.__name__)
    return cls.__name__ if known is cls else f"{_module_of(cls)}.{cls.__qualname__}"


def _module_of(value: Any) -> str:
    """The module's name; that of the file for a script, as all scripts are `__main__` to Python."""
    if value.__module__ != "__main__":
        return str(value.__module__)
    script = sys.modules["__main__"]
    if getattr(script, "__spec__", None) is not None:
        return str(script.__spec__.name)  # type: ignore[union-attr]
    file = getattr(script, "__file__", None)
    return Path(file).stem if file else "__main__"


def _of_object(value: object) -> Any:
    if isinstance(value, NamedSet):
        return {"name": value.data_set, **{k: v for k, v in _settings(value) if k != "data_set"}}
    if isinstance(value, Classification | LoggedReplay):
        return {"name": name_of(type(value)), "repr": repr(value)}  # it has a digest of the data
    if is_dataclass(value) and not isinstance(value, type):
        found = dict(_settings(value))
        name = name_of(type(value))
        # A setting that is itself called name would hide the class.
        return {"name": name, "settings": found} if "name" in found else {"name": name, **found}
    if isinstance(value, type) or isfunction(value):
        return {"function": _importable(value)}
    if hasattr(type(value), "get_params") and hasattr(value, "fit"):
        return settings_of(estimator_of(value))
    return {"name": name_of(type(value)), "repr": _stable_repr(value)}


def _settings(value: Any) -> Iterator[tuple[str, Any]]:
    hints = _hints(type(value))
    for field in _init_fields(value):
        yield field.name, settings_of(_as_annotated(hints.get(field.name), getattr(value, field.name)))


def _chosen(value: Any) -> Iterator[tuple[str, Any]]:
    """The settings that are not the defaults, as values."""
    hints = _hints(type(value))
    for field in _init_fields(value):
        one = _as_annotated(hints.get(field.name), getattr(value, field.name))
        if as_text(settings_of(one)) != as_text(_default(field, hints)):
            yield field.name, one


def _default(field: Field[Any], hints: Mapping[str, Any]) -> Any:
    if field.default is MISSING and field.default_factory is MISSING:
        return {"default": None}  # which no value has
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return settings_of(_as_annotated(hints.get(field.name), default))


def _init_fields(value: Any) -> list[Field[Any]]:
    return [field for field in fields(value) if field.init]


def _hints(cls: type) -> Mapping[str, Any]:
    try:
        return get_type_hints(cls)
    except (NameError, TypeError, AttributeError):
        return {}  # names that only a type checker imports


def _as_annotated(hint: Any, value: Any) -> Any:
    """A whole number as a float where that is meant: 1 and 1.0 are one setting."""
    kinds = _kinds(hint)
    value = value.item() if isinstance(value, np.integer) else value
    return float(value) if type(value) is int and float in kinds and int not in kinds else value


def _kinds(hint: Any) -> set[Any]:
    return {hint}.union(*map(_kinds, get_args(hint))) if get_origin(hint) in (UnionType, Union) else {hint}


def _call(name: str, chosen: Mapping[str, Any]) -> str:
    settings = ", ".join(f"{key}={label_of(one)}" for key, one in chosen.items())
    return f"{name}({settings})" if settings else name


def _array(value: np.ndarray[Any, Any]) -> dict[str, Any]:
    if value.dtype.hasobject:
        content = as_text(settings_of(value.ravel().tolist())).encode("utf-8", "surrogatepass")
    else:
        content = np.ascontiguousarray(value).tobytes()
    return {"array": sha256(content).hexdigest()[:32], "shape": value.shape, "dtype": value.dtype.str}


def _importable(value: Any) -> str:
    if "<" in value.__qualname__:
        raise ValueError(
            f"{value.__qualname__} has no name that would be the same in the next program; "
            f"define it at the top of a module, or wrap what holds it as {_KEYED}."
        )
    return f"{_module_of(value)}.{value.__qualname__}"


def _stable_repr(value: object) -> str:
    text = repr(value)
    if type(value).__repr__ is object.__repr__ or _ADDRESS.search(text):
        problem = "its repr is an address in memory"
    elif "..." in text:
        problem = "its repr is cut short"
    else:
        return text
    raise ValueError(
        f"{short_repr(value)} has no content to key its results by, as {problem}; "
        f"make {type(value).__name__} a "
        f"frozen dataclass, or wrap the object as {_KEYED}."
    )


def _for_json(data: object) -> object:
    match data:
        case float() if not math.isfinite(data):
            return {"float": repr(data)}
        case Mapping():
            return {str(key): _for_json(item) for key, item in data.items()}
        case tuple() | list():
            return [_for_json(item) for item in data]
    return data
