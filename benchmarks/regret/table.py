"""The table: a row per contestant, its means over the real sets and in each environment."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Printed

from benchmarks.regret.costs import duration
from benchmarks.regret.standings import Difference, Standing, Table, differences, mean_reward, standing

MARKS = {"win": "+", "tie": "", "loss": "-"}
WIDE = 400


def console_for_tables() -> Console:
    """The terminal, or for a file or a pipe a page as wide as any table."""
    here = Console()
    return here if here.is_terminal else Console(width=WIDE)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A heading and rows of text, the first of which is the heading of columns."""

    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_summary: int
    """The columns before those of single environments."""


def sheet(
    table: Table, names: Sequence[str], environments: dict[str, list[str]], title: str, baseline: str
) -> Sheet:
    """The rows, best first; `environments` are those of each kind that were played."""
    everywhere = [environment for kind in environments.values() for environment in kind]
    main = environments.get("real") or everywhere
    against = differences(table, baseline)
    ranked = sorted(names, key=lambda name: -_order(standing(table, name, main, baseline)))
    rows = []
    for name in ranked:
        cells = [_cell(table, name, environment, against.get(name, {})) for environment in everywhere]
        rows.append((name, *_summary(table, name, main, environments, baseline), *cells))
    over = "the real sets" if environments.get("real") else "all environments"
    return Sheet(
        title,
        f"Mean reward over {over}, then in each environment. The difference is to {baseline}, in points, "
        "that is hundredths of a reward, with its standard error, paired over seeds. Wins, ties and losses "
        "are at |z| > 2, as are the marks + and -. The time of a run is processor time.",
        ("contestant", *_SUMMARY, *everywhere),
        tuple(rows),
        1 + len(_SUMMARY),
    )


_SUMMARY = ("mean", "half 2", "last ¼", "difference", "w/t/l", "synth.", "a run")


def printed(content: Sheet, width: int | None) -> Printed:
    """The table for a terminal so wide; where that is too narrow for every environment, the summary alone."""
    lines = (content.columns, *content.rows)
    needed = sum(max(len(line[number]) for line in lines) + 3 for number in range(len(content.columns))) + 1
    shown = content.n_summary if width is not None and width < needed else len(content.columns)
    table = Printed(title=content.title, caption=content.caption)
    for number, column in enumerate(content.columns[:shown]):
        table.add_column(column, justify="right" if number else "left", no_wrap=number > 0)
    for row in content.rows:
        table.add_row(*map(escape, row[:shown]))
    return table


def markdown(content: Sheet) -> str:
    """The whole table as a page."""
    lines = [content.columns, ("---", *["---:"] * (len(content.columns) - 1)), *content.rows]
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"# {content.title}\n\n{content.caption}\n\n{body}\n"


def _summary(
    table: Table, name: str, main: Sequence[str], environments: dict[str, list[str]], baseline: str
) -> tuple[str, ...]:
    there = standing(table, name, main, baseline)
    synthetic = standing(table, name, environments.get("synthetic", []), baseline)
    last = "" if synthetic is None else number(synthetic.means["reward"])
    if there is None:
        return "", "", "", "", "", last, ""
    means = map(number, there.means.values())
    if name == baseline:
        return (*means, "", "", last, duration(there.seconds))
    is_sure = not math.isnan(there.difference.standard_error)  # one seed alone decides nothing
    record = "/".join(str(count) for count in there.verdicts.values()) if is_sure else ""
    return (*means, _points(there), record, last, duration(there.seconds))


def _points(there: Standing) -> str:
    mean, error = 100.0 * there.difference.mean, 100.0 * there.difference.standard_error
    if math.isnan(mean):
        return ""
    return f"{mean:+.2f}" if math.isnan(error) else f"{mean:+.2f} ± {error:.2f}"


def _cell(table: Table, name: str, environment: str, against: Mapping[str, Difference]) -> str:
    mean = mean_reward(table, name, environment)
    if mean is None:
        return ""
    return number(mean) + (MARKS[against[environment].verdict] if environment in against else "")


def number(value: float, digits: int = 3) -> str:
    """So many digits behind the point.

    >>> number(0.80412), number(1.0), number(-0.5, digits=1)
    ('0.804', '1.000', '-0.5')
    """
    return f"{value:.{digits}f}"


def _order(there: Standing | None) -> float:
    return -math.inf if there is None else there.means["reward"]
