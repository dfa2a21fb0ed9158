"""Which rule for the passive share earns most, and where.

`python -m benchmarks.epsilon` prints the tables of docs/how-to/choose-epsilon.md: AdaptiveFalcon with one
linear model and a share that is fixed, follows the gate, or follows Corollary 1 at an estimate of b; and the
calibrated Epsilon-FALCON with two fixed shares and with the corollary's. All meet the same rounds, seed by
seed, so that differences are paired. Environments are those of `benchmarks.regret`: families have another
truth under each seed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from benchmarks.regret.environments import PLACES
from gyrfalcon.core.arrays import Floats
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.simulation.trace import Summary, Trace

FAMILIES: dict[str, dict[str, Learner]] = {
    "AdaptiveFalcon": {
        "gate": AdaptiveFalcon(classes=("linear",)),
        "fixed": AdaptiveFalcon(epsilon=0.03, classes=("linear",)),
        "corollary": AdaptiveFalcon(epsilon="corollary", classes=("linear",)),
    },
    "EpsilonFalcon": {
        "0.05": EpsilonFalcon(passive_design="coin", epsilon=0.05),
        "0.029": EpsilonFalcon(passive_design="coin", epsilon=0.029),
        "corollary": EpsilonFalcon(passive_design="coin", epsilon="corollary"),
    },
}
"""Rules by family; others are compared with the first. Passive rounds are a coin's: a run that stops in the
midst of an epoch would not pay for those in its tail."""

ENVIRONMENTS = (
    *("section 1.1", "appendix E", "xor", "bump", "linear", "rare"),
    *("wine", "segment", "banana", "magic"),
)
ROUNDS, LONG, SEEDS = 20_000, 100_000, 10
LONG_ENVIRONMENT = "section 1.1"
WIDE = 120
QUICK_ROUNDS, QUICK_SEEDS = 2_000, 3
MEASURES = {"whole run": "reward", "last quarter": "late", "passive": "passive"}


@dataclass(frozen=True, slots=True)
class Played:
    """What a rule did in an environment, seed by seed."""

    family: str
    rule: str
    environment: str
    n_rounds: int
    reward: Floats
    """(S,): mean reward of a round."""
    late: Floats
    """(S,): the same of the last quarter."""
    passive: Floats
    """(S,): passive rows among those of the last fit, which are all rows or an epoch's."""
    said: list[str]
    """What each run's last report says of its share, if anything."""


def main(arguments: list[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        lengths, n_seeds = _lengths(options), _n_seeds(options)
    except ValueError as error:
        parser.error(str(error))
    found = _all_played(lengths, n_seeds)
    if options.json:
        print(json.dumps(_document(found, n_seeds), indent=2))
    else:
        console = Console() if Console().is_terminal else Console(width=WIDE)
        for family in FAMILIES:
            console.print(_table(found, family, n_seeds))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.epsilon", description=__doc__)
    add = parser.add_argument
    add("--rounds", type=int, metavar="T", help=f"{ROUNDS} by default, and {LONG} in {LONG_ENVIRONMENT}, too")
    add("--seeds", type=int, metavar="N", help=f"{SEEDS} by default")
    add(
        "--environments",
        nargs="+",
        metavar="NAME",
        default=list(ENVIRONMENTS),
        help=f"{', '.join(ENVIRONMENTS)} by default",
    )
    add("--json", action="store_true", help="print one JSON document instead of the tables")
    add("--quick", action="store_true", help=f"{QUICK_ROUNDS} rounds and {QUICK_SEEDS} seeds")
    return parser


def _lengths(options: argparse.Namespace) -> list[tuple[str, int]]:
    """Environments with their rounds."""
    unknown = [name for name in options.environments if name not in PLACES]
    if unknown:
        raise ValueError(f"--environments has {unknown[0]!r}; give some of {', '.join(PLACES)}.")
    default = QUICK_ROUNDS if options.quick else ROUNDS
    n_rounds = default if options.rounds is None else options.rounds
    if n_rounds < 4:
        raise ValueError(f"--rounds is {n_rounds}; give at least 4.")
    is_long = options.rounds is None and not options.quick and LONG_ENVIRONMENT in options.environments
    return [
        *([(LONG_ENVIRONMENT, LONG)] if is_long else []),
        *((name, n_rounds) for name in options.environments),
    ]


def _n_seeds(options: argparse.Namespace) -> int:
    n_seeds: int = options.seeds if options.seeds is not None else (QUICK_SEEDS if options.quick else SEEDS)
    if n_seeds < 1:
        raise ValueError(f"--seeds is {n_seeds}; give at least 1.")
    return n_seeds


def _all_played(lengths: Sequence[tuple[str, int]], n_seeds: int) -> list[Played]:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    n_rules = sum(map(len, FAMILIES.values()))
    found = []
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(lengths) * n_rules * n_seeds)
        for environment, n_rounds in lengths:
            for family, rules in FAMILIES.items():
                for rule, learner in rules.items():
                    progress.update(task, description=f"{environment}: {family}, {rule}")
                    traces = _traces(learner, environment, n_rounds, n_seeds, lambda: progress.advance(task))
                    found.append(_summed(family, rule, environment, traces))
    return found


def _traces(
    learner: Learner, environment: str, n_rounds: int, n_seeds: int, on_run: Callable[[], None]
) -> list[Trace]:
    late = n_rounds - n_rounds // 4
    traces = []
    for seed in range(n_seeds):
        drawn = PLACES[environment].environment(seed)
        traces.append(simulate(learner, drawn, n_rounds, seed=seed, checkpoints=[late, n_rounds]))
        on_run()
    return traces


def _summed(family: str, rule: str, environment: str, traces: Sequence[Trace]) -> Played:
    reward = np.concatenate([trace.reward for trace in traces])
    late, n_rounds = traces[0].checkpoints.tolist()
    return Played(
        family,
        rule,
        environment,
        n_rounds,
        reward[:, 1] / n_rounds,
        (reward[:, 1] - reward[:, 0]) / (n_rounds - late),
        np.array([_passive_share(trace) for trace in traces]),
        [_said(trace) for trace in traces],
    )


def _passive_share(trace: Trace) -> float:
    report = trace.epochs[0][-1].report
    return np.nan if report is None else report.n_passive / (report.n_active + report.n_passive)


def _said(trace: Trace) -> str:
    report = trace.epochs[0][-1].report
    return (
        next((line for line in report.details if "Corollary 1" in line or "b could" in line), "")
        if report
        else ""
    )


def _table(found: Sequence[Played], family: str, n_seeds: int) -> Table:
    rules = list(FAMILIES[family])
    table = Table(
        title=f"{family}: mean reward of a round in points, {n_seeds} seeds",
        caption=f"Differences to {rules[0]}, paired, with standard errors. Passive: how many of 100 rows.",
        title_justify="left",
        caption_justify="left",
        box=None,
        padding=(0, 0, 0, 1),
    )
    table.add_column("\nenvironment", no_wrap=True)
    for name in (
        f"{'' if number else measure}\n{rule}" for measure in MEASURES for number, rule in enumerate(rules)
    ):
        table.add_column(name, justify="right", no_wrap=True)
    for cell in found:
        if (cell.family, cell.rule) == (family, rules[0]):
            table.add_row(*_row(found, cell))
    return table


def _row(found: Sequence[Played], first: Played) -> list[str]:
    """An environment's numbers: for each measure the first rule's, then how far the others are from it."""
    here = [one for one in found if _place(one) == _place(first)]
    longer = f" {first.n_rounds:,}" if (first.environment, first.n_rounds) == (LONG_ENVIRONMENT, LONG) else ""
    cells = [first.environment + longer]
    for name in MEASURES.values():
        for one in here:
            is_plain = one is first or name == "passive"
            cells.append(_mean(one, name) if is_plain else _difference(one, first, name))
    return cells


def _place(one: Played) -> tuple[str, str, int]:
    return one.family, one.environment, one.n_rounds


def _mean(one: Played, measure: str) -> str:
    return f"{100.0 * float(np.mean(getattr(one, measure))):.1f}"


def _difference(one: Played, first: Played, measure: str) -> str:
    summary = _gain(one, first, measure)
    return f"{100.0 * summary.mean:+.2f} ({100.0 * summary.standard_error:.2f})"


def _gain(one: Played, first: Played, measure: str) -> Summary:
    return Summary.of(getattr(one, measure) - getattr(first, measure))


def _document(found: Sequence[Played], n_seeds: int) -> dict[str, object]:
    return {"seeds": n_seeds, "played": [_as_json(one, found) for one in found]}


def _as_json(one: Played, found: Sequence[Played]) -> dict[str, object]:
    first = next(other for other in found if _place(other) == _place(one))
    gains = {name: _gain(one, first, name) for name in ("reward", "late")}
    return {
        "family": one.family,
        "rule": one.rule,
        "environment": one.environment,
        "rounds": one.n_rounds,
        **{name: getattr(one, name).tolist() for name in MEASURES.values()},
        "said": one.said,
        "against": first.rule,
        **{f"{name}_gain": {"mean": gain.mean, "error": gain.standard_error} for name, gain in gains.items()},
    }


if __name__ == "__main__":
    sys.exit(main())
