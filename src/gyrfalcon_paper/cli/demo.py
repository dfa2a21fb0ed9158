"""`gyrfalcon demo`: the paper's Section 1.1 in a table, a figure and a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gyrfalcon.cli._output import print_json, print_table
from gyrfalcon.cli._parsing import whole
from gyrfalcon.cli._progress import by_piece, progress

if TYPE_CHECKING:
    from gyrfalcon_paper.demo import Outcome

EXAMPLES = """\
gyrfalcon demo
gyrfalcon demo --rounds 20000 --replications 20 --out first-look
gyrfalcon demo --json
"""


def demo(
    rounds: Annotated[int, typer.Option(parser=whole, metavar="N", help="Rounds of each run.")] = 102_400,
    replications: Annotated[
        int,
        typer.Option(
            parser=whole, metavar="R", help="Replications of each learner, with common random numbers."
        ),
    ] = 100,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the page and the figure.")] = Path(
        "out"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print numbers for machines.")] = False,
) -> None:
    """Play the paper's first example in a minute: a table and a page.

    The reward of action 1 is a step. LinUCB, FALCON and Epsilon-FALCON fit linear models, the best of which
    is good enough to act optimally; AdaptiveFalcon, the default learner, chooses its model class from the
    data. The page shows the regret of each over time. AdaptiveFalcon refits most often and has 6 replications
    at most.
    """
    _check(rounds, replications)
    out.mkdir(parents=True, exist_ok=True)
    from gyrfalcon_paper.demo import run_demo

    with progress("Section 1.1", 1, "pieces") as tracker:
        outcomes = run_demo(rounds, replications, by_piece(tracker))
    files = _written(out, outcomes, rounds, replications)
    if as_json:
        print_json({**files, "regret": _numbers(outcomes)})
    else:
        _print(outcomes, rounds, replications, files)


def _check(rounds: int, replications: int) -> None:
    if rounds < 1_000:
        raise typer.BadParameter(f"{rounds} rounds show nothing; give at least 1000.", param_hint="--rounds")
    if replications < 2:
        raise typer.BadParameter(
            f"{replications} has no standard error; give at least 2.", param_hint="--replications"
        )


def _written(out: Path, outcomes: dict[str, Outcome], rounds: int, replications: int) -> dict[str, str]:
    from gyrfalcon.reports.figures import picture
    from gyrfalcon.storage.atomic import write_atomically
    from gyrfalcon_paper.cli.demo_page import demo_page, regret_over_time

    figure, page = out / "demo.png", out / "demo.html"
    write_atomically(figure, picture(regret_over_time(outcomes), "png"))
    write_atomically(page, demo_page(outcomes, rounds, replications))
    return {"figure": str(figure), "page": str(page)}


def _numbers(outcomes: dict[str, Outcome]) -> dict[str, dict[str, float]]:
    return {
        name: {
            "cumulative": outcome.cumulative.mean,
            "cumulative_standard_error": outcome.cumulative.standard_error,
            "late_per_round": outcome.late.mean,
            "late_per_round_standard_error": outcome.late.standard_error,
        }
        for name, outcome in outcomes.items()
    }


def _print(outcomes: dict[str, Outcome], rounds: int, replications: int, files: dict[str, str]) -> None:
    from gyrfalcon_paper.cli.demo_page import table_of

    title = f"Section 1.1: expected regret (standard error), {rounds:,} rounds, {replications} replications"
    print_table(title, *table_of(outcomes))
    typer.echo(f"Figure: {files['figure']}")
    typer.echo(f"Report: {files['page']}")
