"""`gyrfalcon evaluate`: what other policies would have earned by a log, the verdict first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gyrfalcon.cli._evaluation_text import print_evaluation
from gyrfalcon.cli._figure_file import figure_kind, write_figure
from gyrfalcon.cli._log_input import (
    PANEL,
    ColumnOf,
    FormatOption,
    FromFormat,
    LogPath,
    RewardRange,
    read_table,
    typed_range,
)
from gyrfalcon.cli._output import note, print_json

if TYPE_CHECKING:
    from gyrfalcon.core.decision_table import DecisionTable
    from gyrfalcon.evaluation.diagnosis.result import Diagnosis
    from gyrfalcon.evaluation.evaluation import Evaluation

EXAMPLES = """\
gyrfalcon evaluate decisions --policy always:red --policy uniform
gyrfalcon evaluate decisions --policy greedy --html report.html --unit euros
gyrfalcon evaluate decisions -p new=rules:new -p old=rules:old --baseline old
gyrfalcon evaluate ads.csv --map action=ad --map reward=y --map propensity=p
gyrfalcon evaluate decisions -p uniform --estimator dros --shrinkage tuned
gyrfalcon evaluate decisions --policy bandit:shop.bandit --held-out --strict
"""

DISTRUSTED = 3
"""Exit code of --strict where a policy's value is not to be trusted."""

_METHOD, _OUTPUT = "Method", "Output"


def evaluate(
    log: LogPath,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            "-p",
            metavar="POLICY",
            help="always:LABEL, uniform, logged, greedy (on the last policy's reward estimates), "
            "greedy:HASH, epoch:HASH, bandit:FILE (saved), final:FILE (of an experiment), or "
            "module:function; NAME=POLICY names it. Repeat for several.",
            show_default=False,
        ),
    ] = None,
    baseline: Annotated[
        str, typer.Option(help="Name of the policy that differences are to.", rich_help_panel=_METHOD)
    ] = "logged",
    estimator: Annotated[
        str,
        typer.Option(
            help="dr, sndr, switch, dros, sub_gaussian_dr, ips, snips, clipped, sub_gaussian or dm.",
            rich_help_panel=_METHOD,
        ),
    ] = "dr",
    interval: Annotated[
        str,
        typer.Option(
            help="minvar, minvar_expected, stablevar, normal, bootstrap, empirical_bernstein, contextual or "
            "cadr; the last two need a folder that stores its policies.",
            rich_help_panel=_METHOD,
        ),
    ] = "minvar",
    level: Annotated[
        float, typer.Option(help="Probability that an interval covers.", rich_help_panel=_METHOD)
    ] = 0.95,
    max_weight: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|tuned",
            help="Largest weight, for switch and clipped; tuned takes the one of the least estimated error.",
            rich_help_panel=_METHOD,
            show_default=False,
        ),
    ] = None,
    shrinkage: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|tuned",
            help="Shrinkage of weights, for dros, sub_gaussian and sub_gaussian_dr; dros can be tuned.",
            rich_help_panel=_METHOD,
            show_default=False,
        ),
    ] = None,
    marginalise: Annotated[
        str | None,
        typer.Option(
            metavar="FEATURE,...",
            help="Features of actions that rewards depend on; actions with equal ones count as one.",
            rich_help_panel=_METHOD,
            show_default=False,
        ),
    ] = None,
    reward_range: RewardRange = None,
    estimated: Annotated[
        bool,
        typer.Option(
            "--estimated-propensities",
            help="Propensities were estimated, and not logged; a log that has none gets estimated ones.",
            rich_help_panel=PANEL,
        ),
    ] = False,
    held_out: Annotated[
        bool,
        typer.Option(
            "--held-out",
            help="Use only rows since all stored policies were in play, which they did not learn from; a "
            "saved bandit is taken to have learned from other rows.",
            rich_help_panel=PANEL,
        ),
    ] = False,
    from_format: FromFormat = "auto",
    mapping: ColumnOf = None,
    option: FormatOption = None,
    html: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write a page with figures, faults of the log and a diagnosis of the model class.",
            rich_help_panel=_OUTPUT,
            show_default=False,
        ),
    ] = None,
    diagnosis: Annotated[
        bool,
        typer.Option(
            help="Whether the page says where the model class is wrong; it takes longest with many actions.",
            rich_help_panel=_OUTPUT,
        ),
    ] = True,
    unit: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Unit of rewards, for texts and figures.",
            rich_help_panel=_OUTPUT,
            show_default=False,
        ),
    ] = "",
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with 3 if a verdict is 'do not trust'.", rich_help_panel=_OUTPUT),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.", rich_help_panel=_OUTPUT)] = False,
    figure: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write values with their intervals as .svg, .png or .pdf.",
            rich_help_panel=_OUTPUT,
            show_default=False,
        ),
    ] = None,
) -> None:
    """Estimate what other policies would have earned by a log.

    The verdict comes first: "trust", "caution" or "do not trust" for each policy, with reasons. Values are
    doubly robust, with rewards predicted from earlier rows, and have two intervals: MinVar, for logs whose
    policies changed with earlier rewards, and a betting sequence that holds at any time. The exit code is 0
    whatever the verdict is; with --strict it is 3 where a policy's is "do not trust".
    """
    from gyrfalcon.cli._parsing import check_file_place
    from gyrfalcon.cli._policies import logged_policies, rows_since, typed_policies

    check_file_place("--html", html)
    kind = figure_kind(figure)
    bounds, policies = typed_range(reward_range), policy or ["uniform"]
    table = read_table(log, from_format, mapping, option)
    table = _with_propensities(table) if estimated else table
    table = rows_since(policies, table) if held_out else table
    evaluation = _evaluated(
        table,
        typed_policies(policies, table, held_out=held_out),
        baseline=baseline,
        estimator=estimator,
        interval=interval,
        level=level,
        max_weight=_typed_limit("--max-weight", max_weight),
        shrinkage=_typed_limit("--shrinkage", shrinkage),
        marginalise=None if marginalise is None else marginalise.split(","),
        reward_range=bounds,
        estimated_propensities=estimated,
        logged_policies=logged_policies(table),
        reward_unit=unit,
    )
    if as_json:
        print_json({**evaluation.to_dict(), **_provenance(table)})
    else:
        print_evaluation(evaluation)
    if html is not None:
        _write_page(html, table, evaluation, bounds, diagnosis)
    if figure is not None:
        from gyrfalcon.reports.evaluation_figures import estimates_figure
        from gyrfalcon.reports.figures import picture

        write_figure(figure, picture(estimates_figure(evaluation), kind), "figure")
    if strict and evaluation.with_level("do not trust"):
        raise typer.Exit(DISTRUSTED)


def _typed_limit(option: str, text: str | None) -> float | str | None:
    """A number, "tuned", or None where nothing was typed."""
    if text is None or text == "tuned":
        return text
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{option} is {text!r}; give a number such as 10, or tuned.") from None


def _evaluated(table: DecisionTable, policies: dict[str, object], **settings: Any) -> Evaluation:
    from gyrfalcon.cli._progress import by_piece, progress
    from gyrfalcon.engine.threads import one_blas_thread
    from gyrfalcon.evaluation.policy_evaluation import evaluate as evaluate_policies

    with one_blas_thread(), progress("Evaluating", len(policies) + 1, "policies") as tracker:
        return evaluate_policies(table, policies, on_progress=by_piece(tracker), **settings)


def _with_propensities(table: DecisionTable) -> DecisionTable:
    """The table with estimated propensities where it has none, and a note on their calibration."""
    import numpy as np

    from gyrfalcon.engine.threads import one_blas_thread
    from gyrfalcon.evaluation import estimated_propensities

    if not np.isnan(table.propensity).all():
        return table
    with one_blas_thread():
        found = estimated_propensities(table)
    faults = found.calibration.faults()
    note(
        f"Estimated the propensities of {len(table):,} rows; "
        + (f"they are not calibrated: {faults[0].rstrip('.')}." if faults else "no test speaks against them.")
    )
    return found.table


def _provenance(table: DecisionTable) -> dict[str, str]:
    """What a report is matched with its log and its program by."""
    from gyrfalcon import __version__
    from gyrfalcon.reports.evaluation_method import content_hash

    return {"log_sha256": content_hash(table), "gyrfalcon": __version__}


def _write_page(
    path: str,
    table: DecisionTable,
    evaluation: Evaluation,
    bounds: tuple[float, float] | None,
    with_diagnosis: bool,
) -> None:
    from gyrfalcon.engine.threads import one_blas_thread
    from gyrfalcon.evaluation import check_log
    from gyrfalcon.reports.evaluation_page import evaluation_page
    from gyrfalcon.reports.page import Section, literal
    from gyrfalcon.storage.atomic import write_atomically

    with one_blas_thread():
        found, why_not = _diagnosed(table, evaluation.reward_unit) if with_diagnosis else (None, "")
        faults = check_log(table, reward_range=bounds)
    page = evaluation_page(
        table,
        evaluation,
        check=faults,
        diagnosis=found,
        sections=[Section("Is the reward model wrong?", [literal(why_not)])] if why_not else [],
    )
    write_atomically(Path(path), page.html().encode())
    note(f"Wrote {path}.")


def _diagnosed(table: DecisionTable, unit: str) -> tuple[Diagnosis | None, str]:
    """A diagnosis, or why there is none: a page without it is better than no page."""
    from gyrfalcon.cli._progress import by_piece, progress
    from gyrfalcon.evaluation.diagnosis.attempts import N_PARTS
    from gyrfalcon.evaluation.diagnosis.diagnosis import diagnose

    with progress("Diagnosing", N_PARTS, "parts") as tracker:
        try:
            return diagnose(table, reward_unit=unit or "reward units", on_progress=by_piece(tracker)), ""
        except ValueError as error:
            return None, f"That stays open: {error}"
