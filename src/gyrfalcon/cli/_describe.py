"""Descriptions of learners and environments, read from their signatures and numpydoc docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name, its default as one would write it (None if required), and its meaning."""

    name: str
    default: str | None
    meaning: str


@dataclass(frozen=True, slots=True)
class Description:
    """Summary line, further paragraphs and settings of a class."""

    name: str
    summary: str
    paragraphs: tuple[str, ...]
    settings: tuple[Setting, ...]


def describe(name: str, maker: Callable[..., Any]) -> Description:
    """The description of a learner or an environment, with what its section "Parameters" says.

    >>> from gyrfalcon.environments import StepExample
    >>> describe("StepExample", StepExample).settings
    (Setting(name='noise', default='0.1', meaning='Standard deviation of the rewards around their means.'),)
    """
    prose, meanings = _parts(inspect.getdoc(maker) or "")
    summary, *paragraphs = prose or [name]
    settings = tuple(
        Setting(parameter.name, _default(parameter), meanings.get(parameter.name, ""))
        for parameter in inspect.signature(maker).parameters.values()
    )
    return Description(name, summary, tuple(paragraphs), settings)


def short(value: object) -> str:
    """A default as one would write it, long ones without what is left at the default.

    >>> from gyrfalcon.oracles.linear.linear import Linear
    >>> short(Linear(ridge=1.0)), short("all")
    ('Linear(ridge=1.0)', "'all'")
    """
    if not is_dataclass(value) or isinstance(value, type):
        return f"{value:.6g}" if isinstance(value, float) and value >= 1000 else repr(value)
    given = [
        (field.name, getattr(value, field.name), _default_of(field)) for field in fields(value) if field.init
    ]
    few = len(given) <= 3  # numbers of a schedule are worth showing even at their defaults
    shown = ", ".join(
        f"{name}={short(now)}" for name, now, default in given if (few and now is not None) or now != default
    )
    return f"{type(value).__name__}({shown})"


def _default(parameter: inspect.Parameter) -> str | None:
    return None if parameter.default is inspect.Parameter.empty else short(parameter.default)


def _default_of(field: Any) -> object:
    return field.default_factory() if field.default_factory is not MISSING else field.default


def _parts(docstring: str) -> tuple[list[str], dict[str, str]]:
    """The paragraphs before any section, and the meanings under "Parameters"."""
    before, _, after = docstring.partition("\nParameters\n")
    prose = [" ".join(block.split()) for block in _prose_blocks(before)]
    return prose, dict(_entries(re.split(r"\n\w+\n-+\n", after)[0]))


def _prose_blocks(text: str) -> Iterator[str]:
    for block in re.split(r"\n\s*\n", text):
        if block.lstrip().startswith((">>>", "Examples\n")):
            return
        if block.strip():
            yield block


def _entries(section: str) -> Iterator[tuple[str, str]]:
    """Names and texts of a section in which names stand at the margin and texts are indented."""
    for entry in re.split(r"\n(?=\w)", section.strip("\n")):
        names, _, text = entry.partition("\n")
        for name in names.partition(":")[0].split(","):
            yield name.strip(), " ".join(text.split())
