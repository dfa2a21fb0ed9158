"""Logged decisions as a log to learn from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gyrfalcon import Bandit
from gyrfalcon.bandit import read_decision_log
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.optimistic.linucb import LinUCB
from tests.bandit.helpers import Recorder
from tests.logs.helpers import played


def test_rows_are_those_that_the_bandit_has_fitted(tmp_path: Path) -> None:
    learner = Recorder(40)
    bandit = Bandit(
        ["a", "b"],
        learner=learner,
        features=["x"],
        action_features=["p"],
        seed=1,
        log=tmp_path,
        cost=True,
        reward_range=(0, 10),
    )
    rng = np.random.default_rng(1)
    for _ in range(40):
        mask = ["a"] if rng.random() < 0.3 else ["a", "b"]
        decision = bandit.decide([rng.random()], actions={"a": [1.0], "b": [rng.random()]}, eligible=mask)
        bandit.reward(decision.event_id, float(rng.random() * 10))
    (fitted,) = learner.logs
    log = read_decision_log(tmp_path).to_log(bandit.problem)
    for name in ("action", "reward", "propensity"):
        assert np.array_equal(getattr(log, name), getattr(fitted, name)), name
    assert np.array_equal(log.passive, fitted.passive)
    assert np.array_equal(log.contexts.shared, fitted.contexts.shared)
    assert log.contexts.eligible is not None
    assert fitted.contexts.eligible is not None
    assert np.array_equal(log.contexts.eligible, fitted.contexts.eligible)
    rows = log.contexts.eligible
    assert log.contexts.actions is not None
    assert fitted.contexts.actions is not None
    assert np.array_equal(log.contexts.actions[rows], fitted.contexts.actions[rows])


def test_another_bandit_learns_from_it_and_open_or_withdrawn_decisions_are_left_out(tmp_path: Path) -> None:
    bandit = played(tmp_path, 120)
    logged = read_decision_log(tmp_path)
    log = logged.to_log(bandit.problem)
    assert len(log) == sum(row["outcome"] == "final" for row in logged.rows) < 120
    other = Bandit(["b", "c", "a"], learner=LinUCB(schedule=FixedBatch(40)), features=2, seed=2)
    other.update(log)
    assert (other.status().round, other.epoch.index) == (len(log), 2)


def test_actions_that_are_gone_are_left_out_and_other_features_refused(tmp_path: Path) -> None:
    bandit = played(tmp_path, 60)
    logged = read_decision_log(tmp_path)
    fewer = logged.to_log(Problem(["c", "a"], bandit.problem.features))
    counts = [sum(row["action"] == one and row["outcome"] == "final" for row in logged.rows) for one in "ca"]
    assert np.bincount(fewer.action, minlength=2).tolist() == counts
    with pytest.raises(ValueError, match="has the features 'x0', 'x1', and the problem 'y'"):
        logged.to_log(Problem(["a", "b", "c"], ["y"]))
