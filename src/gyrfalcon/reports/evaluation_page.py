"""Page of an evaluation: verdict and summary for everybody, figures, and what a statistician checks."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.engine.fingerprint import fingerprint
from gyrfalcon.evaluation.estimator_table import ESTIMATORS
from gyrfalcon.evaluation.evaluation import Evaluation, PolicyValue
from gyrfalcon.evaluation.interval_table import INTERVALS
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.verdict import Level, Verdict
from gyrfalcon.reports import evaluation_figures as figures
from gyrfalcon.reports.figures import picture
from gyrfalcon.reports.page import Cell, Mark, Page, Section, Table

_HOLDS: dict[Level, bool | None] = {"trust": True, "caution": None, "do not trust": False}
_MEANING = {
    "trust": "The log supports this value.",
    "caution": "The log supports this value with reservations.",
    "do not trust": "The log does not support this value.",
}
_RARE = "The log hardly ever tried what this policy would do"
_IN_PLAIN_WORDS = {
    "mean weight": "Rows that stand for many others came up too often or too rarely.",
    "expected effective rows": f"{_RARE}, so that very few rows speak for it.",
    "rows the value rests on": f"{_RARE}.",
    "rare rows drawn": "Rows that would count much have not come up yet.",
    "expected spread": "The interval looks narrower than it can be, as rare rows have not come up yet.",
    "weight tails": "A single row decides much of the value.",
    "heavy tails": "A single row decides much of the interval.",
    "support": "The policy does things that the log could not or did not try.",
    "calibration": "Actions were not drawn with the logged probabilities.",
    "missing rewards": "Too many decisions have no reward.",
    "propensities": "The probabilities of the logged decisions are not all known.",
    "reward range": "Some rewards are outside of their range.",
    "change over time": "Rewards seem to have changed over time.",
    "confidence sequence": "Two ways to bound the value contradict each other.",
    "dependence on the log": "The policy was learned from this log, and may look better here than it is.",
    "estimator": "The estimator is biased.",
    "limit of weights": "Large weights count less.",
    "interval": "The interval is not made for logs of a learner.",
}
"""What an objection of each check means, for the summary."""


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
        lead=_headline(evaluation),
        sections=[
            _summary(evaluation),
            _reasons(evaluation),
            _figure_of_rewards(table, evaluation),
            _figure_of_propensities(table, evaluation),
            _overlap(evaluation),
            *sections,
            _method(table, evaluation),
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


def _headline(evaluation: Evaluation) -> str:
    parts = []
    for level in reversed(tuple(_HOLDS)):
        names = [name for name in evaluation.with_level(level) if name != "logged"]
        if names:
            parts.append(f"<b>{level[0].upper()}{level[1:]}</b>: {', '.join(names)}.")
    rows = f"{evaluation.n_rows:,} of {evaluation.n_given:,} logged decisions"
    return f"{' '.join(parts)} By {rows}."


def _summary(evaluation: Evaluation) -> Section:
    rows = [
        (
            policy.name,
            _mark(policy.verdict),
            policy.value,
            _span(policy.interval),
            _span(policy.sequence),
            "-" if policy.difference is None else f"{policy.difference:+.4g}",
            _span(policy.difference_interval),
        )
        for policy in evaluation.policies
    ]
    level = f"{float(evaluation.settings['level']):.0%}"
    against = f"difference to {evaluation.baseline}" if evaluation.baseline else "difference"
    columns = ("policy", "verdict", _unit(evaluation), level, f"{level} at any time", against, level)
    return Section(
        "In short",
        [_sentence(policy, evaluation) for policy in evaluation.policies],
        figure=picture(figures.estimates_figure(evaluation), "svg"),
        caption=(
            f"{_unit(evaluation).capitalize()} per decision. Thick: {level} interval by "
            f"{INTERVALS[evaluation.settings['interval']].title}. Thin, grey: betting sequence, which holds "
            "however often one looks. Dashed: the baseline."
        ),
        table=Table(columns, rows),
    )


def _sentence(policy: PolicyValue, evaluation: Evaluation) -> str:
    """A paragraph for a reader who decides and does not compute: the verdict first."""
    unit, level = _unit(evaluation), policy.verdict.level
    if policy.name == "logged":
        return f"<b>logged</b>: the play as it was had a mean {unit} of {policy.value:.3g} per decision."
    text = f"<b>{policy.name}: {level}.</b> {_MEANING[level]}"
    if policy.verdict.objections:
        first = policy.verdict.objections[0]
        text += f" {_IN_PLAIN_WORDS.get(first.check, first.text)}"
    span = f"between {policy.interval.low:.3g} and {policy.interval.high:.3g}"
    if level == "do not trust":
        return f"{text} The estimate, {policy.value:.3g} ({span}), is no ground for a decision."
    text += f" The {unit} would have been about {policy.value:.3g} per decision, probably {span}."
    if policy.difference is not None and policy.difference_interval is not None:
        text += f" {_comparison(policy.difference, policy.difference_interval, evaluation)}"
    return text


def _comparison(difference: float, interval: Interval, evaluation: Evaluation) -> str:
    span = f"between {interval.low:+.3g} and {interval.high:+.3g}"
    if interval.low <= 0.0 <= interval.high:
        return f"The difference to {evaluation.baseline}, {difference:+.3g}, may be chance ({span})."
    word = "better" if (difference < 0.0) == evaluation.cost else "worse"
    return f"That is {word} than {evaluation.baseline} by {abs(difference):.3g} (difference {span})."


def _reasons(evaluation: Evaluation) -> Section:
    parts = []
    for policy in evaluation.policies:
        rows = [(_mark_of(reason.level), reason.check, reason.text) for reason in policy.verdict.reasons]
        parts.append(Section(policy.name, table=Table(("finding", "check", "what was found"), rows)))
    return Section(
        "Why this verdict",
        [
            "A policy's verdict is the worst of these findings. It says whether the log supports the value, "
            "not whether the policy is good."
        ],
        sections=parts,
    )


def _figure_of_rewards(table: DecisionTable, evaluation: Evaluation) -> Section:
    return Section(
        f"{_unit(evaluation).capitalize()}s over time",
        figure=picture(figures.rewards_figure(table, evaluation), "svg"),
        caption=(
            "Means of blocks of rows, two standard errors either way: as logged, and by the rows' "
            "contributions to each value. Blocks may be outside of the picture where a rare row counts much."
        ),
    )


def _figure_of_propensities(table: DecisionTable, evaluation: Evaluation) -> Section:
    return Section(
        "How actions were drawn",
        ["Small propensities make rare rows count much: a row of propensity 0.01 stands for a hundred."],
        figure=picture(figures.propensities_figure(table, evaluation), "svg"),
        caption="Propensities of the logged actions; the most frequent actions of the log.",
    )


def _overlap(evaluation: Evaluation) -> Section:
    others = [policy for policy in evaluation.policies if policy.name != "logged"]
    columns = ("policy", "rows used", "worth", "mean weight", "largest weight", "its share", "top 1% of rows")
    rows: list[tuple[Cell, ...]] = [
        (
            policy.name,
            policy.weights.n_matching,
            f"{policy.weights.expected_rows:,.0f} rows",
            f"{policy.weights.mean_weight:.3f} +- {policy.weights.mean_weight_error:.3f}",
            policy.weights.largest_weight,
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
        caption="Share of the sum of weights in the rows of largest weight. Dashed: the top 1% of rows.",
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
        ("log", evaluation.source or "a table"),
        *((f"set aside: {reason}", f"{count:,}") for reason, count in evaluation.set_aside.items()),
        ("log, SHA-256 of its columns", f"<code>{content_hash(table)}</code>"),
        *((name, str(value)) for name, value in machine.to_dict().items()),
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


def _mark(verdict: Verdict) -> Mark:
    return _mark_of(verdict.level)


def _mark_of(level: Level) -> Mark:
    return Mark(level, _HOLDS[level])


def _span(interval: Interval | None) -> str:
    if interval is None or math.isnan(interval.low):
        return "-"
    return f"{interval.low:.4g} to {interval.high:.4g}"


def _unit(evaluation: Evaluation) -> str:
    return "cost" if evaluation.cost else "reward"
