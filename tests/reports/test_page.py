from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.reports.page import Mark, Page, Section, Table, marked, plain

VOID = {"meta", "img", "link", "br", "hr"}
PIXEL = b"\x89PNG\r\n"


class Elements(HTMLParser):
    """What a browser would find: its elements, each closed within the one that it is in, and all text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def whole_page() -> Page:
    table = Table(
        ["what", "n", ""],
        [["a < b", 12345, Mark("holds", True)], ["c", 0.123456, Mark("erratum", False)]],
        "Numbers",
    )
    inner = Section("Inner & deep", ["text"], table=table)
    picture = Section(
        "Seen", ["<i>x</i>"], figure=PIXEL, caption='A "<b>curve</b>"', files={"data": "data/a.csv"}
    )
    return Page("Title <1>", "lead", [picture, Section("Outer", sections=[inner])], footer="end")


def test_a_page_is_well_formed_and_needs_nothing_from_elsewhere() -> None:
    elements = Elements(whole_page().html())
    sources = [attributes["src"] for attributes in elements.all("img")]
    assert sources
    assert all(source and source.startswith("data:image/") for source in sources)
    assert not elements.all("script")
    assert not elements.all("link")
    assert "http" not in whole_page().html()
    assert "@import" not in whole_page().html()
    assert "url(" not in whole_page().html()


def test_contents_lead_to_every_section_and_nowhere_else() -> None:
    elements = Elements(whole_page().html())
    targets = [f"#{attributes['id']}" for attributes in elements.all("section")]
    links = [
        attributes["href"] for attributes in elements.all("a") if (attributes["href"] or "").startswith("#")
    ]
    assert links == targets == ["#section-1", "#section-2", "#section-2.1"]


def test_headings_go_one_level_at_a_time() -> None:
    levels = [int(tag[1]) for tag, _ in Elements(whole_page().html()).found if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_verdicts_are_words_and_signs_as_well_as_colours() -> None:
    text = Elements(whole_page().html()).text
    assert "✓ holds" in text
    assert "✗ erratum" in text
    assert "12,345" in text
    assert "0.1235" in text


def test_pictures_are_described_by_their_captions() -> None:
    (image,) = Elements(whole_page().html()).all("img")
    assert image["alt"] == 'A "curve"'


@pytest.mark.parametrize(("content", "kind"), [(PIXEL, "image/png"), (b"<?xml ?><svg/>", "image/svg+xml")])
def test_both_kinds_of_picture_say_what_they_are(content: bytes, kind: str) -> None:
    assert f"data:{kind};base64," in Page("t", "l", [Section("s", figure=content)]).html()


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_any_text_comes_out_as_it_went_in(text: str) -> None:
    # Nothing that a number or a name may hold becomes an element, but for the marks.
    page = Page("t", "l", [Section("s", [text.replace("<", "< ")], table=Table([text], [["< " + text]]))])
    assert text.replace("<", "< ") in Elements(page.html()).text


PIECES = [
    "<i>",
    "</i>",
    "<b>",
    "</b>",
    "<sub>",
    "</sub>",
    "<code>",
    "</code>",
    "<script>",
    "<",
    "&",
    '"',
    "x",
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_marks_in_any_muddle_leave_the_page_in_order(text: str) -> None:
    page = Page(text, text, [Section(text, [text], figure=PIXEL, caption=text, files={text: text})])
    elements = Elements(page.html())
    assert elements.all("section")
    assert not elements.all("script")


def test_marks_may_stand_within_marks() -> None:
    assert marked("<i>F<sub>m</sub></i>") == "<i>F<sub>m</sub></i>"
    assert marked("<i>never closed") == "&lt;i&gt;never closed"
    assert plain("<i>F<sub>m</sub></i> & so on") == "Fm & so on"


def test_a_row_of_another_length_than_the_heading_is_refused() -> None:
    with pytest.raises(ValueError, match="2 cells and the table 1 columns"):
        Table(["a"], [["b", "c"]])


def test_headings_stand_over_their_numbers_and_sentences_have_room() -> None:
    table = Table(["what", "rows", "found"], [["a", 1, "x" * 70], ["b", 2, "short"]])
    page = Page("Title", "Lead.", [Section("One", table=table)]).html()
    assert '<th scope="col">what</th><th scope="col" class="number">rows</th>' in page
    assert f'<td class="prose">{"x" * 70}</td>' in page
    assert "<td>short</td>" in page


def test_sections_of_very_many_parts_stand_alone_in_the_contents() -> None:
    parts = [Section(f"Part {number}") for number in range(16)]
    page = Page(
        "Title", "Lead.", [Section("Few", sections=parts[:15]), Section("Many", sections=parts)]
    ).html()
    contents = page[page.index("<nav") : page.index("</nav>")]
    assert contents.count("<li>") == 2 + 15
    assert page.count("<h3>Part 3</h3>") == 2
