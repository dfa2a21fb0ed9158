"""Actions come and go: what is known of the others stays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy, UniformPolicy
from gyrfalcon.core.policies.untried import TryingKernel
from gyrfalcon.core.records import Log
from gyrfalcon.learners.reward_scale import in_spreads
from gyrfalcon.learners.steps import Fitted, fitted_state
from gyrfalcon.oracles.linear.linear import LinearOracle
from gyrfalcon.oracles.protocol import RewardModel
from gyrfalcon.oracles.solvers.moments import Moments


def adapted(epoch: Epoch, problem: Problem) -> Epoch:
    """The epoch for a problem with actions added or retired: what is known of the others stays."""
    state = fitted_state(epoch)
    source = sources(state.problem, problem)
    everyone = UniformPolicy(problem.n_actions)
    if state.oracle is None or state.model is None:
        return replace(epoch, policy=everyone, passive_policy=everyone, state=replace(state, problem=problem))
    before, oracle = state.oracle, state.oracle.reindexed(problem.n_actions)
    model = oracle.reindexed_model(state.model, source)
    state = replace(
        state,
        problem=problem,
        oracle=oracle,
        model=model,
        active=None if state.active is None else before.reindexed_summary(state.active, source),
        passive=None if state.passive is None else before.reindexed_summary(state.passive, source),
        scatter=_reindexed_scatter(state, source),
    )
    policy = _with_model(epoch.policy, in_spreads(model, state.scale))
    return replace(epoch, policy=policy, passive_policy=everyone, state=state)


def sources(before: Problem, after: Problem) -> Ints:
    """Where each action was in the problem before, (K,); -1 for a new one."""
    return np.array([before.actions.index(a) if a in before.actions else -1 for a in after.actions])


def renumbered(log: Log, source: Ints) -> Log:
    """Rows of actions that stay, by their new numbers: action k was action source[k] before, -1 if it is new.

    Who else could have been chosen no longer matters, nor do features of actions that were not.
    """
    places = np.full(int(max(source.max(initial=-1), log.action.max(initial=-1))) + 1, -1)
    old = np.flatnonzero(source >= 0)
    places[source[old]] = old
    contexts = Contexts(log.contexts.shared, _features(log.contexts.actions, source))
    action = places[log.action]
    return replace(log, contexts=contexts, action=action, problem=None).where(action >= 0)


def _features(features: Floats | None, source: Ints) -> Floats | None:
    """(n, K, q): 0 for actions that are new."""
    if features is None:
        return None
    return np.ascontiguousarray(np.where((source >= 0)[:, np.newaxis], features[:, source], 0.0))


def _with_model(policy: Policy, model: RewardModel) -> Policy:
    if not isinstance(policy, KernelPolicy):
        return policy
    kernel = policy.kernel
    if isinstance(kernel, TryingKernel):
        kernel = replace(kernel, known=model.known)
    return KernelPolicy(model, kernel)


def _reindexed_scatter(state: Fitted, source: Ints) -> Floats | None:
    oracle, passive = state.oracle, state.passive
    if state.scatter is None or not isinstance(oracle, LinearOracle) or not isinstance(passive, Moments):
        return None
    return oracle.reindexed_scatter(state.scatter, passive, source)
