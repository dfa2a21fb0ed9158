"""An evaluation on the terminal: verdict, what to do, objections, then values and differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from gyrfalcon.cli._output import counted, indented, print_table, say
from gyrfalcon.core.digits import rounded_to, span_text

if TYPE_CHECKING:
    from gyrfalcon.evaluation.evaluation import Evaluation
    from gyrfalcon.evaluation.intervals.interval import Interval
    from gyrfalcon.evaluation.verdict.verdict import Reason


def print_evaluation(evaluation: Evaluation) -> None:
    """Print an evaluation, the verdict first, then what it says to do."""
    from gyrfalcon.reports.evaluation_decision import decision_sentences
    from gyrfalcon.reports.evaluation_summary import several_policies
    from gyrfalcon.reports.page import plain

    say(
        " ".join(
            filter(None, [f"Verdict: {evaluation.verdict.level}.", plain(decision_sentences(evaluation))])
        )
    )
    _print_objections(evaluation)
    typer.echo("")
    _print_values(evaluation)
    caution = several_policies(evaluation)
    if caution:
        say(caution)
    for why, count in evaluation.set_aside.items():
        indented(f"Set aside: {counted(count, 'row')}, {why}.", 2)
    for sentence in dict.fromkeys(one.sequence_note for one in evaluation.policies if one.sequence_note):
        indented(f"Betting sequence: {sentence}", 2)


def _print_objections(evaluation: Evaluation) -> None:
    """Print objections policy by policy, those that all but the logged play share only once."""
    common = evaluation.common_reasons
    _print_reasons("all but logged", [one for one in common if one.level != "trust"])
    for policy in evaluation.policies:
        found = policy.verdict.objections
        own = [one for one in found if policy.name == "logged" or one not in common]
        typer.secho(f"{policy.name}: {policy.verdict.level}", bold=True)
        _print_reasons("", own)
        if not own:
            typer.echo("  no other objections" if found else "  no objections")


def _print_reasons(heading: str, reasons: list[Reason]) -> None:
    if heading and reasons:
        typer.secho(f"{heading}:", bold=True)
    for reason in reasons:
        indented(f"  {reason.level:<12}  {reason.check}: {reason.text}", 16)


def _print_values(evaluation: Evaluation) -> None:
    """Print values, and differences in a table of their own: one for all is wider than a terminal."""
    method = f"{evaluation.settings['estimator']}, {evaluation.settings['interval']}"
    measure = f"{evaluation.measure[:1].upper()}{evaluation.measure[1:]}"
    less = " (less is better)" if evaluation.cost else ""
    print_table(
        f"{measure}{less} from {counted(evaluation.n_rows, 'row')} of {evaluation.n_given:,} "
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
