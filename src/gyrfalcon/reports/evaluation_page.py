"""Page of an evaluation: verdict and summary for everybody, figures, and what a statistician checks."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.digits import rounded_to, significant, span_text
from gyrfalcon.engine.fingerprint import fingerprint
from gyrfalcon.evaluation.estimators.by_name import ESTIMATORS
from gyrfalcon.evaluation.evaluation import Evaluation, PolicyValue
from gyrfalcon.evaluation.intervals.by_name import INTERVALS
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.verdict.verdict import Level, Reason
from gyrfalcon.reports import evaluation_figures as figures
from gyrfalcon.reports.evaluation_summary import headline, reward_word, sentences_on
from gyrfalcon.reports.figures import picture
from gyrfalcon.reports.page import Cell, Mark, Page, Section, Table, literal

_HOLDS: dict[Level, bool | None] = {"trust": True, "caution": None, "do not trust": False}


def evaluation_page(
    table: DecisionTable, evaluation: Evaluation, *, sections: Sequence[Section] = ()
) -> Page:
    """One self-contained page of an evaluation, with figures.

    Parameters
    ----------
    table
        The log that was evaluated.
    evaluation
        What `evaluate` has returned for it.
    sections
        Further sections, such as where the reward model is wrong; they stand before the method.
    """
    return Page(
        title=f"What other policies would have earned: {_name(evaluation.source)}",
        lead=headline(evaluation),
        sections=[
            _summary(evaluation),
            _objections(evaluation),
            _figure_of_rewards(table, evaluation),
            _figure_of_propensities(table, evaluation),
            _overlap(evaluation),
            *sections,
            _method(table, evaluation),
            _all_checks(evaluation),
        ],
        footer=f"Made by gyrfalcon {fingerprint().gyrfalcon}.",
    )


def content_hash(table: DecisionTable) -> str:
    """SHA-256 of the columns that values depend on, so that a report can be matched with its log."""
    digest = hashlib.sha256(repr((table.actions, table.features, table.action_features)).encode())
    contexts = table.contexts
    columns = (table.action, table.reward, table.propensity, table.distribution)
    for column in (*columns, contexts.shared, contexts.actions, contexts.eligible):
        digest.update(b"-" if column is None else column.tobytes())
    return digest.hexdigest()


def _name(source: str) -> str:
    """The last part of a path: the title needs no folders."""
    return source.replace("\\", "/").rstrip("/").rpartition("/")[2] or "a log"


def _summary(evaluation: Evaluation) -> Section:
    level = f"{float(evaluation.settings['level']):.0%}"
    against = f"difference to {literal(evaluation.baseline)}" if evaluation.baseline else "difference"
    word = reward_word(evaluation)
    columns = (
        "policy",
        "verdict",
        word,
        f"{level} interval",
        f"{level} at any time",
        against,
        "its interval",
    )
    return Section(
        "In short",
        [sentences_on(policy, evaluation) for policy in evaluation.policies],
        figure=picture(figures.estimates_figure(evaluation), "svg"),
        caption=(
            f"{word.capitalize()} per decision. Thick: {level} interval by "
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
    rows: list[tuple[Cell, ...]] = [
        (literal(policy.name), *_finding(reason))
        for policy in evaluation.policies
        for reason in policy.verdict.objections
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
    columns = ("finding", "check", "what was found")
    parts = [
        Section(literal(policy.name), table=Table(columns, [_finding(one) for one in policy.verdict.reasons]))
        for policy in evaluation.policies
    ]
    return Section("All checks", sections=parts)


def _finding(reason: Reason) -> tuple[Cell, ...]:
    return _mark(reason.level), reason.check, literal(reason.text.replace("+-", "±"))


def _figure_of_rewards(table: DecisionTable, evaluation: Evaluation) -> Section:
    return Section(
        f"{reward_word(evaluation).capitalize()}s over time",
        figure=picture(figures.rewards_figure(table, evaluation), "svg"),
        caption=(
            "Means of blocks of rows, two standard errors either way: as logged, and by the rows' "
            "contributions to each value. Blocks may be outside of the picture where a rare row counts much."
            + _shown(len(evaluation.policies), "policies", figures.MOST_CURVES)
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
            f"{significant(policy.weights.expected_rows)} rows",
            f"{policy.weights.mean_weight:.3f} ± {policy.weights.mean_weight_error:.3f}",
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


def _method(table: DecisionTable, evaluation: Evaluation) -> Section:
    settings, machine = evaluation.settings, fingerprint()
    estimator, interval = ESTIMATORS[settings["estimator"]], INTERVALS[settings["interval"]]
    notes = [policy.sequence_note for policy in evaluation.policies if policy.sequence_note]
    cautions = [text for text in (estimator.caution, interval.caution) if text]
    bounds = settings["reward_range"]
    rows: list[tuple[str, str]] = [
        ("estimator", estimator.title),
        ("interval", f"{interval.title}, level {settings['level']}"),
        ("model class", str(settings["model_class"])),
        ("reward range", "unknown" if bounds is None else f"{bounds[0]:g} to {bounds[1]:g}"),
        ("logged decisions", f"{evaluation.n_given:,}"),
        ("rows used", f"{evaluation.n_rows:,}"),
        ("log", literal(evaluation.source or "a table")),
        *((f"set aside: {reason}", f"{count:,}") for reason, count in evaluation.set_aside.items()),
        ("log, SHA-256 of its columns", f"<code>{content_hash(table)}</code>"),
        *((name, _version(value)) for name, value in machine.to_dict().items()),
    ]
    return Section(
        "Method",
        [
            "Contribution of a row, doubly robust: the policy's mean prediction, plus the weight times the "
            "reward less the prediction for the logged action (Dudik, Langford and Li 2011). Each row is "
            "predicted by a model of earlier rows alone.",
            "MinVar (Zhan, Hadad, Hirshberg and Athey 2021, without contexts): contributions are weighted by "
            "the inverse of the expected sum over actions of squared target probability over propensity, "
            "which is known before the row; the interval is the weighted mean, plus and minus normal "
            "quantiles of the root of the weighted squares. Differences are taken row by row, each value "
            "with weights of its own.",
            "Betting sequence (Waudby-Smith, Wu, Ramdas, Karampatziakis and Mineiro 2022): scores of rewards "
            "in the unit interval and of their complements, capped from below, bound the value from both "
            "sides at any time.",
            *cautions,
            *dict.fromkeys(notes),
        ],
        table=Table(("setting", "value"), rows),
    )


def _version(value: object) -> str:
    """A version, or those of several libraries, one sentence each."""
    if not isinstance(value, list):
        return str(value)
    return " ".join(f"{one['name']} {one['version']} ({one['kernel']}) in {one['used_by']}." for one in value)


def _mark(level: Level) -> Mark:
    return Mark(level, _HOLDS[level])


def _span(interval: Interval | None, *, signed: bool = False) -> str:
    if interval is None or math.isnan(interval.low):
        return "-"
    # The upper end may stand on a line of its own, and no word between them.
    return span_text(interval.low, interval.high, signed=signed).replace(" to ", "\u00a0to ")


def _shown(n_all: int, noun: str, most: int) -> str:
    """How many of all are drawn, where these are not all."""
    return f" The first {most} of {n_all} {noun} are drawn." if n_all > most else ""
