"""Running what a page shows, in the page's order and in one folder."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.docs.blocks import ROOT, Block

NOT_RUN = "checked, not run: "
"""What a comment before a block of commands starts with, followed by the reason."""

# Commands that change the machine, or never end. What they name is checked instead.
_SETTING_UP = re.compile(
    r"make [a-z-]+|cd gyrfalcon|git clone \S+|python -m venv \.venv|\. \.venv/bin/activate"
    r"|pip install \S+|python -m http\.server --directory site"
)
_EXTRAS = re.compile(r"pip install '?(?:gyrfalcon|\.)\[([a-z,]+)\]'?")
_BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Command:
    """A command, and the lines that a page shows as its output; none means that none are shown."""

    text: str
    output: str


def commands_of(block: Block) -> list[Command]:
    """The commands of a `console` block, behind dollar signs, or of a `sh` block, one a line."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.kind != "console":
        return [Command(_bare(line), "") for line in lines if _bare(line)]
    commands: list[Command] = []
    for line in lines:
        if line.startswith("$ "):
            commands.append(Command(_bare(line[2:]), ""))
        elif not commands:
            raise ValueError(f"the console of line {block.line} shows an output without a command.")
        else:
            commands[-1] = Command(commands[-1].text, commands[-1].output + line + "\n")
    return commands


def run(blocks: list[Block], folder: Path) -> None:
    """Run the page: titled blocks are files, a text with the title "prints" is what was just printed."""
    printed = ""
    for block in blocks:
        if block.title == "prints":
            assert agrees(printed, block.text), f"line {block.line}: printed was\n{printed}"
        elif block.title is not None:
            (folder / block.title).write_text(block.text + "\n", encoding="utf-8")
        if block.kind == "python" and not block.has_prompts:
            printed = _run_script(block, folder)
        elif block.kind in {"console", "sh", ""}:
            for command in commands_of(block):
                printed = _run_command(command, block, folder)
        elif block.kind == "toml":
            _check_toml(block, folder)
        elif block.kind == "json":
            json.loads(block.text)


def agrees(printed: str, shown: str) -> bool:
    """Whether an output is as shown, up to spaces at the ends of lines; three dots stand for any lines.

    >>> agrees("a\\nb\\nc\\n", "a\\n...\\nc"), agrees("a\\n", "b")
    (True, False)
    """
    lines = [re.escape(line.rstrip()) + r"\n" for line in shown.strip("\n").splitlines()]
    pattern = "".join(r"(?:.*\n)*?" if line == r"\.\.\.\n" else line for line in lines)
    text = "".join(line.rstrip() + "\n" for line in printed.strip("\n").splitlines())
    return re.fullmatch(pattern, text) is not None


def _bare(command: str) -> str:
    return re.sub(r"\s#\s.*", "", command).strip()


def _run_script(block: Block, folder: Path) -> str:
    source = ["-c", block.text] if block.title is None else [block.title]
    return _ran([sys.executable, "-W", "error", *source], block, folder)


def _run_command(command: Command, block: Block, folder: Path) -> str:
    if _SETTING_UP.fullmatch(command.text):
        check_names(command.text)
        return ""
    assert command.text.startswith(("gyrfalcon ", "ls ", "cat ")), (
        f"line {block.line}: {command.text!r} is neither run nor known as a command that is not."
    )
    if (block.marker or "").startswith(NOT_RUN):
        check_arguments(shlex.split(command.text)[1:])
        return ""
    printed = _ran(["bash", "-euo", "pipefail", "-c", command.text], block, folder)
    assert not command.output or agrees(printed, command.output), f"{command.text} printed\n{printed}"
    return printed


def _ran(arguments: list[str], block: Block, folder: Path) -> str:
    environment = os.environ | {
        "PATH": f"{_BIN}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"line {block.line} ended with {done.returncode}:\n{done.stderr}"
    return done.stdout


def _check_toml(block: Block, folder: Path) -> None:
    from gyrfalcon.sweeps.grid import Grid

    tomllib.loads(block.text)
    if block.title is not None:  # a whole file; others are parts of one
        assert Grid.from_toml(folder / block.title).cells


def check_names(command: str) -> None:
    """Refuse a target that the Makefile does not have, and an extra that the package does not have."""
    if command.startswith("make "):
        target = command.removeprefix("make ")
        assert f"\n{target}:" in (ROOT / "Makefile").read_text(), f"there is no make {target}."
    if extras := _EXTRAS.fullmatch(command):
        known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        assert set(extras[1].split(",")) <= set(known), f"{command} names an extra that does not exist."


def check_arguments(arguments: list[str]) -> None:
    """Parse a command line as `gyrfalcon` would, and stop there."""
    from typer.main import get_command

    from gyrfalcon_paper.cli.main import app

    group = get_command(app)
    context = group.make_context("gyrfalcon", arguments)
    name, command, rest = group.resolve_command(context, arguments)  # type: ignore[attr-defined]
    command.make_context(name, rest, parent=context)
