"""The reference pages say what the code says."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from gyrfalcon import theory
from gyrfalcon.registry import DOORS, public_entries
from tests.docs.blocks import ROOT

GENERATOR = ROOT / "docs" / "hooks" / "generate_reference.py"
REFERENCE = ROOT / "docs" / "reference"


@pytest.mark.parametrize("terminal", [{}, {"COLUMNS": "40", "FORCE_COLOR": "1", "TERM": "xterm-256color"}])
def test_the_pages_are_up_to_date_whatever_the_terminal(terminal: dict[str, str]) -> None:
    check = subprocess.run(
        [sys.executable, "-W", "error", str(GENERATOR), "--check"],
        env=os.environ | terminal,
        capture_output=True,
        text=True,
        check=False,
    )
    assert check.returncode == 0, check.stderr


def test_the_python_page_has_every_public_name_once() -> None:
    names = re.findall(r"^\| `(\w+)` \|", (REFERENCE / "python.md").read_text(encoding="utf-8"), re.MULTILINE)
    public = [entry.name for door in DOORS for entry in public_entries(door)]
    assert sorted([*public, *theory.__all__]) == sorted(names)


def test_the_command_page_has_every_command_with_its_options_and_examples() -> None:
    page = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    told = subprocess.run(
        [sys.executable, "-c", "from gyrfalcon.cli.main import run; run()", "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    commands = re.findall(r"^  ([a-z]+)  ", told, re.MULTILINE)
    assert {"demo", "simulate", "bounds", "learners"} <= set(commands)
    for command in commands:
        section = page.partition(f"\n## {command}\n")[2].partition("\n## ")[0]
        assert f"`gyrfalcon {command} " in section
        assert f"\ngyrfalcon {command}" in section
        assert "| `--" in section
