"""Status and result of an experiment: numbers in the user's units, tables and sentences for people."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from textwrap import fill

from gyrfalcon.core.json_values import json_value
from gyrfalcon.experiment.final_policy import FinalPolicy

_WIDTH = 80
"""Columns of printed sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A policy against the control, on rows from `first_round` on; gains are in the unit of rewards.

    Parameters
    ----------
    name
        "always 'blue'" or "policy learned by epoch 3", which is frozen from that epoch's first round on.
    first_round
        First round that it is compared on.
    n_rows
        Number of rows that it is compared on.
    gain
        Estimate of how much more a round it earns than the control; NaN without rows. Of costs: saves.
    low, high
        Bounds of the gain. All `low` of an experiment hold at once, at all times, with probability `level`;
        and so do all `high`.
    is_better
        Whether the gain was known to be above the minimum effect at some time so far.
    """

    name: str
    first_round: int
    n_rows: int
    gain: float
    low: float
    high: float
    is_better: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentStatus:
    """Status of an experiment at one moment; printed, it is a table.

    Parameters
    ----------
    control
        What the control is called.
    n_decided
        Number of decisions.
    n_compared
        Number of decisions whose outcomes comparisons are based on: those before the first open one.
    n_open
        Number of decisions whose outcome is open.
    n_dropped
        Decisions without an outcome when their time was up, which no comparison has.
    comparisons
        Every policy against the control, single actions first.
    stopped
        Whether the experiment is over: a policy is known to be better, or all rounds are over.
    decision
        Name of the policy that the experiment has decided for; None while it goes on.
    sentence
        The verdict so far.
    """

    control: str
    n_decided: int
    n_compared: int
    n_open: int
    n_dropped: int
    comparisons: tuple[Comparison, ...]
    stopped: bool
    decision: str | None
    sentence: str

    def to_json(self) -> str:
        """The fields as one JSON object; numbers that are not finite are null."""
        return _json(asdict(self))

    def __str__(self) -> str:
        lines = [
            f"{self.n_decided} decided, {self.n_compared} compared, {self.n_open} open",
            f"{'gain over ' + self.control:<28}{'estimate':>12}{'low':>12}{'high':>12}{'rows':>8}",
        ]
        for one in self.comparisons:
            mark = "  better" if one.is_better else ""
            numbers = "".join(f"{number:>12.3g}" for number in (one.gain, one.low, one.high))
            lines.append(f"{one.name:<28}{numbers}{one.n_rows:>8}{mark}")
        if self.n_dropped:
            lines.append(f"attention: {self.n_dropped} decisions have no outcome, and no part in this.")
        return "\n".join([*lines, fill(self.sentence, _WIDTH)])


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentResult:
    """What an experiment ends with, as far as it has come.

    Parameters
    ----------
    policy
        The policy to go on with: the one that is known to be better, or the control.
    is_better
        Whether it is known to be better than the control.
    value
        Estimate of its mean reward a round, NaN without rows.
    value_interval
        Bounds of the value, which hold with probability `level` though the policy was chosen by these rows.
    regret
        Estimate of its simple regret: how much less a round it earns than the best policy of those compared,
        0 where none has a higher estimate.
    regret_bound
        What the simple regret is below with probability `level`.
    level
        Probability of the bounds.
    sentence
        The verdict for a manager.
    """

    policy: FinalPolicy
    is_better: bool
    value: float
    value_interval: tuple[float, float]
    regret: float
    regret_bound: float
    level: float
    sentence: str

    def to_json(self) -> str:
        """The fields as one JSON object, the policy by its name; numbers that are not finite are null."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return _json({**fields, "policy": self.policy.name})

    def __str__(self) -> str:
        return f"{fill(self.sentence, _WIDTH)}\n{self.numbers}"

    @property
    def numbers(self) -> str:
        """Value and simple regret as lines of text."""
        low, high = self.value_interval
        return (
            f"value          {self.value:.3g} a round, from {low:.3g} to {high:.3g}\n"
            f"simple regret  {self.regret:.3g} a round, at most {self.regret_bound:.3g}"
        )


def sentence_of(
    control: str, n_rows: int, better: Comparison | None, best: Comparison | None, *, ended: bool, cost: bool
) -> str:
    """The verdict in one or two sentences.

    Parameters
    ----------
    control
        What the control is called.
    n_rows
        Number of rows that comparisons are based on.
    better
        The policy that the experiment has decided for, if there is one.
    best
        The policy with the highest estimate.
    ended
        Whether all rounds are over.
    cost
        Whether rewards are costs.
    """
    verb = "saves" if cost else "earns"
    after = f"After {n_rows:,} rounds"
    if better is not None:
        gain = f"{verb} about {better.gain:.3g} more a round, and at least {better.low:.3g}"
        return f"{after} it is known that {_called(better)} is better than {control}: it {gain}."
    best_so_far = (
        "" if best is None else f" The best estimate is of {_called(best)}: it {verb} {_range_of(best)}."
    )
    if ended:
        return f"{after} no policy is known to be better than {control}; keep it.{best_so_far}"
    return f"{after} no policy is known to be better than {control} yet; go on.{best_so_far}"


def _called(one: Comparison) -> str:
    return f"the {one.name}" if one.name.startswith("policy") else one.name


def _range_of(one: Comparison) -> str:
    return f"{one.gain:.3g} more a round, somewhere between {one.low:.3g} and {one.high:.3g}"


def _json(value: object) -> str:
    return json.dumps(json_value(value), ensure_ascii=False)
