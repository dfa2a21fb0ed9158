"""The fenced blocks of the documentation, and what each is to be tested by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")
_TITLE = re.compile(r'title="([^"]*)"')
_MARKER = re.compile(r"^ *<!-- (.*) -->$")


@dataclass(frozen=True)
class Block:
    """A fenced block: `kind` is the language behind the fence, `marker` the comment on the line before it."""

    line: int
    kind: str
    title: str | None
    marker: str | None
    text: str

    @property
    def has_prompts(self) -> bool:
        return self.kind == "python" and any(
            line.startswith(">>>") for line in dedent(self.text).splitlines()
        )


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks_of(text: str) -> list[Block]:
    """Every fenced block, in order; a fence that is never closed is refused."""
    lines = text.splitlines()
    found, number = [], 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        if opening is None:
            number += 1
            continue
        end = _closing(lines, number, opening)
        found.append(_block(lines, number, end, opening))
        number = end + 1
    return found


def write_files(blocks: list[Block], folder: Path) -> None:
    """Write every block that shows a file, under the file's name."""
    for block in blocks:
        if block.title not in (None, "prints"):
            (folder / str(block.title)).write_text(block.text + "\n", encoding="utf-8")


def _closing(lines: list[str], number: int, opening: re.Match[str]) -> int:
    fence = opening["fence"]
    for end in range(number + 1, len(lines)):
        bare = lines[end].strip()
        if len(bare) >= len(fence) and bare == fence[0] * len(bare):
            return end
    raise ValueError(f"the fence of line {number + 1} is never closed.")


def _block(lines: list[str], number: int, end: int, opening: re.Match[str]) -> Block:
    kind, _, rest = opening["info"].strip().partition(" ")
    title = _TITLE.search(rest)
    marker = _MARKER.match(lines[number - 1]) if number else None
    return Block(
        line=number + 1,
        kind=kind,
        title=title and title[1],
        marker=marker and marker[1],
        text=dedent("\n".join(lines[number + 1 : end])),
    )
