"""Play our learners and other libraries' on the same rounds; print who earned what, and draw it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from benchmarks.regret.ablations import ABLATIONS
from benchmarks.regret.cells import Cell, Failure, Result
from benchmarks.regret.contestants import BASELINE, CONTESTANTS, LINEAR, PACKAGES, Contestant
from benchmarks.regret.costs import estimate
from benchmarks.regret.document import document
from benchmarks.regret.environments import PLACES, SYNTHETIC, Place, place_named
from benchmarks.regret.figure import differences_figure
from benchmarks.regret.practice.program import main as practice
from benchmarks.regret.practice.split import REAL
from benchmarks.regret.running import play_missing, stored
from benchmarks.regret.standings import by_contestant, differences
from benchmarks.regret.store import Store, outdated
from benchmarks.regret.table import console_for_tables, markdown, printed, sheet
from gyrfalcon.reports.figures import picture
from gyrfalcon.storage.atomic import write_atomically

QUICK = ("wine", "vehicle", "banana", "segment", "xor", "section 1.1")
QUICK_ROUNDS, QUICK_SEEDS = 1000, 3
ONCE = "once"


@dataclass(frozen=True, slots=True)
class Event:
    """A table of the suite: its environments, and for how long each is played."""

    name: str
    title: str
    lengths: tuple[tuple[Place, int], ...]

    def cells(self, contestants: Sequence[Contestant], n_seeds: int) -> list[Cell]:
        """Seed by seed, so that what there is after a while says something of every environment."""
        return [
            Cell(contestant, place, n_rounds, seed)
            for seed in range(n_seeds)
            for place, n_rounds in self.lengths
            for contestant in contestants
            if not contestant.binary or place.is_binary
        ]

    @property
    def environments(self) -> dict[str, list[str]]:
        """The names of its environments by kind."""
        kinds = dict.fromkeys(place.kind for place, _ in self.lengths)
        return {kind: [place.name for place, _ in self.lengths if place.kind == kind] for kind in kinds}


def main(arguments: list[str] | None = None) -> int:
    parser = _parser()
    given = sys.argv[1:] if arguments is None else arguments
    if given[:2] == ["--suite", "practice"]:
        return practice(given[2:])
    options = _completed(parser.parse_args(given))
    try:
        contestants, events = _chosen(options), _events(options)
    except (ValueError, ModuleNotFoundError) as error:
        parser.error(str(error))
    return _run(options, contestants, events)


def _run(options: argparse.Namespace, contestants: list[Contestant], events: list[Event]) -> int:
    console, folder = console_for_tables(), Path(options.folder)
    store = Store(folder / "cells")
    cells = [cell for event in events for cell in event.cells(contestants, options.seeds)]
    known = {cell.key for cell, _ in stored(cells, store) if not _again(cell.contestant, options)}
    missing = list({cell.key: cell for cell in cells if cell.key not in known and _installed(cell)}.values())
    _tell(contestants, f"{len(known):,} cells are stored; {estimate(missing, options.jobs)}.")
    if options.estimate:
        return 0
    store.prepare()
    failures = play_missing(missing, store, options.jobs) if missing else []
    for event in events:
        found = stored(event.cells(contestants, options.seeds), store)
        _show(event, found, failures, folder, console, options.baseline)
    for failure in failures:
        sys.stderr.write(f"Not played: {failure.cell}: {failure.reason}\n")
    return int(bool(failures))


def _show(
    event: Event,
    found: list[tuple[Cell, Result]],
    failures: Sequence[Failure],
    folder: Path,
    console: Console,
    baseline: str,
) -> None:
    """Print the table, and write it, the figure and the JSON."""
    results = [result for _, result in found]
    if not results:
        return
    table, environments = by_contestant(results), event.environments
    content = sheet(table, list(table), environments, event.title, baseline)
    console.print(printed(content, console.width if console.is_terminal else None))
    old = outdated(found)
    if old:
        console.print(f"Played by other code than there is now (--again plays anew): {'; '.join(old)}.")
    order = [name for name, *_ in content.rows]
    against = differences(table, baseline)
    everywhere = [name for names in environments.values() for name in names]
    drawing = differences_figure(
        {name: against[name] for name in order if name in against}, everywhere, event.title, baseline
    )
    files: dict[str, str | bytes] = {
        "md": markdown(content),
        "json": document(results, failures, environments, event.title, baseline),
        "png": picture(drawing, "png"),
        "svg": picture(drawing, "svg"),
    }
    for ending, text in files.items():
        write_atomically(folder / f"{event.name}.{ending}", text)
    console.print(f"All of it is in {folder / event.name}.md, .json, .png and .svg.")


def _completed(options: argparse.Namespace) -> argparse.Namespace:
    """The options with their defaults, which are others for a quick look."""
    quick = options.quick
    if options.rounds is None:
        alone = options.no_replay and not quick
        options.rounds = [] if alone else [QUICK_ROUNDS if quick else 20_000]
    options.environments = options.environments or (QUICK if quick else ["all"])
    if options.seeds is None:
        options.seeds = QUICK_SEEDS if quick else 10
    options.baseline = options.baseline or (LINEAR if options.ablations else BASELINE)
    return options


def _chosen(options: argparse.Namespace) -> list[Contestant]:
    """The contestants that were asked for, the baseline always among them."""
    known = {one.name: one for one in (*CONTESTANTS, *ABLATIONS)}
    if options.baseline not in known:
        raise ValueError(f"--baseline is {options.baseline!r}; give one of {'; '.join(known)}.")
    asked = ABLATIONS if options.ablations else _of_packages(options)
    chosen = {one.name: one for one in (known[options.baseline], *asked) if _is_asked(one, options)}
    for text in options.only:
        if not any(text.lower() in name.lower() for name in chosen):
            raise ValueError(
                f"--only has {text!r}, and nobody who would play has that in the name; those who take part "
                "only when asked for need --slow, or the whole of their name."
            )
    return list({options.baseline: known[options.baseline], **chosen}.values())


def _of_packages(options: argparse.Namespace) -> list[Contestant]:
    asked = options.peers
    if "none" in asked and len(asked) > 1:
        raise ValueError("--peers has none and others; give one or the other.")
    packages = {"gyrfalcon", *(PACKAGES if asked == ["all"] else asked)}
    return [one for one in CONTESTANTS if one.package in packages]


def _is_asked(contestant: Contestant, options: argparse.Namespace) -> bool:
    """Whether it is among those of --only; slow ones must be asked for, by --slow or by their whole name."""
    name, texts = contestant.name.lower(), [text.lower() for text in options.only]
    if contestant.slow and not options.slow:
        return name in texts
    return not texts or any(text in name for text in texts)


def _events(options: argparse.Namespace) -> list[Event]:
    """One per number of rounds, and one without replay."""
    for n_rounds in options.rounds:
        if n_rounds < 4:
            raise ValueError(f"--rounds has {n_rounds}; give at least 4.")
    if options.jobs < 1 and options.jobs != -1:
        raise ValueError(f"--jobs is {options.jobs}; give at least 1, or -1 for all cores.")
    if options.seeds < 1:
        raise ValueError(f"--seeds is {options.seeds}; give at least 1.")
    places, seeds = (
        _places(options.environments),
        "1 seed" if options.seeds == 1 else f"{options.seeds} seeds",
    )
    prefix = "ablations-" if options.ablations else ""
    events = [
        Event(f"{prefix}rounds-{n:d}", f"{n:,} rounds, {seeds}", tuple((place, n) for place in places))
        for n in options.rounds
    ]
    if options.no_replay:
        once = tuple((place, place.n_rows) for place in places if place.kind == "real")
        if not once:
            raise ValueError("--no-replay is for real sets; add some of them to --environments.")
        events.append(Event(prefix + ONCE, f"Each row once, {seeds}", once))
    if not events:
        raise ValueError("there is nothing to play; give --rounds or --no-replay.")
    return events


def _places(names: Sequence[str]) -> list[Place]:
    groups = {"all": tuple(PLACES), "real": REAL, "synthetic": tuple(SYNTHETIC)}
    chosen = dict.fromkeys(name for given in names for name in groups.get(given, (given,)))
    places = []
    for name in chosen:
        place = place_named(name)
        if place is None:
            known = ", ".join(PLACES)
            raise ValueError(
                f"--environments has {name!r}; give real, synthetic, all, {known}, or a data set's name."
            )
        places.append(place)
    for place in places:
        place.environment(0)  # a data set that is not installed is refused before anything is played
    return places


def _again(contestant: Contestant, options: argparse.Namespace) -> bool:
    return options.again is not None and options.again.lower() in contestant.name.lower()


def _installed(cell: Cell) -> bool:
    return cell.contestant.version is not None


def _tell(contestants: Sequence[Contestant], sentence: str) -> None:
    absent = dict.fromkeys(one.package for one in contestants if one.version is None)
    if absent:
        sys.stderr.write(f"Not installed here, shown only where stored: {', '.join(absent)}.\n")
    sys.stderr.write(sentence + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regret", description=__doc__)
    add = parser.add_argument
    add("--suite", choices=["all", "practice"], default="all", help="practice, given first: see its --help")
    add("--rounds", type=int, nargs="*", metavar="T", help="lengths of runs; 20000 by default")
    add("--no-replay", action="store_true", help="real sets with each row seen once; alone unless --rounds")
    add("--environments", nargs="+", metavar="NAME", help="real, synthetic, all (by default), or names")
    add("--seeds", type=int, metavar="N", help="orderings of each environment, 10 by default")
    peers = [package for package in PACKAGES if package != "gyrfalcon"]
    add("--peers", nargs="+", default=["all"], choices=["all", "none", *peers], help="other libraries")
    add(
        "--only",
        nargs="+",
        default=[],
        metavar="TEXT",
        help="contestants with one of these texts in their name, and the baseline",
    )
    add("--slow", action="store_true", help="those that take part only when asked for, too")
    add("--ablations", action="store_true", help="AdaptiveFalcon, and with one part off each, instead")
    add("--baseline", metavar="NAME", help=f"whom others are compared with, {BASELINE} by default")
    add("--again", metavar="TEXT", help="play contestants with this text in their name anew")
    add("--jobs", type=int, default=1, metavar="N", help="cells played at a time")
    add("--folder", default="out/regret", help="where results are, and tables go")
    add("--estimate", action="store_true", help="say what it would cost, and stop")
    add(
        "--quick",
        action="store_true",
        help=f"{QUICK_ROUNDS} rounds, {QUICK_SEEDS} seeds, {len(QUICK)} environments",
    )
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
