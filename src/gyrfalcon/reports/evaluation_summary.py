"""An evaluation in sentences, for readers who decide and do not compute: the verdict first."""

from __future__ import annotations

from gyrfalcon.core.digits import rounded_to, span_text
from gyrfalcon.evaluation.evaluation import Evaluation, PolicyValue
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.verdict.verdict import LEVELS
from gyrfalcon.reports.evaluation_decision import decision_sentences, named
from gyrfalcon.reports.page import literal

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


def headline(evaluation: Evaluation) -> str:
    """What to do, then policies by their verdict, the worst first, and how many rows that rests on."""
    parts = [decision_sentences(evaluation)]
    for level in reversed(LEVELS):
        policies = [one for one in evaluation.policies if one.verdict.level == level and one.name != "logged"]
        if policies:
            parts.append(f"<b>{level[0].upper()}{level[1:]}</b>: {named(policies)}.")
    parts.append(f"By {evaluation.n_rows:,} of {evaluation.n_given:,} logged decisions.")
    return " ".join(part for part in parts if part)


def several_policies(evaluation: Evaluation) -> str:
    """What to beware of where several policies were compared; empty for one."""
    n = sum(policy.difference is not None for policy in evaluation.policies)
    if n < 2:
        return ""
    level = float(evaluation.settings["level"])
    return (
        f"Each interval covers with probability {level:.0%} alone, and {n} policies were compared: the best "
        "of several looks better than it is."
    )


def sentences_on(policy: PolicyValue, evaluation: Evaluation) -> str:
    """A paragraph on one policy: its verdict, what was objected first, its value and difference."""
    word, level, name = reward_word(evaluation), policy.verdict.level, literal(policy.name)
    interval, unit = policy.interval, f" {evaluation.reward_unit}" if evaluation.reward_unit else ""
    value = rounded_to(policy.value, interval.high - interval.low)
    if policy.name == "logged":
        return f"<b>{name}</b>: the play as it was had a mean {word} of {value}{unit} per decision."
    text = f"<b>{name}: {level}.</b> {_MEANING[level]}"
    if policy.verdict.objections:
        first = policy.verdict.objections[0]
        text += f" {_IN_PLAIN_WORDS.get(first.check, first.text)}"
    span = _between(interval)
    if level == "do not trust":
        return f"{text} The estimate, {value} ({span}), is no ground for a decision."
    text += f" The {word} would have been about {value}{unit} per decision, probably {span}."
    if policy.difference is not None and policy.difference_interval is not None:
        text += f" {_comparison(policy.difference, policy.difference_interval, evaluation)}"
    return text


def reward_word(evaluation: Evaluation) -> str:
    """What a decision earns, in one word: a cost where less is better."""
    return "cost" if evaluation.cost else "reward"


def _comparison(difference: float, interval: Interval, evaluation: Evaluation) -> str:
    baseline, width = literal(evaluation.baseline), interval.high - interval.low
    span = _between(interval, signed=True)
    if interval.low <= 0.0 <= interval.high:
        amount = rounded_to(difference, width, signed=True)
        return f"The difference to {baseline}, {amount}, may be chance ({span})."
    word = "better" if (difference < 0.0) == evaluation.cost else "worse"
    amount = rounded_to(abs(difference), width)
    return f"That is {word} than {baseline} by {amount} (difference {span})."


def _between(interval: Interval, *, signed: bool = False) -> str:
    return f"between {span_text(interval.low, interval.high, signed=signed).replace(' to ', ' and ')}"
