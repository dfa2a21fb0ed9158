"""Logs without faults, as learners of many kinds write them, and one made by hand with every column."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gyrfalcon import AdaptiveFalcon, EpsilonGreedy, LinTS, Uniform
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.epochs import action_probabilities, decide
from gyrfalcon.core.records import Log
from gyrfalcon.engine.turnover import played_epochs, turn_over
from gyrfalcon.environments import (
    ActionFeatureEnvironment,
    EligibilityEnvironment,
    LinearEnvironment,
    RareRewardEnvironment,
    SinusoidEnvironment,
    StepExample,
)
from gyrfalcon.environments.protocol import Drawable
from gyrfalcon.environments.validation import problem_of
from gyrfalcon.learners.protocol import Learner

LEARNERS: dict[str, Learner] = {
    "uniform": Uniform(),
    "adaptive-falcon": AdaptiveFalcon(),
    "lints": LinTS(),
    "epsilon-greedy": EpsilonGreedy(),
}
ENVIRONMENTS: dict[str, Drawable] = {
    "linear": LinearEnvironment(n_actions=3, n_features=4),
    "sinusoid": SinusoidEnvironment(),
    "rare": RareRewardEnvironment(),
    "action-features": ActionFeatureEnvironment(),
    "eligibility": EligibilityEnvironment(environment=LinearEnvironment(n_actions=4)),
    "step": StepExample(),
}


def played(learner: Learner, environment: Drawable, n: int, seed: int) -> DecisionTable:
    """The log of a learner in an environment, with the probabilities of all actions."""
    problem = problem_of(environment)
    outcomes = environment.draw(0, n, seed)
    uniforms = np.random.default_rng([seed, 17, 2026]).random((n, 3))
    logs: list[Log] = []
    chances: list[Any] = []

    def following(epoch: Any) -> Any:
        return turn_over(learner, epoch, logs[-1], epoch.stop)

    for epoch in played_epochs(learner.start(problem), n, following):
        rows = slice(epoch.start, min(epoch.stop, n))
        rounds = np.arange(rows.start, rows.stop)
        contexts = outcomes.contexts.take(rows)
        decisions = decide(epoch, rounds, contexts, uniforms[rows])
        chances.append(action_probabilities(epoch, rounds, contexts))
        reward = outcomes.rewards[rounds, decisions.action]
        logs.append(Log.of(contexts, decisions, problem.rewards.to_unit(reward)))
    log = replace(Log.concat(logs, problem.n_actions), problem=problem)
    table = DecisionTable.of_log(log)
    # Noise takes rewards out of the range that expected rewards have.
    return replace(table, distribution=np.concatenate(chances), reward_range=None)


def experiment(n: int = 1000, seed: int = 0, scale: float = 1.0) -> DecisionTable:
    """A log with every column: three actions, one of them not always eligible, and four epochs."""
    random = np.random.default_rng(seed)
    shared = random.normal(size=(n, 2))
    eligible = np.ones((n, 3), dtype=np.bool_)
    eligible[:, 2] = random.random(n) < 0.8
    epoch = np.arange(n) * 4 // n + 1
    slope = np.array([0.0, 1.0, -1.0]) * (epoch[:, np.newaxis] - 1) / 2
    weights = np.exp(slope * shared[:, [0]]) * eligible
    chances = weights / weights.sum(axis=1, keepdims=True)
    passive = random.random(n) < 0.1
    chances[passive] = eligible[passive] / eligible[passive].sum(axis=1, keepdims=True)
    action = (chances.cumsum(axis=1) < random.random(n)[:, np.newaxis]).sum(axis=1)
    rewards = scale * np.clip(0.5 + 0.2 * shared[:, 0] * (action - 1) + 0.1 * random.normal(size=n), 0, 1)
    time = 1.7e9 + np.cumsum(random.exponential(10.0, n))
    overridden, late = random.random(n) < 0.01, random.random(n) < 0.01
    open_ = random.random(n) < 0.03
    defaulted = late & ~overridden
    rewards[defaulted] = 0.0
    rewards[overridden | open_] = np.nan
    late &= ~open_
    defaulted &= ~open_
    cube = random.normal(size=(n, 3, 1))
    table = DecisionTable.of(
        actions=["red", "green", "blue"],
        action=[["red", "green", "blue"][place] for place in action.tolist()],
        reward=rewards,
        propensity=chances[np.arange(n), action],
        shared=shared,
        features=("age", "income"),
    )
    return replace(
        table,
        contexts=replace(table.contexts, actions=cube, eligible=eligible),
        action_features=("price",),
        distribution=chances,
        event_id=np.array([f"e{row}" for row in range(n)], dtype=object),
        time=time,
        reward_time=np.where(np.isnan(rewards), np.nan, time + random.exponential(60.0, n)),
        epoch=epoch,
        round=np.arange(n),
        passive=passive,
        model=np.array([f"hash{one}" for one in epoch.tolist()], dtype=object),
        experiment=np.array(["main"] * n, dtype=object),
        defaulted=defaulted,
        late=late,
        overridden=overridden,
        shadow=np.zeros(n, dtype=np.bool_),
        reward_range=(0.0, scale),
        source="log.csv",
    )
