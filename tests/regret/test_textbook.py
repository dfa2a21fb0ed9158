"""The textbook's LinUCB against ridge regressions that are solved anew."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.regret.environments import PLACES
from benchmarks.regret.textbook import TextbookLinUCB, _Learner


def test_bounds_are_those_of_a_ridge_regression_for_each_action() -> None:
    rounds = PLACES["xor"].rounds(60, 0)
    learner = _Learner(TextbookLinUCB(0.3, ridge=2.0), rounds, 0)
    actions = np.zeros(60, dtype=np.int64)
    for row in range(60):
        here = slice(row, row + 1)
        actions[here] = learner.decide(rounds.X[here])
        learner.learn(rounds.X[here], actions[here], rounds.rewards[here, actions[row]])
    x = np.array([0.3, -0.7])
    phi, earned = np.column_stack([np.ones(60), rounds.X]), rounds.earned(actions)
    for action, upper in enumerate(learner.upper(x)):
        rows = actions == action
        gram = phi[rows].T @ phi[rows] + 2.0 * np.eye(3)
        point = np.concatenate([[1.0], x])
        expected = point @ np.linalg.solve(gram, phi[rows].T @ earned[rows])
        width = np.sqrt(point @ np.linalg.solve(gram, point))
        assert upper == pytest.approx(expected + 0.3 * width)


def actions_of(settings: TextbookLinUCB, n_rounds: int) -> list[int]:
    rounds, taken = PLACES["wine"].rounds(n_rounds, 0), []
    learner = _Learner(settings, rounds, seed=7)
    for row in range(n_rounds):
        here = slice(row, row + 1)
        action = learner.decide(rounds.X[here])
        learner.learn(rounds.X[here], action, rounds.rewards[here, action[0]])
        taken.append(int(action[0]))
    return taken


def test_actions_take_turns_first_or_are_drawn() -> None:
    rng = np.random.default_rng(7)
    assert actions_of(TextbookLinUCB(0.3), 10)[:3] == [0, 1, 2]
    assert actions_of(TextbookLinUCB(0.3, n_uniform=40), 40) == [int(rng.integers(3)) for _ in range(40)]
