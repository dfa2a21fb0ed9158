"""Result of an evaluation: a verdict with reasons, then values, intervals and differences, in one's units."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.digits import rounded_to, span_text
from gyrfalcon.core.json_values import json_value
from gyrfalcon.evaluation.intervals.interval import Interval
from gyrfalcon.evaluation.verdict.diagnostics import WeightDiagnostics
from gyrfalcon.evaluation.verdict.verdict import Level, Reason, Verdict

_SHOWN = 3
"""Objections of a policy that the text names."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PolicyValue:
    """The value of a policy, with its verdict and intervals, in the unit of the log's rewards.

    Parameters
    ----------
    name
        Name of the policy.
    verdict
        Whether the value may be trusted, and why.
    value
        The estimate by the method of the interval.
    standard_error
        Its standard error; nan where the interval has none.
    interval
        The interval by the chosen method.
    plain_value
        The unweighted mean of contributions.
    sequence
        The betting confidence sequence after all rows; None where it does not apply.
    sequence_note
        What the sequence presumes, or why there is none.
    difference
        Value less that of the baseline; None for the baseline itself, or where the method has none.
    difference_error
        Standard error of the difference, from errors row by row.
    difference_interval
        Interval of the difference.
    weights
        Numbers about the policy's importance weights.
    contributions
        Estimates of the value from one row each, (n,).
    importance
        Importance weights of the rows, (n,).
    row_weights
        How much the interval counts each row beside others, with mean 1, (n,).
    """

    name: str
    verdict: Verdict
    value: float
    standard_error: float
    interval: Interval
    plain_value: float
    sequence: Interval | None
    sequence_note: str
    difference: float | None
    difference_error: float | None
    difference_interval: Interval | None
    weights: WeightDiagnostics
    contributions: Floats
    importance: Floats
    row_weights: Floats

    def __repr__(self) -> str:
        return f"PolicyValue({self.name!r}, {self.value:.6g}, {self.verdict.level})"

    def to_dict(self) -> dict[str, Any]:
        """The fields as dicts, lists and numbers; the verdict first."""
        return {
            "name": self.name,
            "verdict": self.verdict.level,
            "reasons": [asdict(reason) for reason in self.verdict.reasons],
            "value": self.value,
            "standard_error": self.standard_error,
            "interval": _bounds(self.interval),
            "plain_value": self.plain_value,
            "sequence": _bounds(self.sequence),
            "sequence_note": self.sequence_note,
            "difference": self.difference,
            "difference_error": self.difference_error,
            "difference_interval": _bounds(self.difference_interval),
            "weights": asdict(self.weights),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Evaluation:
    """What policies would have earned by a log: the verdict first, then the values.

    Parameters
    ----------
    policies
        The policies in the order given, the baseline first.
    baseline
        Name of the policy that differences are to.
    cost
        Whether rewards are costs, of which less is better.
    settings
        Estimator, interval, level, model class and other settings.
    places
        Positions of the rows that values rest on in the table, in the order of time, (n,).
    n_given
        Number of rows of the log.
    set_aside
        Number of rows left out, by reason.
    source
        What the log is called.
    """

    policies: tuple[PolicyValue, ...]
    baseline: str
    cost: bool
    settings: Mapping[str, Any]
    places: Ints
    n_given: int
    set_aside: Mapping[str, int]
    source: str

    def __getitem__(self, name: str) -> PolicyValue:
        for policy in self.policies:
            if policy.name == name:
                return policy
        raise KeyError(name)

    def __repr__(self) -> str:
        levels = ", ".join(f"{policy.name}: {policy.verdict.level}" for policy in self.policies)
        return f"Evaluation({self.n_rows} rows; {levels})"

    @property
    def n_rows(self) -> int:
        """Number of rows that values rest on."""
        return len(self.places)

    @property
    def reward_unit(self) -> str:
        """What rewards are counted in, if that was said."""
        return str(self.settings.get("reward_unit", ""))

    @property
    def measure(self) -> str:
        """What values are: reward or cost per decision, in the user's unit."""
        unit = f" in {self.reward_unit}" if self.reward_unit else ""
        return f"{'cost' if self.cost else 'reward'} per decision{unit}"

    @property
    def common_reasons(self) -> tuple[Reason, ...]:
        """Reasons that all policies but the logged play share, as they are about the log, worst first."""
        others = [policy.verdict.reasons for policy in self.policies if policy.name != "logged"]
        return tuple(one for one in others[0] if all(one in rest for rest in others)) if others[1:] else ()

    @property
    def verdict(self) -> Verdict:
        """The verdict of the policy of which least is certain."""
        return Verdict.of(reason for policy in self.policies for reason in policy.verdict.reasons)

    def with_level(self, level: Level) -> tuple[str, ...]:
        """Names of the policies with this verdict."""
        return tuple(policy.name for policy in self.policies if policy.verdict.level == level)

    def to_dict(self) -> dict[str, Any]:
        """The verdict, the policies and the settings as dicts, lists and numbers."""
        return {
            "verdict": self.verdict.level,
            "policies": [policy.to_dict() for policy in self.policies],
            "baseline": self.baseline,
            "cost": self.cost,
            "n_rows": self.n_rows,
            "n_given": self.n_given,
            "set_aside": dict(self.set_aside),
            "settings": {name: _setting(value) for name, value in self.settings.items()},
            "source": self.source,
        }

    def to_json(self) -> str:
        """The evaluation as one JSON object, in which nan and infinities are null."""
        return json.dumps(json_value(self.to_dict()), ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        lines = [f"Verdict: {self.verdict.level}"]
        for policy in self.policies:
            lines.append(f"  {policy.name}: {policy.verdict.level}")
            objections = policy.verdict.objections
            lines += [f"    - {reason.text}" for reason in objections[:_SHOWN]]
            if len(objections) > _SHOWN:
                others = ", ".join(dict.fromkeys(reason.check for reason in objections[_SHOWN:]))
                lines.append(f"    - and objections to {others}")
        rows = f"{self.n_rows:,} of {self.n_given:,} rows"
        lines += ["", f"{self.measure}, from {rows}:"]
        width = max(len(policy.name) for policy in self.policies)
        lines += [self._line(policy, width) for policy in self.policies]
        return "\n".join(lines)

    def _line(self, policy: PolicyValue, width: int) -> str:
        span = policy.interval
        text = f"  {policy.name:<{width}}  {rounded_to(policy.value, span.high - span.low)} {_span(span)}"
        if policy.sequence is not None:
            text += f", betting {_span(policy.sequence)}"
        gain = policy.difference_interval
        if policy.difference is not None and gain is not None:
            difference = rounded_to(policy.difference, gain.high - gain.low, signed=True)
            text += f"; {difference} {_span(gain, signed=True)} against {self.baseline}"
        return text


def _span(interval: Interval, *, signed: bool = False) -> str:
    return f"({span_text(interval.low, interval.high, signed=signed)})"


def _bounds(interval: Interval | None) -> dict[str, Any] | None:
    return None if interval is None else asdict(interval)


def _setting(value: object) -> object:
    """A setting as a number, a list of numbers, or text."""
    if isinstance(value, tuple):
        return [_setting(entry) for entry in value]
    return value if value is None or isinstance(value, int | float) else str(value)
