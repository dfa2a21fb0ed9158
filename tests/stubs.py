"""Stubs of the public modules, for type checkers: `python -m tests.stubs` writes them from the registry."""

from __future__ import annotations

from pathlib import Path

from gyrfalcon.registry import DOORS, MODULES, public_entries

SOURCE = Path(__file__).parents[1] / "src"
NOTE = "# Written by `make stubs` from gyrfalcon/registry.py: change that, and run it."


def stub_path(door: str) -> Path:
    """Where the stub of a public module stands."""
    folder = SOURCE.joinpath(*door.split("."))
    return folder / "__init__.pyi" if folder.is_dir() else folder.with_suffix(".pyi")


def stub_of(door: str) -> str:
    """The text of the stub of a public module."""
    found = [(f"gyrfalcon.{entry.home}", entry.name) for entry in public_entries(door)]
    if door == "gyrfalcon":
        found += [(door, module) for module in MODULES]
    imports = [f"from {home} import {name} as {name}" for home, name in sorted(found)]
    version = ["", "__version__: str"] if door == "gyrfalcon" else []
    return "\n".join([NOTE, *imports, *version]) + "\n"


if __name__ == "__main__":
    for public in DOORS:
        stub_path(public).write_text(stub_of(public), encoding="utf-8")
