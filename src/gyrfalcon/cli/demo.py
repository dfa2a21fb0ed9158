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

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise typer.BadParameter(f"{out} can't be made: {error.strerror}.", param_hint="--out") from error
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
    return {
        name: {
            "cumulative": regret.cumulative.mean,
            "cumulative_standard_error": regret.cumulative.standard_error,
            "late_per_round": regret.late.mean,
            "late_per_round_standard_error": regret.late.standard_error,
        }
        for name, regret in results.items()
    }


def _draw(out: Path, results: dict[str, Regret]) -> Path:
    from gyrfalcon.experiments.demo import UNIFORM_REGRET
    from gyrfalcon.report.figures import regret_figure

    path = out / "demo.png"
    rounds = next(iter(results.values())).rounds
    curves = {name: regret.per_round for name, regret in results.items()}
    title = "A step fitted by lines: who stays close to the best one"
    regret_figure(path, rounds, curves, {"uniform play": UNIFORM_REGRET}, title)
    return path


def _print(console: Console, results: dict[str, Regret], rounds: int, replications: int, path: Path) -> None:
    from rich.table import Table

    table = Table(title=f"Section 1.1: expected regret, {rounds:,} rounds, {replications} replications")
    table.add_column("learner")
    table.add_column("cumulative (standard error)", justify="right")
    table.add_column("per round, last fifth (standard error)", justify="right")
    for name, regret in results.items():
        table.add_row(
            name,
            f"{regret.cumulative.mean:,.0f} ({regret.cumulative.standard_error:,.0f})",
            f"{regret.late.mean:.4f} ({regret.late.standard_error:.4f})",
        )
    console.print(table)
    console.print(f"Figure: {path}")
