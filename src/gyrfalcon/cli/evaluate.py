"""`gyrfalcon evaluate`: what other policies would have earned by a log, the verdict first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
from gyrfalcon.cli._output import counted, indented, note, print_json, print_table, say
from gyrfalcon.core.digits import rounded_to, span_text

if TYPE_CHECKING:
    from gyrfalcon.core.decision_table import DecisionTable
    from gyrfalcon.evaluation.evaluation import Evaluation
    from gyrfalcon.evaluation.intervals.interval import Interval

EXAMPLES = """\
gyrfalcon evaluate decisions --policy always:red --policy uniform
gyrfalcon evaluate decisions --policy greedy --html report.html
gyrfalcon evaluate decisions --policy greedy --figure values.png
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
            "greedy:HASH, epoch:HASH, bandit:FILE (saved), or module:function; NAME=POLICY names it. "
            "Repeat for several.",
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
            help="Propensities were estimated, and not logged.",
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
            help="Write a page with figures, too.",
            rich_help_panel=_OUTPUT,
            show_default=False,
        ),
    ] = None,
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
    )
    if html is not None:
        _write_page(html, table, evaluation)
    if figure is not None:
        from gyrfalcon.reports.evaluation_figures import estimates_figure
        from gyrfalcon.reports.figures import picture

        write_figure(figure, picture(estimates_figure(evaluation), kind), "figure")
    if as_json:
        print_json(evaluation.to_dict())
    else:
        _print(evaluation)
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
    from gyrfalcon.evaluation.policy_evaluation import evaluate as evaluate_policies

    with progress("Evaluating", len(policies) + 1, "policies") as tracker:
        return evaluate_policies(table, policies, on_progress=by_piece(tracker), **settings)


def _write_page(path: str, table: DecisionTable, evaluation: Evaluation) -> None:
    from gyrfalcon.reports.evaluation_page import evaluation_page
    from gyrfalcon.storage.atomic import write_atomically

    write_atomically(Path(path), evaluation_page(table, evaluation).html().encode())
    note(f"Wrote {path}.")


def _print(evaluation: Evaluation) -> None:
    say(f"Verdict: {evaluation.verdict.level}.")
    for policy in evaluation.policies:
        typer.secho(f"{policy.name}: {policy.verdict.level}", bold=True)
        for reason in policy.verdict.objections:
            indented(f"  {reason.level:<12}  {reason.check}: {reason.text}", 16)
        if not policy.verdict.objections:
            typer.echo("  no objections")
    typer.echo("")
    _print_values(evaluation)
    for why, count in evaluation.set_aside.items():
        typer.echo(f"Set aside: {counted(count, 'row')}, {why}.")
    for sentence in dict.fromkeys(one.sequence_note for one in evaluation.policies if one.sequence_note):
        typer.echo(f"Betting sequence: {sentence}")


def _print_values(evaluation: Evaluation) -> None:
    """Print values, and differences in a table of their own: one for all is wider than a terminal."""
    method = f"{evaluation.settings['estimator']}, {evaluation.settings['interval']}"
    what = "Costs (less is better)" if evaluation.cost else "Rewards"
    print_table(
        f"{what} per decision from {counted(evaluation.n_rows, 'row')} of {evaluation.n_given:,} "
        f"({method}, level {evaluation.settings['level']:g})",
        ("policy", "verdict", "value", "interval", "betting"),
        [
            (
                policy.name,
                policy.verdict.level,
                rounded_to(policy.value, policy.interval.high - policy.interval.low),
                _ends(policy.interval),
                _ends(policy.sequence),
            )
            for policy in evaluation.policies
        ],
        n_texts=2,
    )
    differences = [
        (
            policy.name,
            policy.verdict.level,
            rounded_to(policy.difference, span.high - span.low, signed=True),
            _ends(span, signed=True),
        )
        for policy in evaluation.policies
        if policy.difference is not None and (span := policy.difference_interval) is not None
    ]
    if differences:
        columns = ("policy", "verdict", "difference", "interval")
        print_table(f"Differences to {evaluation.baseline}, row by row", columns, differences, n_texts=2)


def _ends(span: Interval | None, *, signed: bool = False) -> str:
    return "-" if span is None else span_text(span.low, span.high, signed=signed)
