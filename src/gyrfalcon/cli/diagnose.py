"""`gyrfalcon diagnose`: whether a model class is wrong in a log, where, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gyrfalcon.cli._figure_file import figure_kind, write_figure
from gyrfalcon.cli._log_input import ColumnOf, FormatOption, FromFormat, LogPath, read_table
from gyrfalcon.cli._output import note, number, print_json, print_table, say

if TYPE_CHECKING:
    from gyrfalcon.evaluation.diagnosis.result import Diagnosis
    from gyrfalcon.oracles.protocol import ModelClass

EXAMPLES = """\
gyrfalcon diagnose decisions
gyrfalcon diagnose decisions --model-class splines --unit euros
gyrfalcon diagnose decisions --html diagnosis.html --figure map.svg
gyrfalcon diagnose ads.csv --map action=ad --map features=age --rows all
"""

MOST_ACTIONS = 15
"""How many actions are printed, those of the largest error first."""


def diagnose(
    log: LogPath,
    model_class: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Model class in question: linear, ridge, quadratic, splines or fourier."
        ),
    ] = "linear",
    rows: Annotated[
        str,
        typer.Option(
            metavar="ROWS",
            help="Rows that stand for uniform play: passive, all (weighted by propensities) or auto.",
        ),
    ] = "auto",
    level: Annotated[float, typer.Option(metavar="P", help="Confidence level of intervals.")] = 0.95,
    unit: Annotated[str, typer.Option(metavar="NAME", help="Unit of rewards, for texts.")] = "reward units",
    from_format: FromFormat = "auto",
    mapping: ColumnOf = None,
    option: FormatOption = None,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page with map and tables.", rich_help_panel="Output"),
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the map as .svg, .png or .pdf.", rich_help_panel="Output"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.", rich_help_panel="Output")] = False,
) -> None:
    """Say whether a model class is wrong, where, and at what cost.

    The misspecification b of the class with an interval, tests of the hypothesis b = 0, the excess risk of
    the fit by epoch, the actions and contexts in which rewards are above or below its predictions, what the
    greedy policy of a richer class would earn more, and a recommendation.
    """
    from gyrfalcon.cli._parsing import check_file_place
    from gyrfalcon.cli._progress import by_piece, progress
    from gyrfalcon.engine.threads import one_blas_thread
    from gyrfalcon.evaluation.diagnosis.attempts import N_PARTS
    from gyrfalcon.evaluation.diagnosis.diagnosis import diagnose as diagnosis_of

    check_file_place("--html", html)
    chosen, kind = _model_class(model_class), figure_kind(figure)
    choice: Any = rows
    table = read_table(log, from_format, mapping, option)
    # Threads of a BLAS that wait for each other take ten times as long where others are at work.
    with one_blas_thread(), progress("Diagnosing", N_PARTS, "parts") as tracker:
        found = diagnosis_of(
            table,
            None,
            chosen,
            rows=choice,
            level=level,
            reward_unit=unit,
            on_progress=by_piece(tracker),
        )
    if as_json:
        print_json(as_numbers(found))
    else:
        _print(found, log)
    if html is not None:
        _write_page(found, log, html)
    if figure is not None:  # last, as there may be nothing to draw
        _write_figure(found, figure, kind)


def _model_class(name: str) -> ModelClass:
    from gyrfalcon.oracles.features.bases import Identity, Joined, Polynomial
    from gyrfalcon.oracles.features.smooth import RandomFourier, Splines
    from gyrfalcon.oracles.linear.linear import Linear

    classes = {
        "linear": Linear(),
        "ridge": Linear(ridge=1.0),
        "quadratic": Linear(basis=Polynomial(degree=2)),
        "splines": Linear(basis=Splines()),
        "fourier": Linear(basis=Joined((Identity(), RandomFourier())), ridge=1.0),
    }
    if name not in classes:
        raise ValueError(f"--model-class is {name!r}; choose {', '.join(classes)}.")
    return classes[name]


def _write_figure(found: Diagnosis, path: Path, kind: str) -> None:
    from gyrfalcon.reports.misspecification_map import misspecification_map

    if not found.profiles:
        raise ValueError(f"{path} was not written: these rows leave nothing to draw, for the reasons above.")
    write_figure(path, misspecification_map(found, kind), "map")


def _write_page(found: Diagnosis, log: str, path: Path) -> None:
    from gyrfalcon.reports.misspecification_section import misspecification_section
    from gyrfalcon.reports.page import Page
    from gyrfalcon.storage.atomic import write_atomically

    section = misspecification_section(found)
    page = Page(f"Diagnosis of {log}", f"{found.n_rows:,} rows. {found.verdict}", [section])
    write_atomically(path, page.html().encode())
    note(f"The page is in {path}.")


def as_numbers(found: Diagnosis) -> dict[str, Any]:
    """The diagnosis as dicts, lists and numbers; p values by the labels of actions."""
    from dataclasses import asdict

    numbers = asdict(found)
    if found.tests is not None:
        by_label = {
            str(found.actions[place]): value for place, value in found.tests.p_values_by_action.items()
        }
        numbers["tests"]["p_values_by_action"] = by_label
    return numbers


def _print(found: Diagnosis, log: str) -> None:
    from gyrfalcon.reports.misspecification_section import class_sentence, method_sentence, size_sentence

    say(f"{log}: {_rows(found.n_rows)}. {found.verdict}", class_sentence(found), *found.recommendations)
    say(size_sentence(found), *(text for text in [method_sentence(found)] if text))
    if found.region is not None:
        say(f"Most of all: {found.region}.")
    _print_actions(found)
    _print_cost(found)
    _print_epochs(found)
    for one in found.set_aside:
        say(f"{_rows(one.n_rows)} {one.reason} set aside, the first of them row {one.first_row}.")
    say(*_notes(found), *found.open_questions)


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n:,} rows"


def _print_actions(found: Diagnosis) -> None:
    if not found.by_action:
        return
    worst = sorted(found.by_action, key=lambda one: -one.excess)
    rows = [
        [str(one.action), f"{one.n_rows:,}", number(one.excess), f"{one.z:.1f}", f"{one.share:.0%}"]
        for one in worst[:MOST_ACTIONS]
    ]
    title = f"Mean squared error by action, in squared {found.reward_unit}"
    print_table(title, ["action", "rows", "error", "z", "share"], rows)
    if len(worst) > MOST_ACTIONS:
        say(f"{len(worst) - MOST_ACTIONS} more actions have smaller errors; --html and --json show them all.")


def _print_cost(found: Diagnosis) -> None:
    from gyrfalcon.reports.misspecification_section import gain_text, value_text

    cost = found.cost
    if cost is None:
        return
    rows = [
        [one.policy, value_text(one.value, costs=found.costs), gain_text(one.gain)]
        for one in (cost.plain, cost.uniform, cost.richer)
    ]
    title = f"Greedy policies over {cost.n_rows:,} rows; the richer class is {cost.chosen}"
    print_table(title, ["greedy policy of", "cost" if found.costs else "reward", "gain"], rows)


def _print_epochs(found: Diagnosis) -> None:
    if not found.epochs:
        return
    rows = [
        [
            str(one.epoch),
            f"{one.n_rows:,}",
            f"{one.n_uniform:,.0f}",
            number(one.excess),
            number(one.slack),
            number(one.multiplier),
        ]
        for one in found.epochs
    ]
    columns = ["epoch", "rows", "uniform", "excess", "noise allows", "multiplier"]
    print_table("Excess risk under uniform play of the fit to all rows so far", columns, rows, n_texts=0)


def _notes(found: Diagnosis) -> tuple[str, ...]:
    parts = (found.misspecification, found.tests, found.cost)
    return tuple(dict.fromkeys(note for part in parts if part is not None for note in part.notes))
