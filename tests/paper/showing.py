"""How tests look at exhibits: run their work, draw them, and read what is on the drawing."""

from __future__ import annotations

from matplotlib.figure import Figure

from gyrfalcon.reports.figures import new_figure, style
from gyrfalcon.reports.page import marked
from gyrfalcon_paper.exhibits.exhibit import Effort, Exhibit, Tables


def tables_of(exhibit: Exhibit) -> Tables:
    """The tables at quick effort."""
    return exhibit.tables([piece() for piece in exhibit.work(Effort(quick=True))])


def drawing_of(exhibit: Exhibit, tables: Tables) -> Figure:
    """The figure, laid out."""
    with style():
        figure = new_figure()
        exhibit.draw(figure, tables)
        figure.draw_without_rendering()
    return figure


def check_readable(exhibit: Exhibit, tables: Tables) -> Figure:
    """The figure, after refusing axes without names, words outside it, and texts with unknown marks."""
    assert exhibit.printed in tables
    for text in (exhibit.text, exhibit.caption):
        assert "&lt;" not in marked(text), text
    figure = drawing_of(exhibit, tables)
    assert any(axes.get_ylabel() for axes in figure.axes)
    assert any(axes.get_xlabel() for axes in figure.axes)
    width, height = figure.get_size_inches() * figure.dpi
    for axes in figure.axes:
        for words in axes.texts:
            box = words.get_window_extent()
            assert min(box.x0, box.y0) > -1
            assert box.x1 < width + 1
            assert box.y1 < height + 1
    return figure
