"""How tests look at exhibits: run their work, draw them, and read what is on the drawing."""

from __future__ import annotations

import re

from matplotlib.figure import Figure

from gyrfalcon.reports.page import marked
from gyrfalcon.reports.style import new_figure, style
from gyrfalcon_paper.exhibits.exhibit import Effort, Exhibit, Tables


def tables_of(exhibit: Exhibit) -> Tables:
    """The tables at quick effort."""
    return exhibit.tables([piece() for piece in exhibit.work(Effort(quick=True))])


def changed(tables: Tables, table: str, **columns: list[float | int | str]) -> Tables:
    """The same tables, but for these columns of one of them."""
    return {**tables, table: {**tables[table], **columns}}


def drawing_of(exhibit: Exhibit, tables: Tables) -> Figure:
    """The figure, laid out."""
    with style():
        figure = new_figure()
        exhibit.draw(figure, tables)
        figure.draw_without_rendering()
    return figure


def check_words(exhibit: Exhibit, tables: Tables) -> None:
    """Refuse prose that has numbers missing or marks that a page would not understand."""
    for text in (*exhibit.prose(tables), exhibit.caption(tables)):
        assert not re.search(r"\bnan\b|\binf\b|\{|&lt;|&amp;", text), text
        assert "&lt;" not in marked(text), text


def check_axes(figure: Figure) -> None:
    """Refuse pictures without a named horizontal and vertical axis, and words that leave the paper."""
    assert any(axes.get_ylabel() for axes in figure.axes)
    assert any(axes.get_xlabel() for axes in figure.axes)
    width, height = figure.get_size_inches() * figure.dpi
    for axes in figure.axes:
        for words in axes.texts:
            box = words.get_window_extent()
            assert box.x0 > -1
            assert box.x1 < width + 1
            assert box.y0 > -1
            assert box.y1 < height + 1
