"""How often intervals hold the values of policies on logs of learners, and what verdicts say of misses.

`python -m benchmarks.coverage_study` measures this. Learners play
in environments whose truth is known and keep their logs. Each log, after 1,000 and 10,000 rounds, is
evaluated for six target policies: the first action, the last one, uniform play, the best and the worst
action of every context, and a rule by the first feature that knows nothing of rewards. It counts

* how often 95% intervals of several kinds hold the true value, and a betting sequence after all rows at once;
* the same of MinVar intervals among values of each level of the verdict, and how far they miss;
* of the values whose naive interval (doubly robust, as if rows were independent) misses by more than its
  width, how many are judged "caution" or "do not trust".
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.coverage_study.study import ENVIRONMENTS, INTERVALS, LEARNERS, Found, study
from gyrfalcon.evaluation.verdict.verdict import LEVELS

RUNS, QUICK_RUNS = 1_000, 20


def share(flags: Iterable[bool]) -> float:
    """Percentage of flags that are set; nan without flags."""
    values = list(flags)
    return 100.0 * sum(values) / len(values) if values else float("nan")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage_study", description=__doc__)
    parser.add_argument("--runs", type=int, metavar="N", default=RUNS, help=f"{RUNS:,} by default")
    parser.add_argument("--first", type=int, metavar="N", default=0, help="number of the first run")
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=list(LEARNERS))
    parser.add_argument("--environments", nargs="+", choices=ENVIRONMENTS, default=list(ENVIRONMENTS))
    parser.add_argument("--lengths", nargs="+", type=int, help="all by default")
    parser.add_argument("--jobs", type=int, metavar="N", default=-1, help="processes; all cores by default")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_RUNS} runs")
    parser.add_argument("--json", action="store_true", help="print one JSON line for each value")
    options = parser.parse_args(arguments)
    n_runs = QUICK_RUNS if options.quick else options.runs
    found = study(
        range(options.first, options.first + n_runs),
        learners=options.learners,
        environments=options.environments,
        lengths=options.lengths,
        n_jobs=options.jobs,
    )
    if options.json:
        for one in found:
            print(json.dumps(asdict(one)), flush=True)
        return 0
    console = Console() if Console().is_terminal else Console(width=120)
    for made in tables(list(found), n_runs):
        console.print(made)
    return 0


def tables(found: Sequence[Found], n_runs: int) -> Iterator[Table]:
    """Coverage of the intervals, and of the verdicts."""
    cells = list(dict.fromkeys((one.learner, one.environment, one.n_rounds) for one in found))

    def of(cell: tuple[str, str, int]) -> list[Found]:
        return [one for one in found if (one.learner, one.environment, one.n_rounds) == cell]

    title = (
        f"Values of 100 that a 95% interval holds: six targets, {n_runs:,} runs (worst target in brackets)"
    )
    made = _table(title, ("sequence", *INTERVALS))
    for cell in cells:
        rows = of(cell)
        columns = [_with_worst(rows, lambda one: one.is_held_at_all_times)]
        for name in INTERVALS:
            columns.append(_with_worst(rows, lambda one, name=name: one.is_held(name)))  # type: ignore[misc]
        made.add_row(*cell[:2], f"{cell[2]:,}", *columns)
    yield made
    yield _by_level(cells, of)
    made = _table("What the verdict knows of naive intervals", ("missed by a width", "noticed %"))
    for cell in cells:
        missed = [one for one in of(cell) if one.is_bad_miss]
        noticed = share(one.verdict != "trust" for one in missed)
        made.add_row(*cell[:2], f"{cell[2]:,}", f"{len(missed):,}", f"{noticed:.1f}")
    yield made


def _by_level(
    cells: Sequence[tuple[str, str, int]], of: Callable[[tuple[str, str, int]], list[Found]]
) -> Table:
    """Coverage of MinVar intervals by the level of the verdict, and how far they miss."""
    made = _table(
        "Verdicts: percentage of values, of which the MinVar interval holds so many, and by how many widths "
        "it misses in the median miss",
        LEVELS,
    )
    for cell in cells:
        rows, columns = of(cell), []
        for level in LEVELS:
            judged = [one for one in rows if one.verdict == level]
            misses = [one.miss("minvar") for one in judged if not one.is_held("minvar")]
            miss = f", {np.median(misses):.2f}" if misses else ""
            held = share(one.is_held("minvar") for one in judged)
            columns.append(f"{100.0 * len(judged) / len(rows):.0f}: {held:.1f}{miss}")
        made.add_row(*cell[:2], f"{cell[2]:,}", *columns)
    return made


def _with_worst(rows: Sequence[Found], is_held: Callable[[Found], bool]) -> str:
    worst = min(
        share(is_held(one) for one in rows if one.target == target) for target in {one.target for one in rows}
    )
    return f"{share(map(is_held, rows)):.1f} ({worst:.0f})"


def _table(title: str, names: Sequence[str]) -> Table:
    made = Table(title=title, title_justify="left", box=None, padding=(0, 0, 0, 1))
    for name in ("log of", "environment", "rounds", *names):
        made.add_column(name, justify="left" if name in ("log of", "environment") else "right")
    return made


if __name__ == "__main__":
    sys.exit(main())
