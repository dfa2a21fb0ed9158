"""`gyrfalcon demo`: the paper's Section 1.1 in a table and a figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from gyrfalcon.experiments.demo import Regret


def demo(
    rounds: Annotated[int, typer.Option(min=1_000, help="Rounds of each run.")] = 50_000,
    replications: Annotated[int, typer.Option(min=2, help="Runs of each learner, on the same worlds.")] = 100,
    out: Annotated[Path, typer.Option(help="Folder for the figure.")] = Path("out"),
    as_json: Annotated[bool, typer.Option("--json", help="Print numbers for machines.")] = False,
) -> None:
    """Play Section 1.1 of the paper: LinUCB and FALCON against Epsilon-FALCON.

    The reward of action 1 is a step, and all three fit lines. The best line is good enough to act optimally,
    but only Epsilon-FALCON stays close to it.

    For example: gyrfalcon demo --rounds 20000 --replications 20 --json
    """
    from rich.console import Console

    # Progress goes to stderr, so that --json leaves nothing but numbers on stdout.
    results = _run(rounds, replications, Console(stderr=True))
    path = _draw(out, results)
    if as_json:
        typer.echo(json.dumps({"figure": str(path), "regret": _numbers(results)}, indent=2))
    else:
        _print(Console(), results, rounds, replications, path)


def _run(rounds: int, replications: int, console: Console) -> dict[str, Regret]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from gyrfalcon.experiments.demo import LEARNERS, run_demo

    columns = (TextColumn("{task.description:<15}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        tasks = {name: progress.add_task(name, total=replications) for name in LEARNERS}
        return run_demo(rounds, replications, on_run=lambda name: progress.advance(tasks[name]))


def _numbers(results: dict[str, Regret]) -> dict[str, dict[str, float]]:
    from gyrfalcon.experiments.demo import mean_and_error

    table = {}
    for name, regret in results.items():
        total, total_error = mean_and_error(regret.cumulative)
        late, late_error = mean_and_error(regret.late)
        table[name] = {
            "cumulative": float(total),
            "cumulative_standard_error": float(total_error),
            "late_per_round": float(late),
            "late_per_round_standard_error": float(late_error),
        }
    return table


def _draw(out: Path, results: dict[str, Regret]) -> Path:
    from gyrfalcon.experiments.demo import mean_and_error
    from gyrfalcon.report.figures import regret_figure

    out.mkdir(parents=True, exist_ok=True)
    path = out / "demo.png"
    edges = next(iter(results.values())).edges
    middle = (edges[1:] + edges[:-1]) / 2
    curves = {name: mean_and_error(regret.per_round) for name, regret in results.items()}
    regret_figure(
        path,
        middle,
        curves,
        {"uniform play": 0.25},
        "A step fitted by lines: who stays close to the best one",
    )
    return path


def _print(console: Console, results: dict[str, Regret], rounds: int, replications: int, path: Path) -> None:
    from rich.table import Table

    table = Table(title=f"Section 1.1: expected regret, {rounds:,} rounds, {replications} replications")
    table.add_column("learner")
    table.add_column("cumulative (standard error)", justify="right")
    table.add_column("per round, last fifth (standard error)", justify="right")
    for name, row in _numbers(results).items():
        table.add_row(
            name,
            f"{row['cumulative']:,.0f} ({row['cumulative_standard_error']:,.0f})",
            f"{row['late_per_round']:.4f} ({row['late_per_round_standard_error']:.4f})",
        )
    console.print(table)
    console.print(f"Figure: {path}")
