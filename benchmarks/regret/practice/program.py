"""Play our learners where practitioners live, and print what share they capture of what can be earned.

Captured shares, times, and which bars are met: `python -m benchmarks.regret --suite practice`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.markup import escape

from benchmarks.regret.bars import COLUMNS, title_of
from benchmarks.regret.cells import Cell, Result
from benchmarks.regret.contestants import Contestant
from benchmarks.regret.costs import estimate
from benchmarks.regret.environments import Place
from benchmarks.regret.practice.contestants import HALF_LIFE, PARTS, SHORT, chosen
from benchmarks.regret.practice.requirements import requirements
from benchmarks.regret.practice.split import FIRST_SEED, GROUPS, SPLIT, Entry
from benchmarks.regret.practice.table import shares
from benchmarks.regret.requirements import SHORT as LENGTH
from benchmarks.regret.running import play_missing, stored
from benchmarks.regret.standings import by_contestant
from benchmarks.regret.store import Store, outdated
from benchmarks.regret.table import Sheet, console_for_tables, markdown, printed
from gyrfalcon.storage.atomic import write_atomically

BAR_CAPTION = (
    "Differences are paired over seeds; the better of two is chosen after the fact, by its mean over the "
    "same seeds. Bars are for runs as long as the split declares."
)


@dataclass(frozen=True, slots=True)
class Run:
    """An environment of the split, for how long it is played, and from which seed on."""

    entry: Entry
    n_rounds: int
    first_seed: int

    @property
    def place(self) -> Place:
        """What is played."""
        return place_of(self.entry)

    def cells(self, contestants: Sequence[Contestant], n_seeds: int) -> list[Cell]:
        """A cell for each contestant and seed."""
        seeds = range(self.first_seed, self.first_seed + n_seeds)
        return [Cell(one, self.place, self.n_rounds, seed) for seed in seeds for one in contestants]


def place_of(entry: Entry) -> Place:
    """What an entry of the split is about."""
    return Place("practice", entry.label) if entry.dataset is None else Place("real", entry.dataset)


def main(arguments: list[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        _check(options)
        contestants = chosen(options.contestants)
        runs = [_run_of(entry, first, options.rounds) for entry, first in _entries(options.environments)]
    except (ValueError, ModuleNotFoundError) as error:
        parser.error(str(error))
    store = Store(Path(options.folder) / "cells")
    cells = [cell for run in runs for cell in run.cells(contestants, options.seeds)]
    known = {cell.key for cell, _ in stored(cells, store) if not _again(cell, options)}
    missing = sorted((cell for cell in cells if cell.key not in known), key=lambda cell: cell.seed)
    sys.stderr.write(f"{len(known):,} cells are stored; {estimate(missing, options.jobs)}.\n")
    if options.estimate:
        return 0
    store.prepare()
    failures = play_missing(missing, store, options.jobs) if missing else []
    for failure in failures:
        sys.stderr.write(f"Not played: {failure.cell}: {failure.reason}\n")
    _show(runs, contestants, store, options)
    return int(bool(failures))


def _show(
    runs: Sequence[Run], contestants: Sequence[Contestant], store: Store, options: argparse.Namespace
) -> None:
    """Print captured shares and bars, as tables for the terminal or for a page."""
    found, named = _found(runs, contestants, store, options.seeds)
    table, labels = by_contestant(named), [run.entry.label for run in runs]
    names = [one.name for one in contestants]
    seeds = "1 seed" if options.seeds == 1 else f"{options.seeds} seeds"
    share_sheet = shares(table, labels, names, f"Captured shares, {seeds}")
    outcomes = [one.outcome({LENGTH: table}) for one in requirements(labels)]
    rows = tuple(one.row for one in outcomes)
    bar_sheet = Sheet(title_of(outcomes), BAR_CAPTION, COLUMNS, rows, len(COLUMNS))
    notes = [
        f"{one.requirement.text}: {one.note}."
        for one in outcomes
        if one.measured is not None and len(one.measured.by_environment) > 1
    ]
    old = outdated(found)
    notes += (
        [f"Played by other code than there is now (--again plays anew): {'; '.join(old)}."] if old else []
    )
    page = "\n".join([markdown(share_sheet), markdown(bar_sheet), *(f"- {note}" for note in notes), ""])
    file = Path(options.folder) / "practice.md"
    write_atomically(file, page)
    if options.markdown:
        sys.stdout.write(page)
        return
    console = console_for_tables()
    for sheet in (share_sheet, bar_sheet):
        console.print(printed(sheet, None))
    for note in notes:
        console.print(escape(f"- {note}"), highlight=False)
    console.print(f"All of it is in {file}.")


def _found(
    runs: Sequence[Run], contestants: Sequence[Contestant], store: Store, n_seeds: int
) -> tuple[list[tuple[Cell, Result]], list[Result]]:
    """What is stored, and the same under the labels of the split: a data set may have two of them."""
    found, named = [], []
    for run in runs:
        here = stored(run.cells(contestants, n_seeds), store)
        found += here
        named += [replace(result, environment=run.entry.label) for _, result in here]
    return found, named


def _entries(names: Sequence[str]) -> list[tuple[Entry, int]]:
    """The entries that were asked for, by name or as parts and groups, with their first seed."""
    wanted: dict[str, tuple[Entry, int]] = {}
    everything = [
        (part, group, entry) for part, groups in SPLIT.items() for group in groups for entry in GROUPS[group]
    ]
    for name in names:
        hits = [one for one in everything if name in (one[0], one[1], one[2].label)]
        if not hits:
            known = ", ".join(dict.fromkeys((*SPLIT, *GROUPS)))
            raise ValueError(
                f"--environments has {name!r}; give {known}, or one of these: "
                f"{'; '.join(entry.label for _, _, entry in everything)}."
            )
        wanted |= {entry.label: (entry, FIRST_SEED[part]) for part, _, entry in hits}
    return list(wanted.values())


def _run_of(entry: Entry, first_seed: int, rounds: int | None) -> Run:
    """Rounds that were asked for hold for all; where each row is seen once, there are no more than rows."""
    if entry.n_rounds is None:
        n_rows = place_of(entry).n_rows
        return Run(entry, n_rows if rounds is None else min(rounds, n_rows), first_seed)
    return Run(entry, entry.n_rounds if rounds is None else rounds, first_seed)


def _check(options: argparse.Namespace) -> None:
    if options.rounds is not None and options.rounds < 4:
        raise ValueError(f"--rounds is {options.rounds}; give at least 4.")
    for name in ("seeds", "jobs"):
        if getattr(options, name) < 1:
            raise ValueError(f"--{name} is {getattr(options, name)}; give at least 1.")


def _again(cell: Cell, options: argparse.Namespace) -> bool:
    return options.again is not None and options.again.lower() in cell.contestant.name.lower()


def _parser() -> argparse.ArgumentParser:
    program, text = "python -m benchmarks.regret --suite practice", (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(prog=program, description=text)
    add = parser.add_argument
    add(
        "--environments",
        nargs="+",
        default=["table"],
        metavar="NAME",
        help=f"parts ({', '.join(SPLIT)}), groups ({', '.join(GROUPS)}) or single ones; table by default",
    )
    add(
        "--contestants",
        nargs="+",
        default=list(SHORT),
        metavar="NAME",
        help=f"{', '.join(SHORT)} (by default), {HALF_LIFE}, {PARTS}, or names of the suite's contestants",
    )
    add("--seeds", type=int, default=5, metavar="N", help="truths and orderings of each, 5 by default")
    add("--rounds", type=int, metavar="T", help="length of all runs; as the split declares by default")
    add("--again", metavar="TEXT", help="play contestants with this text in their name anew")
    add("--jobs", type=int, default=1, metavar="N", help="cells played at a time")
    add("--folder", default="out/regret", help="where results are, and practice.md goes")
    add("--estimate", action="store_true", help="say what it would cost, and stop")
    add("--markdown", action="store_true", help="print the page itself, for documents")
    return parser
