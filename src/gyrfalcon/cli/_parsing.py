"""Parsing of what is typed: whole numbers, and settings such as `alpha=0.3` or `model_class.ridge=1`."""

from __future__ import annotations

import inspect
import math
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import typer

_WORDS = {"none": None, "true": True, "false": False}
Settings = dict[str, Any]


def whole(text: str | int) -> int:
    """The whole number given for an option; a usage error if it is not one."""
    try:
        return whole_number(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def whole_number(text: str | int) -> int:
    """The whole number of a text; 1e6 and 1_000_000 are a million.

    >>> whole_number("1e6"), whole_number("50_000"), whole_number(7)
    (1000000, 50000, 7)
    """
    try:
        return int(text)
    except ValueError:
        value = _float(str(text))
    if not (math.isfinite(value) and value == math.floor(value)):
        raise ValueError(f"{text!r} is not a whole number; give one like 50000 or 1e6.")
    return int(value)


def check_file_place(option: str, path: str | os.PathLike[str] | None) -> None:
    """Refuse a file that could not be written, before anything is computed for it."""
    if path is None:
        return
    name, folder = os.fspath(path), Path(path).parent
    if Path(path).is_dir():
        raise ValueError(f"{option} is {name!r}, which is a folder; give the name of a file.")
    if Path(path).exists() and not Path(path).is_file():
        raise ValueError(f"{option} is {name!r}, which is no file that can be replaced; give another path.")
    if not folder.is_dir():
        raise ValueError(
            f"{option} is {name!r}, and there is no folder {str(folder)!r}; make it, or give another path."
        )
    if not os.access(folder, os.W_OK):
        raise ValueError(
            f"{option} is {name!r}, and nothing may be written to {str(folder)!r}; give another path."
        )


def typed_settings(texts: Iterable[str], option: str) -> Settings:
    """Settings as a nested dictionary; a setting that is given twice is refused.

    >>> typed_settings(["alpha=0.3", "model_class.basis.degree=2", "data=all"], "--set")
    {'alpha': 0.3, 'model_class': {'basis': {'degree': 2}}, 'data': 'all'}
    """
    settings: Settings = {}
    for text in texts:
        path, equals, value = text.partition("=")
        names = [name.strip() for name in path.split(".")]
        if not equals or not all(names):
            raise ValueError(f"{option} {text!r} is no setting; give one like {option} noise=0.2.")
        _put(settings, names, typed_value(value), f"{option} {text!r}")
    return settings


def typed_value(text: str) -> Any:
    """The value of a TOML literal; None, numbers such as `.3` and unquoted text are accepted too.

    >>> [typed_value(text) for text in ("3", ".3", "true", "None", "[1, 2]", "all", '"all"')]
    [3, 0.3, True, None, [1, 2], 'all', 'all']
    """
    word = text.strip()
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    try:
        table = tomllib.loads(f"value = {word}")
    except tomllib.TOMLDecodeError:
        return _number_or_text(word)
    return table["value"] if len(table) == 1 else word


def completed(settings: Mapping[str, Any], maker: Callable[..., Any]) -> Settings:
    """Settings in which a part without a name is the default part with some settings changed.

    >>> from gyrfalcon.learners.baselines.greedy import Greedy
    >>> completed({"schedule": {"first": 50}}, Greedy)
    {'schedule': {'name': 'Geometric', 'first': 50, 'ratio': 1.5, 'longest': None}}
    """
    from gyrfalcon.sweeps.content_key import settings_of

    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(maker).parameters.items()
        if parameter.default is not inspect.Parameter.empty
    }
    return {key: _merged(settings_of(defaults.get(key)), value) for key, value in settings.items()}


def _put(settings: Settings, names: list[str], value: Any, place: str) -> None:
    *path, last = names
    for name in path:
        inner = settings.setdefault(name, {})
        settings = inner if isinstance(inner, dict) else {last: inner}
    if last in settings:
        raise ValueError(
            f"{place} is given twice, or there is a value that it is a part of; give one of them."
        )
    settings[last] = value


def _number_or_text(word: str) -> float | str:
    try:
        return float(word)
    except ValueError:
        return word


def _merged(default: Any, given: Any) -> Any:
    """The given settings over the defaults, unless they name another part."""
    if not isinstance(given, dict) or not isinstance(default, dict) or "name" in given:
        return given
    return {**default, **{key: _merged(default.get(key), value) for key, value in given.items()}}


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
