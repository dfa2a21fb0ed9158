"""Epochs of fixed policies, and `decide`, which draws their actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.core.policies.greedy import GreedyPolicy, LikeliestPolicy, greedy_policy_of
from gyrfalcon.core.policies.kernel_policy import Policy, row_of
from gyrfalcon.core.policies.kernels import mixture
from gyrfalcon.core.policies.limited import LimitedPolicy
from gyrfalcon.core.records import PASSIVE, POLICY, Decisions, rows_of
from gyrfalcon.core.sampling import sample, sample_action, sample_actions
from gyrfalcon.core.schedules import Schedule, passive_count


class PassiveDesign(Enum):
    """How the passive rounds of an epoch are placed."""

    TAIL = "tail"  # the last ceil(share n) rounds, as Algorithm 1 prints it
    COIN = "coin"  # each round with probability share: no burst of random play, no confounding with time


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """A policy for the rounds start..stop-1 (counted from 0), and its share of passive rounds.

    `stop` is planned: decisions go on past it, without passive rounds, until the next epoch is fitted.

    Parameters
    ----------
    index : int
        Number of the epoch, m, from 1 on.
    start : int
        First round.
    stop : int
        Round after the last planned one.
    policy : Policy
        Policy of active rounds.
    passive_policy : Policy
        Policy of passive rounds.
    passive_share : float, default 0.0
        Share of passive rounds, epsilon.
    passive_design : PassiveDesign, default PassiveDesign.TAIL
        Whether passive rounds end the epoch or are drawn by a coin.
    state : object, optional
        The learner's own frozen state.
    report : FitReport, optional
        How the policy was fitted, for people.
    """

    index: int
    start: int
    stop: int
    policy: Policy
    passive_policy: Policy
    passive_share: float = 0.0
    passive_design: PassiveDesign = PassiveDesign.TAIL
    state: object | None = None
    report: FitReport | None = None

    def __post_init__(self) -> None:
        if isinstance(self.policy, Mixture) and self.passive_share > 0.0:
            raise ValueError(
                f"passive_share is {self.passive_share} beside a mixture, whose bases have their own; give 0."
            )

    def __repr__(self) -> str:
        parts = [
            f"index={self.index}",
            f"start={self.start}",
            f"stop={self.stop}",
            type(self.policy).__name__,
        ]
        if self.passive_share:
            parts.append(f"passive_share={self.passive_share:.4g} ({self.passive_design.value})")
        return f"Epoch({', '.join(parts)})"

    def successor(
        self, schedule: Schedule, *, policy: Policy, state: object, report: FitReport | None
    ) -> Epoch:
        """The next epoch by a schedule, starting where this one was planned to stop.

        Parameters
        ----------
        schedule : Schedule
            When epochs end.
        policy : Policy
            Policy of its active rounds.
        state : object
            The learner's state after the refit.
        report : FitReport, optional
            How the policy was fitted.
        """
        length = schedule.end(self.index + 1) - schedule.end(self.index)
        return replace(
            self,
            index=self.index + 1,
            start=self.stop,
            stop=self.stop + length,
            policy=policy,
            state=state,
            report=report,
        )

    @property
    def greedy(self) -> GreedyPolicy | LikeliestPolicy:
        """The best action by the epoch's reward estimates, or the likeliest one where there are none."""
        return greedy_policy_of(self.policy, getattr(self.state, "problem", None))

    @property
    def n_rounds(self) -> int:
        """Number of planned rounds."""
        return self.stop - self.start

    @property
    def passive_start(self) -> int:
        """The first round of a passive tail."""
        return self.stop - passive_count(self.passive_share, self.n_rounds)

    def passive_rate(self, round_: int) -> float:
        """The probability that this round is passive: 0 or 1 in a TAIL, the share with a COIN."""
        if self.passive_design is PassiveDesign.COIN:
            return self.passive_share
        return 1.0 if self.passive_start <= round_ < self.stop else 0.0

    def passive_rates(self, rounds: Ints) -> Floats:
        """The probability that each round is passive, (n,)."""
        if self.passive_design is PassiveDesign.COIN:
            return np.full(len(rounds), self.passive_share)
        return ((rounds >= self.passive_start) & (rounds < self.stop)).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Mixture:
    """Policy of a master algorithm: base epoch j is played with probability weights[j].

    Bases count their own rounds, so their passive rounds can only be a COIN's; the master's epoch has no
    passive share of its own.
    """

    weights: Floats
    bases: tuple[Epoch, ...]

    def __post_init__(self) -> None:
        sums_to_1 = abs(float(self.weights.sum()) - 1.0) <= 1e-9
        if self.weights.shape != (len(self.bases),) or not sums_to_1 or not (self.weights >= 0.0).all():
            raise ValueError(
                f"weights are {self.weights}; give {len(self.bases)} shares of at least 0 that sum to 1."
            )
        if any(base.passive_share > 0.0 and base.passive_design is PassiveDesign.TAIL for base in self.bases):
            raise ValueError("a base of a mixture has a passive tail; give it passive_design='coin'.")

    def probabilities(self, contexts: Contexts) -> Floats:
        """Action probabilities, marginal over bases and their passive shares, (n, K)."""
        return self.marginal(self.parts(contexts))

    def parts(self, contexts: Contexts) -> Floats:
        """The probabilities of every component, (2 M, n, K): base j's policy, then its passive policy."""
        policies = [policy for base in self.bases for policy in (base.policy, base.passive_policy)]
        return np.stack([policy.probabilities(contexts) for policy in policies])

    def marginal(self, parts: Floats) -> Floats:
        """The mean of the components' probabilities by how often each acts, (n, K)."""
        shares = [base.passive_share for base in self.bases]
        weights = [
            weight * part
            for weight, share in zip(self.weights.tolist(), shares, strict=True)
            for part in (1.0 - share, share)
        ]
        mixed = np.minimum(mixture(list(parts), weights), 1.0)
        # Weights sum to 1 up to rounding, but what every part is certain of is certain.
        return np.where((parts == 1.0).all(axis=0), 1.0, mixed)


def action_probabilities(epoch: Epoch, rounds: Ints, contexts: Contexts) -> Floats:
    """The probability of every action at these rounds over all components, (n, K)."""
    rates = epoch.passive_rates(rounds)[:, np.newaxis]
    if isinstance(epoch.policy, LimitedPolicy):
        passive = epoch.passive_policy if rates.any() else None
        return epoch.policy.components(contexts, passive).distribution(rates)
    active = epoch.policy.probabilities(contexts)
    if not rates.any():
        return active
    return (1.0 - rates) * active + rates * epoch.passive_policy.probabilities(contexts)


def decide(epoch: Epoch, rounds: Ints, contexts: Contexts, uniforms: Floats) -> Decisions:
    """An epoch's decisions for n contexts at their rounds, each with its exact propensity.

    Inputs are not validated here. A row gets the same bits alone and in any batch.

    Parameters
    ----------
    epoch : Epoch
        The epoch in play.
    rounds : array of int
        (n,) rounds of the decisions, counted from 0.
    contexts : Contexts
        The n contexts.
    uniforms : array of float
        (n, 3) uniform random numbers: for the base of a mixture or the coin of a control share, the passive
        coin and the action.
    """
    if len(contexts) == 1:
        action, propensity, component = decide_one(epoch, int(rounds[0]), contexts, uniforms[0].tolist())
        return Decisions(
            np.array([epoch.index]),
            rounds,
            np.array([action]),
            np.array([propensity]),
            np.array([component]),
        )
    if isinstance(epoch.policy, Mixture):
        drawn = _draw_mixture(epoch.policy, contexts, uniforms)
    else:
        drawn = _draw(epoch, rounds, contexts, uniforms)
    return Decisions(np.full(len(contexts), epoch.index), rounds, *drawn)


def decide_one(
    epoch: Epoch, round_: int, contexts: Contexts, uniforms: Sequence[float]
) -> tuple[int, float, int]:
    """Action, propensity and component of one row: plain floats where the policy offers them."""
    action, distribution, component = draw_one(epoch, round_, contexts, uniforms)
    return action, distribution[action], component


def draw_one(
    epoch: Epoch, round_: int, contexts: Contexts, uniforms: Sequence[float]
) -> tuple[int, list[float], int]:
    """Action, probabilities of all actions over all components, and component of one row."""
    if isinstance(epoch.policy, Mixture):
        action, _, component = _draw_mixture(epoch.policy, contexts, np.array([uniforms]))
        marginal: list[float] = epoch.policy.probabilities(contexts)[0].tolist()
        return int(action[0]), marginal, int(component[0])
    rate = epoch.passive_rate(round_)
    if isinstance(epoch.policy, LimitedPolicy) and (rate or epoch.policy.control is not None):
        return epoch.policy.draw_one(contexts, epoch.passive_policy, rate, uniforms)
    passive = uniforms[1] < rate
    acting = row_of(epoch.passive_policy if passive else epoch.policy, contexts)
    action_ = sample_action(acting, uniforms[2])
    distribution = acting
    if 0.0 < rate < 1.0:
        other = row_of(epoch.policy if passive else epoch.passive_policy, contexts)
        active, uniform = (other, acting) if passive else (acting, other)
        distribution = [(1.0 - rate) * a + rate * u for a, u in zip(active, uniform, strict=True)]
    return action_, distribution, PASSIVE if passive else POLICY


def _draw(epoch: Epoch, rounds: Ints, contexts: Contexts, uniforms: Floats) -> tuple[Ints, Floats, Ints]:
    rates = epoch.passive_rates(rounds)
    if isinstance(epoch.policy, LimitedPolicy):
        return epoch.policy.draw(contexts, epoch.passive_policy, rates, uniforms)[:3]
    if not rates.any():
        action, propensity = sample(epoch.policy.probabilities(contexts), uniforms[:, 2])
        return action, propensity, np.zeros(len(contexts), dtype=np.int64)
    passive = uniforms[:, 1] < rates
    if epoch.passive_design is PassiveDesign.TAIL:
        action, propensity = _sample_each_half(epoch, passive, contexts, uniforms)
        return action, propensity, passive.astype(np.int64)
    active = epoch.policy.probabilities(contexts)
    uniform = epoch.passive_policy.probabilities(contexts)
    action, _ = sample(np.where(passive[:, np.newaxis], uniform, active), uniforms[:, 2])
    chosen = np.arange(len(action)), action
    propensity = (1.0 - rates) * active[chosen] + rates * uniform[chosen]
    return action, propensity, passive.astype(np.int64)


def _sample_each_half(
    epoch: Epoch, passive: Bools, contexts: Contexts, uniforms: Floats
) -> tuple[Ints, Floats]:
    """Actions of a passive tail by the passive policy, and of the other rounds by the policy."""
    action = np.empty(len(contexts), dtype=np.int64)
    propensity = np.empty(len(contexts))
    for mask, policy in ((~passive, epoch.policy), (passive, epoch.passive_policy)):
        if mask.any():
            rows = rows_of(mask)
            probabilities = policy.probabilities(contexts.take(rows))
            action[rows], propensity[rows] = sample(probabilities, uniforms[rows, 2])
    return action, propensity


def _draw_mixture(master: Mixture, contexts: Contexts, uniforms: Floats) -> tuple[Ints, Floats, Ints]:
    n = len(contexts)
    base = sample_actions(np.broadcast_to(master.weights, (n, len(master.bases))), uniforms[:, 0])
    shares = np.array([one.passive_share for one in master.bases])
    component = 2 * base + np.where(uniforms[:, 1] < shares[base], PASSIVE, POLICY)
    parts = master.parts(contexts)
    action, _ = sample(parts[component, np.arange(n)], uniforms[:, 2])
    return action, master.marginal(parts)[np.arange(n), action], component
