"""Safe return: an earlier epoch's policy plays again while it surely earns more than the running one.

The policy of the epoch with the highest lower bound of its mean reward is the reference. When recent rewards
are below that bound, reference and running policy share the rounds at random: a fall of rewards may be drift,
and who plays at the same time meets the same environment. The reference takes over once its gain is surely
above 0, and is forgotten once the running policy earns as much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy
from gyrfalcon.core.policies.untried import without_trying
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.scores import paired_gains
from gyrfalcon.estimates.tally import Tally
from gyrfalcon.learners.reward_scale import RewardScale
from gyrfalcon.oracles.linear.models import OptimisticModel

_MIN_ROWS = 100
"""Rows of an epoch whose policy may become the reference, of a fall, and of a trial that ends."""
_FALL_Z = 3.0
"""Standard errors of a reference's lower bound, and of the recent rewards that must be below it."""
_RECENT = 0.9
"""Factor by which the weight of recent rewards shrinks with each epoch."""
_SHARE = {"trial": 0.5, "returned": 0.9}
"""Share of rounds in which the reference plays."""
_LONGEST_TRIAL = 5000
"""Rows after which a trial without a result ends, or as many as there were before it."""
_REVOKED_Z = {"trial": -1.0, "returned": -2.0}
"""Gain of the reference in standard errors below which it is forgotten."""
_REACH = 3.0
"""The largest gain of a row in a trial, in multiples of the range of rewards: weights are at most 2."""
_RATES = 0.5 ** np.arange(1, 9)
"""Values of lambda that the confidence bound is the best of."""


@dataclass(frozen=True, slots=True)
class SharedPolicy:
    """Play of a reference policy with a probability, and else of the running policy.

    >>> from gyrfalcon.core.policies.kernel_policy import UniformPolicy
    >>> policy = SharedPolicy(UniformPolicy(2), UniformPolicy(2), share=0.5)
    >>> policy.probabilities(Contexts(np.zeros((1, 0)))).tolist()
    [[0.5, 0.5]]
    """

    running: Policy
    reference: Policy
    share: float

    def probabilities(self, contexts: Contexts) -> Floats:
        """Probabilities of all actions in each context, (n, K)."""
        running, reference = self.running.probabilities(contexts), self.reference.probabilities(contexts)
        return running + self.share * (reference - running)


def running_policy(policy: Policy) -> Policy:
    """The learner's latest policy, also where it shares the rounds with a reference."""
    return policy.running if isinstance(policy, SharedPolicy) else policy


@dataclass(frozen=True, slots=True)
class SafeReturn:
    """The reference policy, what is known of its gain over the running policy, and who plays."""

    phase: Literal["watching", "trial", "returned"] = "watching"
    reference: Policy | None = None
    epoch: int = 0
    """Index of the reference's epoch."""
    least: float = -math.inf
    """Lower bound of the reference's mean reward, in units of fits."""
    recent: Tally | None = None
    """Rewards since the reference's epoch, those of the latest rounds above all."""
    gains: Tally | None = None
    """Gains of the reference over the running policy while both play."""
    bounds: tuple[float, float] = (0.0, 0.0)
    """Rewards seen before the trial, which later ones are clipped to."""
    longest: float = 0.0
    """Rows after which a trial without a result ends."""
    n_trials: int = 0

    def policy(self, running: Policy) -> Policy:
        """The policy of the next epoch."""
        if self.reference is None or self.phase == "watching":
            return running
        return SharedPolicy(running, self.reference, _SHARE[self.phase])

    def updated(self, epoch: Epoch, log: Log, scale: RewardScale, delta: float) -> SafeReturn:
        """The state after an epoch with these rows, rewards in units of fits; `scale` is that before them."""
        log = log.where((log.epoch == epoch.index) & log.has_propensity & ~log.passive)
        if len(log) == 0:
            return self
        if self.phase == "watching":
            return self._watched(epoch, log, scale)
        # Who keeps an action out for a time puts another policy in the place of the shared one.
        return self._compared(epoch.policy, log, delta) if isinstance(epoch.policy, SharedPolicy) else self

    def _watched(self, epoch: Epoch, log: Log, scale: RewardScale) -> SafeReturn:
        """The state with a better reference, or with a trial if recent rewards are below its bound."""
        if not isinstance(without_trying(epoch.policy), KernelPolicy):
            return self
        rewards = Tally.of(log.reward)
        least = float(rewards.mean) - _radius(rewards, scale.spread)
        if len(log) >= _MIN_ROWS and least > self.least:
            return replace(self, reference=epoch.policy, epoch=epoch.index, least=least, recent=None)
        if self.reference is None:
            return self
        recent = rewards if self.recent is None else self.recent.scaled(_RECENT) + rewards
        fallen = float(recent.mean) + _radius(recent, scale.spread) < self.least
        if not fallen or recent.n_effective < _MIN_ROWS:
            return replace(self, recent=recent)
        return replace(
            self,
            phase="trial",
            gains=Tally.empty(),
            bounds=(scale.low, scale.high),
            longest=min(float(epoch.stop), _LONGEST_TRIAL),
            n_trials=self.n_trials + 1,
        )

    def _compared(self, policy: SharedPolicy, log: Log, delta: float) -> SafeReturn:
        """The state with the gains of these rows: the reference takes over, stays, or is forgotten."""
        assert self.gains is not None
        gains = self.gains + Tally.of(concurrent_gains(policy, log, self.bounds))
        forgotten = SafeReturn(n_trials=self.n_trials)
        if gains.count >= _MIN_ROWS and float(gains.z) < _REVOKED_Z[self.phase]:
            return forgotten
        if self.phase == "returned":
            return replace(self, gains=gains)
        reach = _REACH * (self.bounds[1] - self.bounds[0])
        if lower_bound(gains, reach, delta / (self.n_trials * (self.n_trials + 1))) > 0.0:
            return replace(self, phase="returned", gains=Tally.empty())
        return forgotten if gains.count >= self.longest else replace(self, gains=gains)

    def report_lines(self, unit: float) -> tuple[str, ...]:
        """A report line while the reference plays, with its estimated gain."""
        if self.phase == "watching" or self.gains is None:
            return ()
        gain, error = unit * float(self.gains.mean), unit * float(self.gains.standard_error)
        return (
            f"policy of epoch {self.epoch} in {_SHARE[self.phase]:.0%} of rounds: "
            f"estimated value gain {gain:+.4f} +- {error:.4f} per round over the latest policy",
        )


NO_REFERENCE = SafeReturn()


def _radius(rewards: Tally, spread: float) -> float:
    """Bernstein's radius of a mean reward: an epoch of equal rewards is not certain of them."""
    return _FALL_Z * float(rewards.standard_error) + _FALL_Z**2 / 2.0 * spread / rewards.n_effective


def concurrent_gains(policy: SharedPolicy, log: Log, bounds: tuple[float, float]) -> Floats:
    """How much more the reference earns than the running policy on each active row, (n,), doubly robust.

    Propensities are those of the shared policy, so that no weight exceeds the inverse of the smaller share.
    """
    assert isinstance(policy.running, KernelPolicy)
    assert isinstance(policy.running.scorer, OptimisticModel)
    running, reference = (one.probabilities(log.contexts) for one in (policy.running, policy.reference))
    shared = policy.probabilities(log.contexts)[np.arange(len(log)), log.action]
    model = policy.running.scorer.means(log.contexts).clip(*bounds)
    return paired_gains(
        reference, running, model, replace(log, reward=log.reward.clip(*bounds), propensity=shared)
    )


def lower_bound(gains: Tally, reach: float, delta: float) -> float:
    """Lower confidence bound of the sum of expected gains, valid at all times at once.

    Gains are at least -reach. For each lambda, exp(lambda (S - M) - psi(lambda) V) is a supermartingale,
    where S and V are the sums of gains and of their squares over reach, M that of expected gains given the
    past, and psi(lambda) = -ln(1 - lambda) - lambda (Fan, Grama and Liu 2015; Howard et al. 2021).
    """
    if reach <= 0.0:
        return 0.0
    psi = -np.log1p(-_RATES) - _RATES
    needed = (psi * float(gains.squares) / reach**2 + math.log(len(_RATES) / delta)) / _RATES
    return float(gains.total) - reach * float(needed.min())
