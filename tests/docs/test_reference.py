"""The reference says what the code says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest
from public_names import file_names, pages

from gyrfalcon import registry, theory
from tests.docs.blocks import ROOT

GENERATOR = ROOT / "docs" / "_ext" / "cli_page.py"
PAGE = ROOT / "docs" / "reference" / "cli.md"


@pytest.mark.parametrize("terminal", [{}, {"COLUMNS": "40", "FORCE_COLOR": "1", "TERM": "xterm-256color"}])
def test_the_command_page_is_up_to_date_whatever_the_terminal(terminal: dict[str, str]) -> None:
    check = subprocess.run(
        [sys.executable, "-W", "error", str(GENERATOR), "--check"],
        env=os.environ | terminal,
        capture_output=True,
        text=True,
        check=False,
    )
    assert check.returncode == 0, check.stderr


@pytest.mark.parametrize("door", [*registry.DOORS, "gyrfalcon.theory"])
def test_every_public_name_of_a_module_is_on_exactly_one_page(door: str) -> None:
    listed = [name for page in pages() if page.module == door for name in page.names]
    module = import_module(door)
    public = [name for name in module.__all__ if not isinstance(getattr(module, name), ModuleType)]
    assert sorted(listed) == sorted(name for name in public if not name.startswith("_"))


def test_a_module_is_introduced_once_and_no_page_is_empty() -> None:
    introduced = [page.module for page in pages() if page.introduces]
    assert sorted(introduced) == sorted({*registry.DOORS, theory.__name__} - {"gyrfalcon"})
    assert all(page.names for page in pages())
    assert all(page.text for page in pages() if page.introduces)


def test_no_two_pages_have_the_same_address() -> None:
    slugs = [page.slug for page in pages()]
    assert len(set(slugs)) == len(slugs)


def test_no_two_names_have_the_same_file_on_a_disk_that_ignores_case() -> None:
    lowered = [file_name.lower() for file_name in file_names().values()]
    assert len(set(lowered)) == len(lowered)


def test_the_command_page_has_every_command_with_its_options_and_examples() -> None:
    page = PAGE.read_text(encoding="utf-8")
    printed = subprocess.run(
        [sys.executable, "-c", "from gyrfalcon_paper.cli.main import run; run()", "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    commands = re.findall(r"^  ([a-z]+)  ", printed, re.MULTILINE)
    assert {"demo", "simulate", "bounds", "learners"} <= set(commands)
    for command in commands:
        section = page.partition(f"\n## {command}\n")[2].partition("\n## ")[0]
        assert f"`gyrfalcon {command} " in section
        assert f"\ngyrfalcon {command}" in section
        assert "| `--" in section
