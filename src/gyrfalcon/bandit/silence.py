"""Silent actions: chosen often, and never rewarded while others are, as when their tracking is broken.

A learner takes an action without rewards for one that it knows nothing of, and tries it. If no reward ever
comes, it would try it for good. A silent action is left to passive rounds, and to one stretch of rounds in
fifty, until an outcome shows that it can have one. Silence may also be the outcome, as where only complaints
are reported and the default reward stands for none: an action with final rows is known to the learner, and is
never left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, Mixture
from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.core.policies.limited import LimitedPolicy, unlimited

STRETCH = 64
"""Decisions after which silence is looked for again."""
N_POWERS = 24
_CERTAIN = 20.0
"""Rewards that a silent action would have been expected to have: none would come by chance once in 1e8."""
_ONE_IN = 50


def milestone(n_decided: int) -> int | None:
    """The power k of a decision that is the 2^k-th for an action, else None.

    >>> milestone(8), milestone(9)
    (3, None)
    """
    is_power = n_decided & (n_decided - 1) == 0
    power = n_decided.bit_length() - 1
    return power if is_power and power < N_POWERS else None


class Tally(NamedTuple):
    """How often one action was decided, rewarded and final; withdrawn decisions count for nothing."""

    action: int
    decided: int
    rewarded: int
    final: int


@dataclass(frozen=True, slots=True)
class Tallies:
    """Tallies of all actions, which are written in place; writing one twice is writing it once.

    Parameters
    ----------
    decided
        How often each action was decided, (K,), without decisions that were withdrawn.
    rewarded
        How many of these decisions have a reward of their own, (K,).
    final
        How many of them became final with a reward, also with the default one, (K,).
    milestones
        (K, k): the number of the decision that was the action's 2^k-th, or -1.
    """

    decided: Ints
    rewarded: Ints
    final: Ints
    milestones: Ints

    @staticmethod
    def none(n_actions: int) -> Tallies:
        """The tallies before anything was decided."""
        decided, rewarded, final = np.zeros((3, n_actions), dtype=np.int64)
        return Tallies(decided, rewarded, final, np.full((n_actions, N_POWERS), -1))

    def copy(self) -> Tallies:
        """The tallies as they stand now."""
        return Tallies(self.decided.copy(), self.rewarded.copy(), self.final.copy(), self.milestones.copy())

    def of(self, action: int, decided: int, rewarded: int, final: int) -> Tally:
        """The tally of an action after this number of further decisions, rewards and final outcomes."""
        return Tally(
            action,
            self.decided.item(action) + decided,
            self.rewarded.item(action) + rewarded,
            self.final.item(action) + final,
        )

    def write(self, tally: Tally, now: int) -> None:
        """Take in the tally of one action, as it stands after this number of decisions."""
        action, decided, rewarded, final = tally
        self.decided[action], self.rewarded[action], self.final[action] = decided, rewarded, final
        power = None if rewarded else milestone(decided)
        if power is not None:
            self.milestones[action, power] = now

    def reindexed(self, source: Ints) -> Tallies:
        """The tallies when action k was action source[k] before, -1 if it is new."""
        known = source >= 0
        return Tallies(
            np.where(known, self.decided[source], 0),
            np.where(known, self.rewarded[source], 0),
            np.where(known, self.final[source], 0),
            np.where(known[:, np.newaxis], self.milestones[source], -1),
        )

    def silent(self, longest_delay: int, now: int) -> Bools:
        """Actions that would have been rewarded by now if they were as the others are, (K,).

        Parameters
        ----------
        longest_delay
            Number of decisions that the latest reward so far has taken.
        now
            Number of decisions.
        """
        silent = (self.rewarded == 0) & (self.decided > 0)
        others = self.rewarded > 0
        if not silent.any() or not others.any():
            return np.zeros(len(self.decided), dtype=np.bool_)
        rate = self.rewarded[others].sum() / self.decided[others].sum()
        powers, milestones = 2 ** np.arange(N_POWERS), self.milestones
        # Where decisions were withdrawn, a milestone may stand for more of them than there are.
        is_there = (milestones >= 0) & (powers <= self.decided[:, np.newaxis])
        is_old = is_there & (milestones + 2 * longest_delay + STRETCH <= now)
        n_missing = np.where(is_old, powers, 0).max(axis=1)
        found: Bools = silent & (n_missing * rate >= _CERTAIN)
        return found

    def left_out(self, longest_delay: int, now: int) -> Bools | None:
        """Actions that the policy leaves out: silent ones without a final outcome, (K,); None for none."""
        if is_tried(now):
            return None
        found = self.silent(longest_delay, now) & (self.final == 0)
        return found if found.any() else None


def is_tried(now: int) -> bool:
    """Whether silent actions have their turn in this stretch of decisions."""
    return now // STRETCH % _ONE_IN == 0


def without_silent(epoch: Epoch, silent: Bools | None) -> Epoch:
    """The epoch with a policy that leaves out silent actions, but for a mixture, whose bases know of none."""
    policy = epoch.policy
    if silent is None or isinstance(policy, Mixture):
        return epoch
    if isinstance(policy, LimitedPolicy):  # limits hold for silent actions as well
        return replace(epoch, policy=replace(policy, policy=WithoutSilent(policy.policy, silent)))
    return replace(epoch, policy=WithoutSilent(policy, silent))


def silent_in(epoch: Epoch) -> Bools | None:
    """The actions that the policy of an epoch leaves out, (K,), if there are any."""
    policy = unlimited(epoch.policy)
    return policy.silent if isinstance(policy, WithoutSilent) else None


@dataclass(frozen=True, slots=True)
class WithoutSilent:
    """A policy among the actions that are not silent; among all eligible ones where no other is left."""

    policy: Policy
    silent: Bools

    def probabilities(self, contexts: Contexts) -> Floats:
        """Probabilities of actions, (n, K)."""
        eligible = contexts.eligible
        mask = np.ones((len(contexts), len(self.silent)), dtype=np.bool_) if eligible is None else eligible
        others = mask & ~self.silent
        mask = np.where(others.any(axis=1, keepdims=True), others, mask)
        return self.policy.probabilities(Contexts(contexts.shared, contexts.actions, mask))
