"""Play within limits: every probability within its bounds, and a control share beside the policy.

A control share is drawn by a coin of its own, whatever the context is. What the policy then plays is a
distribution near its own by which all components together are within the bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.action_columns import sequential_sum
from gyrfalcon.core.policies.kernel_policy import Policy, row_of
from gyrfalcon.core.policies.kernels import uniform
from gyrfalcon.core.policies.nearest import attainable, nearest_row, nearest_within
from gyrfalcon.core.records import CONTROL, PASSIVE, POLICY
from gyrfalcon.core.sampling import sample, sample_action
from gyrfalcon.core.settings import shapes_repr


@dataclass(frozen=True, slots=True)
class FixedAction:
    """The policy of a control action, which is played wherever it is eligible.

    Parameters
    ----------
    action : int
        Position of the action.
    n_actions : int
        Number of actions K.
    """

    action: int
    n_actions: int

    def probabilities(self, contexts: Contexts) -> Floats:
        """1 for the action, (n, K); equal probabilities of all eligible actions where it is not eligible."""
        rows = np.zeros((len(contexts), self.n_actions))
        rows[:, self.action] = 1.0
        if contexts.eligible is None:
            return rows
        plays = contexts.eligible[:, self.action, np.newaxis]
        return np.where(plays, rows, uniform(self.n_actions, len(contexts), contexts.eligible))


class Components(NamedTuple):
    """How the components of a decision play, (n, K) each, and how often the control does, (n, 1)."""

    policy: Floats
    passive: Floats
    control: Floats
    control_share: Floats
    is_uniform: Bools  # whether passive rounds are: the limits may leave no room for that

    def distribution(self, rates: Floats) -> Floats:
        """The probability of every action over all components, (n, K), by (n, 1) passive rates."""
        learned = (1.0 - rates) * self.policy + rates * self.passive
        return (1.0 - self.control_share) * learned + self.control_share * self.control


@dataclass(frozen=True, slots=True)
class LimitedPolicy:
    """A policy whose probabilities are kept within bounds, beside a control share.

    What exceeds a maximum goes where the policy would play were that action not eligible; floor and minima
    are met by the nearest distribution. Among the eligible actions of a row, maxima that sum to less than 1
    grow in proportion. Where a control action is not eligible, the policy plays; where a control policy
    itself is beyond a bound, the control wins.

    Parameters
    ----------
    policy : Policy
        What is limited.
    low, high : array of float
        (K,) least and largest probabilities of the actions.
    floor : float, default 0.0
        Least probability of all actions, but for those with a smaller maximum.
    control : Policy, optional
        What is played in the control share: a `FixedAction`, or any policy.
    control_share : float, default 0.0
        Share of the control.

    Examples
    --------
    >>> from gyrfalcon.core.policies.kernel_policy import UniformPolicy
    >>> low, high = np.array([0.0, 0.0]), np.array([1.0, 0.25])
    >>> LimitedPolicy(UniformPolicy(2), low, high).probabilities(Contexts(np.zeros((1, 0)))).tolist()
    [[0.75, 0.25]]
    """

    policy: Policy
    low: Floats
    high: Floats
    floor: float = 0.0
    control: Policy | None = None
    control_share: float = 0.0
    _least: Floats = field(init=False, repr=False)
    _ends: tuple[tuple[float, ...], tuple[float, ...]] = field(init=False, repr=False)

    __repr__ = shapes_repr

    def __post_init__(self) -> None:
        object.__setattr__(self, "_least", np.maximum(self.low, np.minimum(self.floor, self.high)))
        everyone = np.ones((1, len(self.low)), dtype=np.bool_)
        control, share = np.zeros((1, len(self.low))), np.zeros((1, 1))
        if isinstance(self.control, FixedAction):
            control, share = np.eye(len(self.low))[[self.control.action]], self._share(everyone)
        ends = self._room(everyone, control, share)
        object.__setattr__(self, "_ends", tuple(tuple(end[0].tolist()) for end in ends))

    @property
    def least(self) -> Floats:
        """Least probability of each action where all are eligible, (K,)."""
        return self._least

    def probabilities(self, contexts: Contexts) -> Floats:
        """Probabilities in rounds that are not passive, (n, K)."""
        return self.components(contexts, None).distribution(np.zeros((len(contexts), 1)))

    def row(self, contexts: Contexts) -> list[float]:
        """Probabilities for the first context, bit-identical, in plain floats where all are eligible."""
        if contexts.eligible is None and self.control is None:
            given = row_of(self.policy, contexts)
            if not self._is_beyond(given):
                return nearest_row(given, *self._ends)
        row: list[float] = self.probabilities(contexts)[0].tolist()
        return row

    def components(self, contexts: Contexts, passive_policy: Policy | None) -> Components:
        """How policy, control, and passive rounds if there are any play, within their room of the bounds."""
        shape = len(contexts), len(self.low)
        mask = np.ones(shape, dtype=np.bool_) if contexts.eligible is None else contexts.eligible
        given = self.policy.probabilities(contexts)
        control, share = given, np.zeros((shape[0], 1))
        if self.control is not None:
            control, share = self.control.probabilities(contexts), self._share(mask)
        low, high = self._room(mask, control, share)
        policy = nearest_within(self._without_excess(contexts, given, high, mask), low, high)
        if passive_policy is None:
            return Components(policy, policy, control, share, np.zeros(shape[0], dtype=np.bool_))
        even = passive_policy.probabilities(contexts)
        passive = nearest_within(even, low, high)
        return Components(policy, passive, control, share, (passive == even).all(axis=1))

    def draw(
        self, contexts: Contexts, passive_policy: Policy, rates: Floats, uniforms: Floats
    ) -> tuple[Ints, Floats, Ints, Floats]:
        """Actions, propensities, components and all probabilities, by (n,) passive rates and (n, 3) uniforms.

        The first uniform is for the control's coin, the second for the passive one, the third for the action.
        """
        parts = self.components(contexts, passive_policy if rates.any() else None)
        passive, held = uniforms[:, 1] < rates, uniforms[:, 0] < parts.control_share[:, 0]
        acting = np.where(passive[:, np.newaxis], parts.passive, parts.policy)
        action, _ = sample(np.where(held[:, np.newaxis], parts.control, acting), uniforms[:, 2])
        component = np.where(passive & parts.is_uniform, PASSIVE, POLICY)
        distribution = parts.distribution(rates[:, np.newaxis])
        propensity = distribution[np.arange(len(action)), action]
        return action, propensity, np.where(held, CONTROL, component), distribution

    def draw_one(
        self, contexts: Contexts, passive_policy: Policy, rate: float, uniforms: Sequence[float]
    ) -> tuple[int, list[float], int]:
        """Action, all probabilities and component of one row, as `draw` has them."""
        if contexts.eligible is None and (self.control is None or isinstance(self.control, FixedAction)):
            given = row_of(self.policy, contexts)
            if not self._is_beyond(given):
                return self._draw_plain(given, contexts, passive_policy, rate, uniforms)
        action, _, component, distribution = self.draw(
            contexts, passive_policy, np.array([rate]), np.array([uniforms])
        )
        return int(action[0]), distribution[0].tolist(), int(component[0])

    def _draw_plain(
        self,
        given: list[float],
        contexts: Contexts,
        passive_policy: Policy,
        rate: float,
        uniforms: Sequence[float],
    ) -> tuple[int, list[float], int]:
        """`draw_one` in plain floats, where all actions are eligible and no maximum is exceeded."""
        acting, component = nearest_row(given, *self._ends), POLICY
        distribution = acting
        if rate:
            even = row_of(passive_policy, contexts)
            passive = nearest_row(even, *self._ends)
            distribution = [(1.0 - rate) * a + rate * u for a, u in zip(acting, passive, strict=True)]
            if uniforms[1] < rate:
                acting, component = passive, PASSIVE if passive == even else POLICY
        if isinstance(self.control, FixedAction):
            share, control = self.control_share, [0.0] * len(acting)
            control[self.control.action] = 1.0
            distribution = [(1.0 - share) * a + share * c for a, c in zip(distribution, control, strict=True)]
            if uniforms[0] < share:
                acting, component = control, CONTROL
        return sample_action(acting, uniforms[2]), distribution, component

    def _without_excess(self, contexts: Contexts, given: Floats, high: Floats, mask: Bools) -> Floats:
        """Probabilities (n, K) in which each excess goes where the policy plays without that action."""
        capped = given > high
        rows = np.flatnonzero(capped.any(axis=1))
        moved = given.copy() if len(rows) else given
        while len(rows):
            others = mask[rows] & ~capped[rows]
            rows, others = rows[others.any(axis=1)], others[others.any(axis=1)]
            if not len(rows):
                break
            part = contexts.take(rows)
            elsewhere = self.policy.probabilities(Contexts(part.shared, part.actions, others))
            fixed = np.where(capped[rows], high[rows], 0.0)
            rest = 1.0 - sequential_sum(np.ascontiguousarray(fixed.T))
            moved[rows] = fixed + rest[:, np.newaxis] * elsewhere
            beyond = (moved[rows] > high[rows]) & others
            capped[rows] |= beyond
            rows = rows[beyond.any(axis=1)]
        return moved

    def _room(self, mask: Bools, control: Floats, share: Floats) -> tuple[Floats, Floats]:
        """Bounds (n, K) for what plays beside the control, by which all together are within the limits."""
        low, high = attainable(self._least, self.high, mask)
        if self.control is None:
            return low, high
        rest = np.where(share < 1.0, 1.0 - share, 1.0)
        low, high = (np.clip((end - share * control) / rest, 0.0, 1.0) for end in (low, high))
        return attainable(low, np.maximum(low, high), mask)

    def _is_beyond(self, given: list[float]) -> bool:
        """Whether a row over all actions exceeds a maximum."""
        return any(share > most for share, most in zip(given, self._ends[1], strict=True))

    def _share(self, mask: Bools) -> Floats:
        """The control share of each row, (n, 1): 0 where a control action is not eligible."""
        if isinstance(self.control, FixedAction):
            return np.where(mask[:, self.control.action, np.newaxis], self.control_share, 0.0)
        return np.full((len(mask), 1), self.control_share, dtype=np.float64)


def control_share_of(policy: Policy) -> float:
    """Share of the decisions that a control makes where it can, 0 without one."""
    return policy.control_share if isinstance(policy, LimitedPolicy) and policy.control is not None else 0.0


def unlimited(policy: Policy) -> Policy:
    """The policy inside one with limits; itself where there are none."""
    return policy.policy if isinstance(policy, LimitedPolicy) else policy
