"""Explanation of a decision: what the model in play says of every action in one context, and why."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial

import numpy as np

from gyrfalcon.bandit.deciding import probabilities
from gyrfalcon.bandit.engine import BanditEngine
from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.policies.limited import unlimited
from gyrfalcon.learners.adaptive.safe_return import running_policy
from gyrfalcon.learners.reward_scale import RewardScale, estimated_rewards

N_LARGEST = 5
"""Contributions that are kept of each action."""


@dataclass(frozen=True, slots=True)
class ActionExplanation:
    """One action in one context.

    Parameters
    ----------
    label
        Label of the action.
    probability
        Probability with which it would be chosen.
    estimate
        Reward that the model expects, in the problem's units; None where the policy has no reward model.
    width
        Confidence width of the estimate, in the problem's units, for rewards of the spread that was seen, and
        before it is scaled by a bonus: the linear class's in `AdaptiveFalcon`, None where models have none.
    contributions
        Features with the largest effects on the estimate, by name: how much less it would be if the feature
        were 0, all others as they are.
    """

    label: Hashable
    probability: float
    estimate: float | None
    width: float | None
    contributions: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Every action in one context, the most probable one first; printed, it is a table.

    Parameters
    ----------
    actions
        The actions.
    """

    actions: tuple[ActionExplanation, ...]

    def __str__(self) -> str:
        rows = [["action", "probability", "estimate", "width", "largest contributions"]]
        for one in self.actions:
            reasons = ", ".join(f"{name} {amount:+.3g}" for name, amount in one.contributions)
            numbers = ["" if value is None else f"{value:.4g}" for value in (one.estimate, one.width)]
            rows.append([str(one.label), f"{one.probability:.4f}", *numbers, reasons])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        padded = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
        return "\n".join("  ".join(row).rstrip() for row in padded)


def explained(engine: BanditEngine, problem: Problem, contexts: Contexts) -> Explanation:
    """The explanation of one context, which opens no event."""
    shares = probabilities(engine, contexts)[0].tolist()
    policy = running_policy(unlimited(engine.epoch.policy))
    scorer = policy.scorer if isinstance(policy, KernelPolicy) else None
    n_actions = problem.n_actions
    estimates: list[float | None] = [None] * n_actions
    widths: list[float | None] = [None] * n_actions
    reasons: list[tuple[tuple[str, float], ...]] = [()] * n_actions
    if scorer is not None:
        means = partial(estimated_rewards, scorer)
        ends = problem.rewards.from_unit(np.array([0.0, 1.0]))
        sign = float(ends[1] - ends[0])  # of a reward by which the model's unit is 1; negative for costs
        estimates = problem.rewards.from_unit(means(contexts)[0]).tolist()
        reasons = _contributions(sign * _effects(means, contexts), problem)
        if hasattr(scorer, "widths"):
            scale = getattr(engine.epoch.state, "scale", None)
            unit = scale.reward_unit if isinstance(scale, RewardScale) else 1.0
            widths = (abs(sign) * unit * scorer.widths(contexts)[0]).tolist()
    columns = (problem.actions, shares, estimates, widths, reasons)
    actions = (ActionExplanation(*row) for row in zip(*columns, strict=True))
    return Explanation(tuple(sorted(actions, key=lambda one: -one.probability)))


def _effects(means: Callable[[Contexts], Floats], contexts: Contexts) -> Floats:
    """(p + q, K): how much each shared feature, and each of the actions' own, adds to the estimates."""
    p = contexts.shared.shape[1]
    own = contexts.actions
    q = 0 if own is None else own.shape[2]
    shared = np.repeat(contexts.shared, 1 + p + q, axis=0)
    shared[1 + np.arange(p), np.arange(p)] = 0.0
    cube = None
    if own is not None:
        cube = np.repeat(own, 1 + p + q, axis=0)
        cube[1 + p + np.arange(q), :, np.arange(q)] = 0.0
    eligible = None if contexts.eligible is None else np.repeat(contexts.eligible, 1 + p + q, axis=0)
    scores: Floats = means(Contexts(shared, cube, eligible))
    effects: Floats = scores[0] - scores[1:]
    return effects


def _contributions(effects: Floats, problem: Problem) -> list[tuple[tuple[str, float], ...]]:
    names = (*problem.features.names, *problem.action_features.names)
    largest = np.argsort(-np.abs(effects), axis=0, kind="stable")[:N_LARGEST].T.tolist()
    return [
        tuple((names[j], float(effects[j, k])) for j in order if effects[j, k] != 0.0)
        for k, order in enumerate(largest)
    ]
