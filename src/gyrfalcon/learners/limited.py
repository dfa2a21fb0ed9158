"""Limited: any learner with exact limits on its propensities, such as who wants to evaluate it needs."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import cast

import numpy as np

from gyrfalcon.core.epochs import Epoch, Mixture
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.core.policies.limited import FixedAction, LimitedPolicy, unlimited
from gyrfalcon.core.records import Log
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.core.validation import check_not_negative, check_share
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.limit_settings import (
    ShareLimits,
    check_attainable,
    check_control_stays,
    check_labels,
    check_limitable,
    check_together,
    checked_control,
    checked_shares,
    is_policy,
)
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.steps import Summing, Sums

_DEFAULT = AdaptiveFalcon()


@dataclass(frozen=True, slots=True)
class Limited:
    """A learner whose decisions keep limits: a floor, a control share, and least and largest shares.

    Limits hold for the whole distribution of every decision, passive rounds included, and so for the expected
    traffic of any period and any group of contexts. What is logged is the distribution within the limits,
    exact as any other. A decision that is within them anyway is what the learner alone would have made. What
    exceeds a maximum goes where the learner would play were that action not eligible, and what is short of a
    minimum is taken from all others alike, so that the distribution is the nearest by Euclidean distance.

    Among eligible actions, maxima that sum to less than 1 grow in proportion; minima of others don't count.
    Limits that all actions together can't meet are refused. Passive rounds stay uniform where the limits let
    them; where not, they play what is nearest and count as rounds of the policy.

    Parameters
    ----------
    learner
        The learner.
    floor
        Least probability of every eligible action, 0 for none. The `floor` of `AdaptiveFalcon` is another
        thing, a share of passive rounds, which leaves each of K actions a K-th of it.
    decay
        The floor of round t is floor t^-decay: 0 keeps it constant. Within an epoch it is that of the first
        round.
    control
        A label, or a policy, and the share of decisions that it makes, such as ("red", 0.1): a coin decides,
        whatever the context is, and the log says "control". Where the action is not eligible, the learner
        decides. None for no control.
    shares
        Least and largest probability of some actions, such as {"red": (0.05, 0.5)}, or rows of label, least
        and largest probability. The floor holds beside them, and gives way to a smaller maximum.

    Examples
    --------
    >>> from gyrfalcon import EpsilonGreedy
    >>> learner = Limited(EpsilonGreedy(epsilon=0.0), floor=0.05, shares={"red": (0.0, 0.5)})
    >>> epoch = learner.start(Problem(["red", "blue"]))
    >>> epoch.policy.least.tolist(), epoch.policy.high.tolist()
    ([0.05, 0.05], [0.5, 1.0])
    """

    learner: Learner = _DEFAULT
    _: KW_ONLY
    floor: float = 0.0
    decay: float = 0.0
    control: tuple[object, float] | None = None
    shares: ShareLimits = ()

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        check_limitable(self.learner)
        check_share("floor", self.floor)
        check_not_negative("decay", self.decay)
        if self.control is not None:
            object.__setattr__(self, "control", checked_control(self.control))
        object.__setattr__(self, "shares", checked_shares(self.shares))
        check_together(self.control, self.share_rows)

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """The learner's first epoch, within the limits."""
        check_labels(self.control, self.share_rows, problem)
        return self.limited(self.learner.start(problem, log), problem)

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        """The learner's next epoch, within the limits."""
        return self._again(self.learner.next_epoch(_own(epoch), log), epoch)

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch for a problem with actions added or retired; limits of retired actions are dropped."""
        check_control_stays(self.control, problem, len(_limits(epoch).low))
        return self.limited(self.learner.adapt(_own(epoch), problem), problem)

    def can_sum(self, epoch: Epoch) -> bool:
        """Whether the learner can be given this epoch's rows in parts."""
        return isinstance(self.learner, Summing) and self.learner.can_sum(_own(epoch))

    def sums(self, epoch: Epoch, log: Log, before: Sums | None = None) -> Sums:
        """Sufficient statistics with these rows."""
        assert isinstance(self.learner, Summing)
        return self.learner.sums(_own(epoch), log, before)

    def next_from(self, epoch: Epoch, sums: Sums) -> Epoch:
        """The epoch after this one, made of sums."""
        assert isinstance(self.learner, Summing)
        return self._again(self.learner.next_from(_own(epoch), sums), epoch)

    @property
    def share_rows(self) -> tuple[tuple[object, float, float], ...]:
        """Label, least and largest probability of the actions that have limits of their own."""
        return cast("tuple[tuple[object, float, float], ...]", self.shares)

    def limited(self, epoch: Epoch, problem: Problem) -> Epoch:
        """An epoch of the learner alone, within the limits; ValueError if no distribution meets them."""
        low, high = np.zeros(problem.n_actions), np.ones(problem.n_actions)
        for label, least, most in self.share_rows:
            if label in problem.actions:
                place = problem.actions.index(label)
                low[place], high[place] = least, most
        control, share = self._control(problem)
        policy = LimitedPolicy(epoch.policy, low, high, self._floor(epoch.start), control, share)
        check_attainable(policy, problem)
        return _with(epoch, policy)

    def _again(self, epoch: Epoch, before: Epoch) -> Epoch:
        """The learner's next epoch with the limits of an earlier one, and a floor for its first round."""
        policy = replace(_limits(before), policy=epoch.policy, floor=self._floor(epoch.start))
        return _with(epoch, policy)

    def _floor(self, round_: int) -> float:
        """The floor of an epoch that starts with this round, counted from 0."""
        return self.floor * math.pow(round_ + 1, -self.decay)

    def _control(self, problem: Problem) -> tuple[Policy | None, float]:
        if self.control is None:
            return None, 0.0
        what, share = self.control
        if is_policy(what):
            return what, share
        return FixedAction(problem.actions.index(what), problem.n_actions), share


def taken_over(learner: Learner, epoch: Epoch, problem: Problem) -> Epoch:
    """An epoch as a learner that goes on from it would have made it: with its own limits, or with none."""
    alone = _own(epoch)
    return learner.limited(alone, problem) if isinstance(learner, Limited) else alone


def without_limits(learner: Learner) -> Learner:
    """The learner inside one with limits; itself where there are none."""
    return learner.learner if isinstance(learner, Limited) else learner


def _own(epoch: Epoch) -> Epoch:
    """The epoch as its learner made it."""
    return replace(epoch, policy=unlimited(epoch.policy))


def _limits(epoch: Epoch) -> LimitedPolicy:
    if not isinstance(epoch.policy, LimitedPolicy):
        raise TypeError(f"epoch {epoch.index} has no limits; give the learner its own epochs.")
    return epoch.policy


def _with(epoch: Epoch, policy: LimitedPolicy) -> Epoch:
    if isinstance(policy.policy, Mixture):
        raise TypeError("the learner plays a mixture of bases; limit the learners of its bases instead.")
    return replace(epoch, policy=policy)
