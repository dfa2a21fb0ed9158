"""The reference says what the code says."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from public_names import TOPICS, file_names, pages, topic_of

import gyrfalcon.theory
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


def test_every_public_name_is_in_exactly_one_topic() -> None:
    listed = [name for page in pages() if page.module == "gyrfalcon" for name in page.names]
    assert sorted(listed) == sorted(name for name in dir(gyrfalcon) if not name.startswith("_"))


def test_public_subpackages_have_a_page_of_their_own() -> None:
    by_module = {page.module: page.names for page in pages() if page.module != "gyrfalcon"}
    assert sorted(by_module["gyrfalcon.theory"]) == sorted(gyrfalcon.theory.__all__)


def test_no_topic_is_empty_and_one_without_a_subpackage_is_an_error() -> None:
    assert {page.title for page in pages() if page.module == "gyrfalcon"} == set(TOPICS)
    with pytest.raises(LookupError, match="give its subpackage a topic"):
        topic_of("gyrfalcon.elsewhere")


def test_no_two_names_have_the_same_file_on_a_disk_that_ignores_case() -> None:
    lowered = [file_name.lower() for file_name in file_names().values()]
    assert len(set(lowered)) == len(lowered)


def test_the_command_page_has_every_command_with_its_options_and_examples() -> None:
    page = PAGE.read_text(encoding="utf-8")
    printed = subprocess.run(
        [sys.executable, "-c", "from gyrfalcon.cli.main import run; run()", "--help"],
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
