"""The site builds without a warning, asks no other host for anything, and its links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from tests.docs.blocks import PAGES, ROOT

# What a page loads by itself; an <a href> is followed only by a reader.
_LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}
_FETCHED_BY_STYLE = re.compile(r"url\(\s*['\"]?(?!data:)([^)'\"]+)|@import\s+['\"]([^'\"]+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    # The theme's own words about its future are no warning of ours.
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    return folder


class Page(HTMLParser):
    """What an HTML page loads, links to, and can be linked to at."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.styles: list[str] = []
        self._in_style = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag in _LOADED and _LOADED[tag] in values:
            self.loaded.append(values[_LOADED[tag]])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if "style" in values:
            self.styles.append(values["style"])
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        self._in_style = tag == "style"

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.styles.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def _is_elsewhere(address: str) -> bool:
    return re.match(r"[a-z]+:|//", address) is not None and not address.startswith("data:")


def test_no_page_loads_anything_from_another_host(pages: dict[Path, Page]) -> None:
    asked = {address for page in pages.values() for address in page.loaded if _is_elsewhere(address)}
    assert not asked


def test_no_style_fetches_anything_from_another_host(site: Path, pages: dict[Path, Page]) -> None:
    sheets = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    sheets += [style for page in pages.values() for style in page.styles]
    asked = {first or second for sheet in sheets for first, second in _FETCHED_BY_STYLE.findall(sheet)}
    assert not {address for address in asked if _is_elsewhere(address)}


def test_no_page_has_what_would_make_the_theme_s_script_fetch_more(pages: dict[Path, Page]) -> None:
    # Diagrams and repository facts are what it loads from elsewhere, and only where a page asks for them.
    for page in pages.values():
        text = page.path.read_text(encoding="utf-8")
        assert 'class="mermaid"' not in text
        assert 'data-md-component="source"' not in text


def test_links_within_the_site_lead_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":  # its links are for a site at the root of a host
            continue
        for link in [*page.links, *page.loaded]:
            if _is_elsewhere(link) or not link:
                continue
            target, anchor = urldefrag(link)
            found = (path.parent / unquote(target)).resolve() if target else path
            found = found / "index.html" if found.is_dir() else found
            if not found.is_file() or (anchor and found in pages and anchor not in pages[found].anchors):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert not broken


def test_every_page_of_the_documentation_is_in_the_site(site: Path) -> None:
    for page in PAGES:
        if page.name != "README.md":
            assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).is_file()
    assert (site / "project" / "architecture.html").is_file()


def test_links_between_files_of_a_source_checkout_lead_somewhere() -> None:
    link = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)")
    for page in [*PAGES, *ROOT.glob("*.md")]:
        for target in link.findall(page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"
