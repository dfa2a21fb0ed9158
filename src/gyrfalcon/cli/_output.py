"""Standard output: tables with plain numbers for people, or nothing but JSON for machines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from gyrfalcon.core.json_values import json_value

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_NARROW = 20
"""The smallest width that text is wrapped to."""

if TYPE_CHECKING:
    from rich.table import Table

    from gyrfalcon.simulation.trace import Summary


def print_json(value: object) -> None:
    """Print a value as JSON that every reader takes: numbers that are not finite are null."""
    import json

    typer.echo(json.dumps(json_value(value), indent=2, allow_nan=False))


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], n_texts: int = 1) -> None:
    """Print a table whose first columns are text, which may wrap, and the others numbers, which never do."""
    from rich.console import Console

    console = Console(highlight=False)
    cells = [columns, *rows]
    widths = [max(len(row[index]) for row in cells) for index in range(len(columns))]
    # A number cut short is lost, so that a table may be wider than what it is shown on.
    least = sum(min(width, _NARROW) for width in widths[:n_texts]) + sum(widths[n_texts:])
    console.width = max(console.width, least + 3 * len(columns) + 1)
    typer.secho(_wrapped(title), bold=True)
    console.print(_table(cells, widths, n_texts))


def say(*paragraphs: str) -> None:
    """Print paragraphs to stdout, wrapped to the terminal, with an empty line after each."""
    for paragraph in paragraphs:
        typer.echo(_wrapped(paragraph) + "\n")


def indented(text: str, indent: int) -> None:
    """Print a line, whose further lines are indented where the terminal is narrower."""
    typer.echo(_wrapped(text, " " * indent))


def note(text: str) -> None:
    """Print sentences to stderr, where they disturb no table and no JSON."""
    typer.echo(text, err=True)


def counted(count: int, noun: str) -> str:
    """A count and its noun.

    >>> counted(1, "cell"), counted(1200, "cell")
    ('1 cell', '1,200 cells')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def number(value: float) -> str:
    """A number in about four digits, with commas where it is large.

    >>> number(0.0403217), number(2034.3), number(1255777012.0), number(float("nan"))
    ('0.04032', '2,034', '1.256e+09', '-')
    """
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.4g}"


def with_error(summary: Summary, digits: int) -> str:
    """A mean and its standard error, where there are replications to have one from.

    >>> from gyrfalcon.simulation.trace import Summary
    >>> with_error(Summary(2034.25, 1.5), 1)
    '2,034.2 (1.5)'
    """
    if math.isnan(summary.mean):
        return "-"
    error = "" if math.isnan(summary.standard_error) else f" ({_decimal(summary.standard_error, digits)})"
    return f"{_decimal(summary.mean, digits)}{error}"


def _decimal(value: float, digits: int) -> str:
    return f"{round(float(value), digits) + 0.0:,.{digits}f}"  # a zero without its sign


def _wrapped(text: str, indent: str = "") -> str:
    width = min(get_terminal_size().columns, 100)
    return fill(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _table(cells: Sequence[Sequence[str]], widths: Sequence[int], n_texts: int) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for index, (name, width) in enumerate(zip(cells[0], widths, strict=True)):
        if index < n_texts:
            table.add_column(Text(name), overflow="fold")
        else:
            table.add_column(Text(name), justify="right", no_wrap=True, min_width=width)
    for row in cells[1:]:
        table.add_row(*(Text(cell) for cell in row))
    return table
