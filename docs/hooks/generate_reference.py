"""Write the reference pages from the code: `python docs/hooks/generate_reference.py [--check]`.

Help texts come from the command objects and first lines from docstrings, never from rendered help, so that
neither the width of a terminal nor its colours show.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from typer.main import get_command

from gyrfalcon import theory
from gyrfalcon.cli.main import app
from gyrfalcon.registry import DOORS, KINDS, entries_of

REFERENCE = Path(__file__).parents[1] / "reference"
NOTE = "<!-- Written by docs/hooks/generate_reference.py from the code: change that, and run it. -->"


def main() -> None:
    """Write the pages, or only say which are out of date."""
    pages = {"cli.md": cli_page(), "python.md": python_page()}
    stale = [name for name, text in pages.items() if _stored(name) != text]
    if "--check" in sys.argv[1:]:
        sys.exit(f"run docs/hooks/generate_reference.py: {', '.join(stale)} are out of date." if stale else 0)
    REFERENCE.mkdir(exist_ok=True)
    for name in stale:
        (REFERENCE / name).write_text(pages[name], encoding="utf-8")


def _stored(name: str) -> str | None:
    path = REFERENCE / name
    return path.read_text(encoding="utf-8") if path.exists() else None


def cli_page() -> str:
    """The page of all commands."""
    group: Any = get_command(app)
    context = group.make_context("gyrfalcon", [], resilient_parsing=True)
    commands = {name: group.get_command(context, name) for name in group.list_commands(context)}
    parts = [
        NOTE,
        "# Command line",
        group.help,
        _table(
            "command", ((f"[`{name}`](#{name})", _first_line(one.help)) for name, one in commands.items())
        ),
        "Every command has `--help`. These options stand before the command:",
        _table("option", _records(group.params, context)),
        "Tables are for people, and `--json` is for machines: numbers go to the standard output, and "
        "progress to the standard error. The exit code is 0 if all went well, 1 where something failed, 2 "
        "where the command line or a file can't be understood, and 130 after Ctrl-C.",
    ]
    for name, command in commands.items():
        parts += _command(name, command, context)
    return "\n\n".join(parts) + "\n"


def _command(name: str, command: Any, parent: Any) -> Iterator[str]:
    context = command.make_context(name, [], parent=parent, resilient_parsing=True)
    yield f"## {name}"
    yield _prose(command.help)
    yield f"`gyrfalcon {name} {' '.join(command.collect_usage_pieces(context))}`"
    groups: dict[str, list[Any]] = {}
    for param in command.params:
        default = "Arguments" if param.param_type_name == "argument" else "Options"
        groups.setdefault(getattr(param, "rich_help_panel", None) or default, []).append(param)
    for heading, params in groups.items():
        yield _table(heading.lower(), _records(params, context))
    if command.epilog:
        examples = "\n".join(line.strip() for line in command.epilog.strip().splitlines())
        yield "For example:"
        yield f"<!-- checked, not run: examples of the help, of any length -->\n```sh\n{examples}\n```"


def _records(params: Iterable[Any], context: Any) -> Iterator[tuple[str, str]]:
    for param in params:
        record = param.get_help_record(context)
        if record is not None:
            yield f"`{record[0]}`".replace("|", r"\|"), _escaped(" ".join(record[1].split()))


def python_page() -> str:
    """The page of all public names, in the order of the registry."""
    parts = [
        NOTE,
        "# Python",
        "What the public modules offer, in one line each; `help(name)` has the rest. Names are loaded when they "
        "are first used, so that importing the package costs next to nothing.",
    ]
    for door in DOORS:
        parts += [f"## {door}", _first_line(import_module(door).__doc__)]
        for kind, (home, title) in KINDS.items():
            if home == door:
                names = [entry.name for entry in entries_of(kind)]
                parts += [f"### {title}", _names(import_module(door), names)]
    parts += [
        "## gyrfalcon.theory",
        _first_line(theory.__doc__),
        _names(theory, sorted(theory.__all__, key=str.lower)),
    ]
    return "\n\n".join(parts) + "\n"


def _names(module: Any, names: list[str]) -> str:
    return _table("name", ((f"`{name}`", _line_of(module, name)) for name in names))


def _line_of(module: Any, name: str) -> str:
    value = getattr(module, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        return _escaped(_first_line(value.__doc__))
    if isinstance(value, float):
        return f"{value:.6g}"
    # Values of settings are listed; of a value with many parts, its kind will do.
    is_alias = type(value).__module__ == "typing"
    return (
        f"`{value!r}`".replace("typing.", "").replace("|", r"\|") if is_alias else f"`{type(value).__name__}`"
    )


def _table(heading: str, rows: Iterable[tuple[str, str]]) -> str:
    lines = [f"| {heading} | |", "|---|---|", *(f"| {left} | {right} |" for left, right in rows)]
    return "\n".join(lines)


def _prose(text: str) -> str:
    return "\n\n".join(_escaped(" ".join(part.split())) for part in inspect.cleandoc(text).split("\n\n"))


def _first_line(text: str | None) -> str:
    if not text or not text.strip():
        raise ValueError("a public name has no docstring; write one whose first line says what comes out.")
    return inspect.cleandoc(text).splitlines()[0]


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is, but for code between backticks.

    >>> print(_escaped("f* of `a*b` | x_1"))
    f\\* of `a*b` \\| x_1
    """
    pieces = text.replace("|", r"\|").split("`")
    pieces[::2] = [
        piece.replace("*", r"\*").replace("<", "&lt;").replace("[", r"\[") for piece in pieces[::2]
    ]
    return "`".join(pieces)


if __name__ == "__main__":
    main()
