"""Measure every row and print the table; the exit code is 1 if a limit is missed."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from benchmarks import (
    batches,
    constrained,
    decisions,
    dual,
    evaluation,
    imports,
    latency,
    log_columns,
    online,
    replications,
    runs,
    simulation,
    wabbit,
)
from benchmarks.rows import Outcome, Quantity, Row, Verdict, measured

SUBJECTS = (
    constrained,
    dual,
    decisions,
    wabbit,
    latency,
    imports,
    runs,
    simulation,
    online,
    batches,
    replications,
    evaluation,
    log_columns,
)
ROWS = [row for subject in SUBJECTS for row in subject.ROWS]
PAIRS, QUICK_PAIRS = 15, 5
PACKAGES = (
    "gyrfalcon",
    "numpy",
    "scipy",
    "cvxpy",
    "clarabel",
    "scikit-learn",
    "vowpalwabbit",
    "river",
    "coba",
    "contextualbandits",
    "mabwiser",
)
COLOURS = {Verdict.PASS: "green", Verdict.FAIL: "bold red", Verdict.INFO: "dim", Verdict.NOT_RUN: "yellow"}


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    rows = [row for row in ROWS if options.only.lower() in row.key.lower()]
    n_pairs = options.pairs or (QUICK_PAIRS if options.quick else PAIRS)
    outcomes = _measured(rows, n_pairs)
    if options.json:
        print(json.dumps(_document(outcomes, n_pairs), indent=2))
    else:
        Console().print(_table(outcomes, n_pairs), _machine(), sep="\n")
    return int(any(outcome.verdict is Verdict.FAIL for outcome in outcomes))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_PAIRS} pairs per row, not {PAIRS}")
    parser.add_argument("--pairs", type=int, metavar="N", help="number of pairs of timings per row")
    parser.add_argument("--only", default="", metavar="TEXT", help="only rows with this text in their key")
    return parser


def _measured(rows: list[Row], n_pairs: int) -> list[Outcome]:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    # A bar that redraws itself does so in a thread, whose time would be counted as the rows'.
    progress = Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True)
    outcomes = []
    with progress:
        task = progress.add_task("", total=len(rows) * n_pairs)
        for number, row in enumerate(rows):
            progress.update(task, description=row.key, completed=number * n_pairs, refresh=True)
            outcomes.append(measured(row, n_pairs, _advance(progress, task)))
    return outcomes


def _advance(progress: Progress, task: object) -> Callable[[], None]:
    def advance() -> None:
        progress.advance(task)  # type: ignore[arg-type]  # rich's TaskID is an int by another name
        progress.refresh()

    return advance


def _table(outcomes: list[Outcome], n_pairs: int) -> Table:
    table = Table(
        title=f"Median of {n_pairs} interleaved pairs, one thread, processor time",
        caption="A number is ours / theirs; with x it is theirs / ours, how many times faster ours is.",
        show_lines=True,
    )
    table.add_column("ours, theirs", overflow="fold", ratio=1)
    for name in ("each", "median", "quartiles", "limit"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for outcome in outcomes:
        table.add_row(
            _description(outcome),
            "\n".join(map(_duration, outcome.seconds)),
            *_numbers(outcome),
            _limit(outcome.row),
            f"[{COLOURS[outcome.verdict]}]{outcome.verdict.value}[/]",
        )
    return table


def _description(outcome: Outcome) -> str:
    lines = [outcome.row.ours, outcome.row.theirs]
    note = [f"[dim italic]{escape(outcome.note)}[/]"] if outcome.note else []
    return "\n".join([*(escape(line) for line in lines if line), *note])


def _numbers(outcome: Outcome) -> tuple[str, str]:
    if outcome.spread is None:
        return "-", "-"
    row = outcome.row
    low, median, high = (_shown(row.quantity, value) for value in outcome.spread)
    return median, f"{low}\n{high}"


def _shown(quantity: Quantity, value: float) -> str:
    if quantity is Quantity.RATE:
        return f"{value / 1e6:.2f}M/s"
    if quantity is Quantity.SECONDS:
        return _duration(value)
    unit = "x" if quantity is Quantity.TIMES_FASTER else ""
    return f"{value:.2f}{unit}" if value < 100.0 else f"{value:,.0f}{unit}"


def _limit(row: Row) -> str:
    if row.limit is None:
        return "-"
    if row.quantity is Quantity.SECONDS:
        return f"<= {_duration(row.limit)}"
    return f">= {row.limit:g}x" if row.quantity is Quantity.TIMES_FASTER else f"<= {row.limit:g}"


def _duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs" if seconds >= 1e-6 else f"{seconds * 1e9:.3g} ns"


def _document(outcomes: list[Outcome], n_pairs: int) -> dict[str, object]:
    return {
        "pairs": n_pairs,
        "python": platform.python_version(),
        "versions": _versions(),
        "blas_threads": _blas_threads(),
        "passed": not any(outcome.verdict is Verdict.FAIL for outcome in outcomes),
        "rows": [_as_json(outcome) for outcome in outcomes],
    }


def _as_json(outcome: Outcome) -> dict[str, object]:
    row, spread = outcome.row, outcome.spread
    return {
        "key": row.key,
        "ours": row.ours,
        "theirs": row.theirs,
        "quantity": row.quantity.value,
        "median": None if spread is None else spread.median,
        "quartiles": None if spread is None else [spread.low, spread.high],
        "limit": row.limit,
        "verdict": outcome.verdict.value.lower(),
        "seconds_per_call": outcome.seconds,
        "note": outcome.note,
    }


def _machine() -> str:
    packages = ", ".join(f"{name} {number}" for name, number in _versions().items())
    return f"Python {platform.python_version()}, {packages}; BLAS threads: {_blas_threads() or 'unknown'}"


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found


def _blas_threads() -> int | None:
    """The most threads that any loaded BLAS would use, if threadpoolctl can tell."""
    try:
        pools = import_module("threadpoolctl").threadpool_info()
    except ImportError:
        return None
    return max((int(pool["num_threads"]) for pool in pools), default=None)


if __name__ == "__main__":
    sys.exit(main())
