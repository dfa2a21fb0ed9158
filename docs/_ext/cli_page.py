"""Write the reference of the command line from the code: `python docs/_ext/cli_page.py [--check]`.

Help texts come from the command objects, never from rendered help, so that neither the width of a terminal
nor its colours show.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from gyrfalcon_paper.cli.main import app

PAGE = Path(__file__).parents[1] / "reference" / "cli.md"
NOTE = "<!-- Written by docs/_ext/cli_page.py from the code: change that, and run `make reference`. -->"


def main() -> None:
    """Write the page, or only say that it is out of date."""
    text = cli_page()
    stored = PAGE.read_text(encoding="utf-8") if PAGE.exists() else None
    if "--check" in sys.argv[1:]:
        sys.exit(f"{PAGE.name} is out of date; run `make reference`." if stored != text else 0)
    PAGE.write_text(text, encoding="utf-8")


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


def _table(heading: str, rows: Iterable[tuple[str, str]]) -> str:
    lines = [f"| {heading} | |", "|---|---|", *(f"| {left} | {right} |" for left, right in rows)]
    return "\n".join(lines)


def _prose(text: str) -> str:
    return "\n\n".join(_escaped(" ".join(part.split())) for part in inspect.cleandoc(text).split("\n\n"))


def _first_line(text: str | None) -> str:
    if not text or not text.strip():
        raise ValueError("a command has no help; write a docstring whose first line says what it does.")
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
