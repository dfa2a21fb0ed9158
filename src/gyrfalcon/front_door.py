"""What a public module needs in order to offer the registry's names, each loaded when it is first used."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from gyrfalcon.registry import MODULES, door_of, public_entries


def front_door(door: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a public module, whose names are loaded when used."""
    known = {entry.name: entry for entry in public_entries(door)}
    modules = MODULES if door == "gyrfalcon" else ()

    @cache
    def load(name: str) -> Any:
        if name in known:
            return known[name].load()
        if name in modules:
            return import_module(f"{door}.{name}")
        place = door_of(name)
        remedy = "" if place is None else f"; it is {place}.{name}"
        raise AttributeError(f"module {door!r} has no attribute {name!r}{remedy}")

    def names() -> list[str]:
        special = (name for name in vars(import_module(door)) if name.startswith("__"))
        return sorted({*special, *known, *modules})

    return load, names, list(known)
