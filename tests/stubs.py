"""Stubs of the public modules, for type checkers: `python -m tests.stubs` writes them from the registry."""

from __future__ import annotations

from pathlib import Path

from gyrfalcon.registry import DOORS, MODULES, public_entries

SOURCE = Path(__file__).parents[1] / "src"
NOTE = "# Written by `make stubs` from gyrfalcon/public_names.py: change that, and run it."


def stub_path(door: str) -> Path:
    """Where the stub of a public module stands."""
    folder = SOURCE.joinpath(*door.split("."))
    return folder / "__init__.pyi" if folder.is_dir() else folder.with_suffix(".pyi")


def stub_of(door: str) -> str:
    """The text of the stub of a public module."""
    found = [(f"gyrfalcon.{entry.home}", entry.name) for entry in public_entries(door)]
    if door == "gyrfalcon":
        found += [(door, module) for module in MODULES]
    imports = [_import(home, name) for home, name in sorted(found)]
    version = ["__version__: str"] if door == "gyrfalcon" else []
    return "\n".join([NOTE, *imports, "", "__all__: list[str]", *version]) + "\n"


def _import(home: str, name: str) -> str:
    line = f"from {home} import {name} as {name}"
    # As the formatter has it.
    return line if len(line) <= 110 else f"from {home} import (\n    {name} as {name},\n)"


if __name__ == "__main__":
    for public in DOORS:
        stub_path(public).write_text(stub_of(public), encoding="utf-8")
