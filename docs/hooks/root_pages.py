"""Pages of the site that stand at the root of the repository, where people look for them first."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
PAGES = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
}
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:)([^)#\s]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The site's files with these pages among them."""
    for source, page in PAGES.items():
        text = relinked((ROOT / source).read_text(encoding="utf-8"), page)
        files.append(File.generated(config, page, content=text))
    return files


def relinked(text: str, page: str) -> str:
    """The text of a file at the root with its links as they are from this page.

    >>> relinked("[why](docs/decisions/0005-late-rewards.md)", "project/architecture.md")
    '[why](../decisions/0005-late-rewards.md)'
    """
    folder = posixpath.dirname(page)
    return _LINK.sub(lambda link: posixpath.relpath(_target(link[1]), folder), text)


def _target(link: str) -> str:
    """Where a link from the root leads to, seen from the folder of pages."""
    return PAGES.get(link) or link.removeprefix("docs/")
