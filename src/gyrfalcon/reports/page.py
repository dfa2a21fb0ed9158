"""One HTML page that needs nothing but itself: text, tables, pictures; on screens light and dark, on paper.

Text is plain text, in which a few marks have their meaning: <i>, <b>, <sub>, <sup> and <code>. Everything
else, a lone < or & among it, is shown as it stands.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import Template
from typing import TypeAlias

from gyrfalcon.reports.stylesheet import STYLESHEET

_MARK = re.compile(r"(</?(?:i|b|sub|sup|code)>)")
_PNG = b"\x89PNG"
_AS_NUMBER, _AS_PROSE = ' class="number"', ' class="prose"'
_LONG = 60
"""A cell of more characters is a sentence, which a narrow column would make a tower of."""
_MOST_LISTED = 15
"""A section of more inner ones stands alone in the contents."""
_LITERAL = "\ue000"
"""Stands for a < that opens no mark; of the characters that Unicode leaves to private use."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A verdict in words, with a sign for whether something holds; None where neither is said."""

    text: str
    holds: bool | None


Cell: TypeAlias = str | int | float | Mark


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under headings; numbers stand to the right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"a row has {len(row)} cells and the table {len(self.columns)} columns; give as many."
                )


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page with its own heading: words, then a picture, a table and the sections in it."""

    title: str
    paragraphs: Sequence[str] = ()
    figure: bytes | None = None
    """An SVG or PNG file's content."""
    caption: str = ""
    table: Table | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    """Names of files to link to, and where they are from the page's own folder."""
    sections: Sequence[Section] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page with a title, a lead paragraph, and sections that its contents list.

    >>> page = Page("A & B", "How <i>x</i> < 1 is shown.", [Section("First", ["One."])])
    >>> "<title>A &amp; B</title>" in page.html(), "<i>x</i> &lt; 1" in page.html()
    (True, True)
    """

    title: str
    lead: str
    sections: Sequence[Section]
    footer: str = ""

    def html(self) -> str:
        """The page as one HTML file."""
        return _PAGE.substitute(
            title=html.escape(self.title),
            style=STYLESHEET,
            lead=marked(self.lead),
            contents=_contents(self.sections),
            body="\n".join(_section(number, section) for number, section in _numbered(self.sections)),
            footer=f"<footer><p>{marked(self.footer)}</p></footer>" if self.footer else "",
        )


def literal(text: str) -> str:
    """Text of others, such as a policy's name, in which nothing is a mark.

    >>> marked(f"<b>{literal('a <b>new</b> page')}</b>")
    '<b>a &lt;b&gt;new&lt;/b&gt; page</b>'
    """
    return text.replace("<", _LITERAL)


def marked(text: str) -> str:
    """Text as HTML: escaped, but for the marks that come in pairs.

    >>> marked("<i>b</i> < 1 & <script>")
    '<i>b</i> &lt; 1 &amp; &lt;script&gt;'
    """
    parts = _MARK.split(text)
    paired = _paired(parts)
    shown = "".join(part if at in paired else html.escape(part) for at, part in enumerate(parts))
    return shown.replace(_LITERAL, "&lt;")


def plain(text: str) -> str:
    """Text without its marks.

    >>> plain("<i>b</i> < 1")
    'b < 1'
    """
    parts = _MARK.split(text)
    paired = _paired(parts)
    return "".join(part for at, part in enumerate(parts) if at not in paired).replace(_LITERAL, "<")


def _paired(parts: list[str]) -> set[int]:
    """Where the marks are that open and close within each other; every second part is a mark."""
    opened: list[int] = []
    paired: set[int] = set()
    for at in range(1, len(parts), 2):
        if not parts[at].startswith("</"):
            opened.append(at)
            continue
        own = [mark for mark in opened if parts[mark] == parts[at].replace("/", "")]
        if own:
            paired |= {own[-1], at}
            opened = [mark for mark in opened if mark < own[-1]]
    return paired


def _numbered(sections: Iterable[Section], prefix: str = "") -> Iterator[tuple[str, Section]]:
    for number, section in enumerate(sections, start=1):
        yield f"{prefix}{number}", section


def _contents(sections: Sequence[Section], prefix: str = "") -> str:
    if not sections:
        return ""
    return f"<ol>{''.join(_entry(number, section) for number, section in _numbered(sections, prefix))}</ol>"


def _entry(number: str, section: Section) -> str:
    inner = section.sections if len(section.sections) <= _MOST_LISTED else ()
    return f'<li><a href="#section-{number}">{marked(section.title)}</a>{_contents(inner, f"{number}.")}</li>'


def _section(number: str, section: Section) -> str:
    level = number.count(".") + 2
    parts = [f"<h{level}>{marked(section.title)}</h{level}>"]
    parts += [f"<p>{marked(paragraph)}</p>" for paragraph in section.paragraphs]
    if section.figure is not None:
        parts.append(_figure(section.figure, section.caption, section.files))
    if section.table is not None:
        parts.append(_table(section.table))
    parts += [_section(inner, part) for inner, part in _numbered(section.sections, f"{number}.")]
    return f'<section id="section-{number}">\n' + "\n".join(parts) + "\n</section>"


def _figure(picture: bytes, caption: str, files: Mapping[str, str]) -> str:
    kind = "png" if picture.startswith(_PNG) else "svg+xml"
    source = f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"
    image = f'<div class="picture"><img src="{source}" alt="{html.escape(plain(caption))}"></div>'
    links = ", ".join(
        f'<a href="{html.escape(path)}">{html.escape(name)}</a>' for name, path in files.items()
    )
    below = f' <span class="files">{links}</span>' if links else ""
    return f"<figure>{image}<figcaption>{marked(caption)}{below}</figcaption></figure>"


def _table(table: Table) -> str:
    caption = f"<caption>{marked(table.caption)}</caption>" if table.caption else ""
    numeric = [_is_numeric(row[at] for row in table.rows) for at in range(len(table.columns))]
    head = "".join(
        f'<th scope="col"{_AS_NUMBER if is_numeric else ""}>{marked(name)}</th>'
        for name, is_numeric in zip(table.columns, numeric, strict=True)
    )
    rows = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in table.rows)
    body = f"<thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody>"
    return f'<div class="table"><table>{caption}{body}</table></div>'


def _is_numeric(column: Iterable[Cell]) -> bool:
    cells = list(column)
    return bool(cells) and all(isinstance(cell, int | float) for cell in cells)


def _cell(cell: Cell) -> str:
    if isinstance(cell, Mark):
        name, sign = _SIGNS[cell.holds]
        return f'<td class="mark {name}"><span aria-hidden="true">{sign}</span> {html.escape(cell.text)}</td>'
    if isinstance(cell, str):
        return f"<td{_AS_PROSE if len(cell) > _LONG else ''}>{marked(cell)}</td>"
    return f'<td class="number">{_number(cell)}</td>'


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


# A sign and words beside the colour: a reader may not see it, and a printer may not have it.
_SIGNS: dict[bool | None, tuple[str, str]] = {
    True: ("holds", "✓"),
    False: ("fails", "✗"),
    None: ("open", "–"),
}

_PAGE = Template("""<!DOCTYPE html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<style>
$style
</style>
</head>
<body>
<header>
<h1>$title</h1>
<p class="lead">$lead</p>
</header>
<nav aria-label="Contents">
<h2>Contents</h2>
$contents
</nav>
<main>
$body
</main>
$footer
</body>
</html>
""")
