"""Which requirements the stored results meet: `python -m benchmarks.regret.bars --folder out/regret`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.markup import escape

from benchmarks.regret.ablations import ABLATIONS
from benchmarks.regret.cells import Cell, Result
from benchmarks.regret.contestants import CONTESTANTS
from benchmarks.regret.requirements import REQUIREMENTS, Outcome
from benchmarks.regret.standings import Table, by_contestant
from benchmarks.regret.store import Store, outdated
from benchmarks.regret.table import Sheet, console_for_tables, markdown, printed
from gyrfalcon.storage.atomic import write_atomically

COLUMNS = ("requirement", "measured", "bar", "seeds", "verdict")
CAPTION = (
    "20,000 rounds unless said otherwise. Differences are paired over seeds; ± is a standard error over "
    "seeds, for the same sets. The best fixed class is chosen after the fact, in each environment by its "
    "mean over the same seeds, and the best of four noisy means is too high; if chosen on the other seeds, "
    "as notes have it, it is rather too low. The worst of several environments looks worse than it is, too."
)


def main(arguments: list[str] | None = None) -> int:
    parser = _parser()
    folder = Path(parser.parse_args(arguments).folder)
    if not (folder / "cells").is_dir():
        parser.error(f"{folder / 'cells'} is not there; play something into --folder first.")
    store = Store(folder / "cells")
    found = store.results((*CONTESTANTS, *ABLATIONS))
    outcomes = _outcomes([result for _, result in found])
    _show(outcomes, _warnings(found, store.n_files), folder)
    return 0


def tables(results: Sequence[Result]) -> dict[int, Table]:
    """Results by rounds, contestant, environment and seed."""
    lengths = dict.fromkeys(result.n_rounds for result in results)
    return {n: by_contestant(result for result in results if result.n_rounds == n) for n in lengths}


def _outcomes(results: Sequence[Result]) -> list[Outcome]:
    known = tables(results)
    return [requirement.outcome(known) for requirement in REQUIREMENTS]


def _warnings(found: Sequence[tuple[Cell, Result]], n_files: int) -> list[str]:
    """What does not count, or may be out of date."""
    old, n_others = outdated(found), n_files - len(found)
    return [
        *([f"Played by other code than there is now: {'; '.join(old)}."] if old else []),
        *(
            [f"{n_others:,} stored cells do not count: of other settings or versions, or damaged."]
            if n_others
            else []
        ),
    ]


def _show(outcomes: Sequence[Outcome], warnings: Sequence[str], folder: Path) -> None:
    """Print the table and its notes, and write them."""
    notes = [*(f"{one.requirement.text}: {one.note}." for one in outcomes if one.note), *warnings]
    rows = tuple(one.row for one in outcomes)
    content = Sheet(title_of(outcomes), CAPTION, COLUMNS, rows, len(COLUMNS))
    console = console_for_tables()
    console.print(printed(content, None))
    for note in notes:
        console.print(escape(f"- {note}"), highlight=False)
    listed = "\n".join(f"- {note}" for note in notes)
    write_atomically(folder / "bars.md", f"{markdown(content)}\n{listed}\n")
    console.print(f"All of it is in {folder / 'bars.md'}.")


def title_of(outcomes: Sequence[Outcome]) -> str:
    """How many requirements there are, and how many are met."""
    verdicts = [one.verdict for one in outcomes]
    counts = {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))}
    parts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return f"{len(outcomes)} requirements: {parts}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regret.bars", description=__doc__)
    parser.add_argument("--folder", default="out/regret", help="where results are, and bars.md goes")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
