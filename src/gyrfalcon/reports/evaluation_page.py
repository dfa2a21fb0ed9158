"""Page of an evaluation: verdict and summary for everybody, figures, and what a statistician checks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.digits import rounded_to, significant, span_text
from gyrfalcon.engine.fingerprint import fingerprint
from gyrfalcon.evaluation.checks.report import LogCheck
from gyrfalcon.evaluation.diagnosis.result import Diagnosis
from gyrfalcon.evaluation.evaluation import Evaluation, PolicyValue
from gyrfalcon.evaluation.intervals.by_name import INTERVALS
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.verdict.verdict import Level, Reason
from gyrfalcon.reports import evaluation_figures as figures
from gyrfalcon.reports.evaluation_decision import shown_policies
from gyrfalcon.reports.evaluation_method import method_section
from gyrfalcon.reports.evaluation_summary import (
    headline,
    reward_word,
    sentences_on,
    several_policies,
)
from gyrfalcon.reports.figures import picture
from gyrfalcon.reports.log_check_section import fault_sentence, log_check_section
from gyrfalcon.reports.misspecification_section import misspecification_section
from gyrfalcon.reports.page import Cell, Mark, Page, Section, Table, literal

_HOLDS: dict[Level, bool | None] = {"trust": True, "caution": None, "do not trust": False}

MOST_PARAGRAPHS = 8
"""How many policies have a paragraph of their own."""


def evaluation_page(
    table: DecisionTable,
    evaluation: Evaluation,
    *,
    check: LogCheck | None = None,
    diagnosis: Diagnosis | None = None,
    sections: Sequence[Section] = (),
) -> Page:
    """One self-contained page of an evaluation, with figures.

    Parameters
    ----------
    table
        The log that was evaluated.
    evaluation
        What `evaluate` has returned for it.
    check
        What `check_log` has returned for it: its faults.
    diagnosis
        What `diagnose` has returned for it: whether the reward model is wrong, with a map of where.
    sections
        Further sections; they stand before the method.
    """
    return Page(
        title=f"What other policies would have earned: {_name(evaluation.source)}",
        lead=headline(evaluation) + ("" if check is None else fault_sentence(check)),
        sections=[
            _summary(evaluation),
            _objections(evaluation),
            _figure_of_rewards(table, evaluation),
            _figure_of_propensities(table, evaluation),
            _overlap(evaluation),
            *([] if diagnosis is None else [misspecification_section(diagnosis)]),
            *([] if check is None else [log_check_section(check)]),
            *sections,
            method_section(table, evaluation),
            _all_checks(evaluation),
        ],
        footer=f"Made by gyrfalcon {fingerprint().gyrfalcon}.",
    )


def _name(source: str) -> str:
    """The last part of a path: the title needs no folders."""
    return source.replace("\\", "/").rstrip("/").rpartition("/")[2] or "a log"


def _summary(evaluation: Evaluation) -> Section:
    level = f"{float(evaluation.settings['level']):.0%}"
    against = f"difference to {literal(evaluation.baseline)}" if evaluation.baseline else "difference"
    described = shown_policies(evaluation.policies, evaluation, MOST_PARAGRAPHS)
    more = len(evaluation.policies) - len(described)
    rest = [f"{more} more policies are in the table."] if more else []
    caution = [text for text in [several_policies(evaluation)] if text]
    columns = (
        "policy",
        "verdict",
        reward_word(evaluation),
        f"{level} interval",
        f"{level} betting sequence",
        against,
        "its interval",
    )
    return Section(
        "In short",
        [*(sentences_on(policy, evaluation) for policy in described), *rest, *caution],
        figure=picture(figures.estimates_figure(evaluation), "svg"),
        caption=(
            f"{literal(evaluation.measure[:1].upper() + evaluation.measure[1:])}. Thick: {level} interval by "
            f"{INTERVALS[evaluation.settings['interval']].title}. Thin, grey: betting sequence, which holds "
            "however often one looks. An arrow: it goes on outside of the picture. Dashed: the baseline."
        ),
        table=Table(columns, [_values(policy) for policy in evaluation.policies]),
    )


def _values(policy: PolicyValue) -> tuple[Cell, ...]:
    difference, interval = policy.difference, policy.difference_interval
    change = "-"
    if difference is not None and interval is not None:
        change = rounded_to(difference, interval.high - interval.low, signed=True)
    return (
        literal(policy.name),
        _mark(policy.verdict.level),
        rounded_to(policy.value, policy.interval.high - policy.interval.low),
        _span(policy.interval),
        _span(policy.sequence),
        change,
        _span(interval, signed=True),
    )


def _objections(evaluation: Evaluation) -> Section:
    common = evaluation.common_reasons
    of_log = [("all but logged", *_finding(reason)) for reason in common if reason.level != "trust"]
    rows: list[tuple[Cell, ...]] = of_log + [
        (literal(policy.name), *_finding(reason))
        for policy in evaluation.policies
        for reason in policy.verdict.objections
        if policy.name == "logged" or reason not in common
    ]
    paragraphs = [
        "A policy's verdict is the worst of what was found. It says whether the log supports the value, not "
        "whether the policy is good. All checks stand at the end of the page."
    ]
    if not rows:
        return Section("Why this verdict", [*paragraphs, "No check objected to any of these values."])
    return Section(
        "Why this verdict", paragraphs, table=Table(("policy", "finding", "check", "what was found"), rows)
    )


def _all_checks(evaluation: Evaluation) -> Section:
    common, columns = evaluation.common_reasons, ("finding", "check", "what was found")
    parts = [("All but logged", common)] if common else []
    parts += [
        (
            literal(policy.name),
            tuple(one for one in policy.verdict.reasons if policy.name == "logged" or one not in common),
        )
        for policy in evaluation.policies
    ]
    return Section(
        "All checks",
        sections=[
            Section(name, table=Table(columns, [_finding(one) for one in found]))
            for name, found in parts
            if found
        ],
    )


def _finding(reason: Reason) -> tuple[Cell, ...]:
    return _mark(reason.level), reason.check, literal(reason.text.replace("+-", "±"))


def _figure_of_rewards(table: DecisionTable, evaluation: Evaluation) -> Section:
    return Section(
        f"{reward_word(evaluation).capitalize()}s over time",
        figure=picture(figures.rewards_figure(table, evaluation), "svg"),
        caption=(
            "Means of blocks of rows, two standard errors either way. Grey: as logged. Points: by the rows' "
            "contributions to each value, which is dashed. Triangles: blocks outside of the picture, where a "
            "rare row counts much." + _shown(len(evaluation.policies), "policies", figures.MOST_CURVES)
        ),
    )


def _figure_of_propensities(table: DecisionTable, evaluation: Evaluation) -> Section:
    hidden = table.n_actions > figures.MOST_ACTIONS
    return Section(
        "How actions were drawn",
        ["Small propensities make rare rows count much: a row of propensity 0.01 stands for a hundred."],
        figure=picture(figures.propensities_figure(table, evaluation), "svg"),
        caption=(
            "Propensities of the logged actions"
            + (f"; the {figures.MOST_ACTIONS} most frequent of {table.n_actions} actions." if hidden else ".")
        ),
    )


def _overlap(evaluation: Evaluation) -> Section:
    others = [policy for policy in evaluation.policies if policy.name != "logged"]
    columns = ("policy", "rows used", "worth", "mean weight", "largest weight", "its share", "top 1% of rows")
    rows: list[tuple[Cell, ...]] = [
        (
            literal(policy.name),
            policy.weights.n_matching,
            f"{significant(policy.weights.expected_rows)}\u00a0rows",
            f"{policy.weights.mean_weight:.3f}\u00a0±\u00a0{policy.weights.mean_weight_error:.3f}",
            significant(policy.weights.largest_weight),
            f"{policy.weights.largest_share:.1%}",
            f"{policy.weights.top_share:.0%}",
        )
        for policy in others
    ]
    return Section(
        "How far the log overlaps with each policy",
        [
            "A row counts with the policy's probability of the logged action over its propensity. If few "
            "rows carry most of the weight, the value rests on these few."
        ],
        figure=picture(figures.overlap_figure(evaluation), "svg") if others else None,
        caption=(
            "Share of the sum of weights in the rows of largest weight. Dashed: the top 1% of rows."
            + _shown(len(others), "policies", figures.MOST_CURVES)
        ),
        table=Table(columns, rows),
    )


def _mark(level: Level) -> Mark:
    return Mark(level, _HOLDS[level])


def _span(interval: Interval | None, *, signed: bool = False) -> str:
    if interval is None or math.isnan(interval.low):
        return "-"
    # The upper end may stand on a line of its own, and no word between them.
    return span_text(interval.low, interval.high, signed=signed).replace(" to ", "\u00a0to ")


def _shown(n_all: int, noun: str, most: int) -> str:
    """How many of all are drawn, where these are not all."""
    return f" {most} of {n_all} {noun} are drawn, those of the best values." if n_all > most else ""
