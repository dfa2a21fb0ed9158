"""The built site loads nothing from another host, is searched from a disk, and its links lead somewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from public_names import file_names

from tests.docs.blocks import PAGES, ROOT

# What a page loads by itself; an <a href> is followed only by a reader.
_LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}
_FETCHED_BY_STYLE = re.compile(r"url\(\s*['\"]?(?!data:)([^)'\"]+)|@import\s+['\"]([^'\"]+)")


@pytest.fixture(scope="module")
def site() -> Path:
    folder = ROOT / "site"
    assert (folder / "index.html").is_file(), "the documentation is not built; run make docs."
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
    # The theme keeps a template among its static files.
    return {path: Page(path) for path in sorted(site.rglob("*.html")) if path.parent.name != "_static"}


def _is_elsewhere(address: str) -> bool:
    return re.match(r"[a-z]+:|//", address) is not None and not address.startswith("data:")


@pytest.mark.site
def test_no_page_loads_anything_from_another_host(pages: dict[Path, Page]) -> None:
    requested = {address for page in pages.values() for address in page.loaded if _is_elsewhere(address)}
    assert not requested


@pytest.mark.site
def test_no_style_fetches_anything_from_another_host(site: Path, pages: dict[Path, Page]) -> None:
    sheets = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    sheets += [style for page in pages.values() for style in page.styles]
    requested = {first or second for sheet in sheets for first, second in _FETCHED_BY_STYLE.findall(sheet)}
    assert not {address for address in requested if _is_elsewhere(address)}


@pytest.mark.site
def test_search_reads_its_index_as_a_script_which_a_browser_allows_from_a_disk(
    site: Path, pages: dict[Path, Page]
) -> None:
    assert any(address.startswith("searchindex.js") for address in pages[site / "search.html"].loaded)
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert index.startswith("Search.setIndex(")
    assert "propens" in index


@pytest.mark.site
def test_links_within_the_site_lead_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            if _is_elsewhere(link) or not link:
                continue
            target, anchor = urldefrag(link)
            found = (path.parent / unquote(target.partition("?")[0])).resolve() if target else path
            if not found.is_file() or (anchor and found in pages and anchor not in pages[found].anchors):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert not broken


@pytest.mark.site
def test_every_page_and_every_public_name_is_in_the_site(site: Path) -> None:
    for page in PAGES:
        if page.name != "README.md":
            assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).is_file()
    for name, file_name in file_names().items():
        page = site / "reference" / "api" / f"{file_name}.html"
        assert f'id="{name}"' in page.read_text(encoding="utf-8")


def test_links_between_files_of_a_source_checkout_lead_somewhere() -> None:
    link = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)")
    for page in [*PAGES, *ROOT.glob("*.md")]:
        for target in link.findall(page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"
