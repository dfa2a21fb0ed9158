"""A bandit needs its actions and nothing else, and says in one line what it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gyrfalcon import AdaptiveFalcon, Bandit, EpsilonFalcon, LinUCB
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.learners.baselines.uniform import Uniform
from gyrfalcon.simulation.replications import simulate
from tests.bandit.helpers import batches, refused


def test_actions_alone_make_a_bandit() -> None:
    decision = Bandit(["a", "b"]).decide()
    assert decision.action in {"a", "b"}
    assert decision.propensity == 0.5


def test_a_problem_may_take_the_place_of_the_actions() -> None:
    assert Bandit(problem=Problem(["a", "b"], features=1)).problem.features.names == ("x0",)


def test_all_but_the_actions_is_given_by_name() -> None:
    with pytest.raises(TypeError, match="positional"):
        Bandit(["a", "b"], batches())  # type: ignore[call-arg]


def test_a_learner_in_place_of_the_actions_is_refused() -> None:
    with pytest.raises(ValueError, match="actions are EpsilonGreedy"):
        Bandit(batches())  # type: ignore[arg-type]


def test_an_empty_event_id_is_refused() -> None:
    bandit = Bandit(["a", "b"], learner=batches(), features=1, seed=1)
    with refused(bandit, "event id '' is empty"):
        bandit.decide([0.5], event_id="")
    with refused(bandit, "event id '' is empty"):
        bandit.decide_many([[0.5], [0.1]], event_ids=["visit", ""])


def test_reprs_say_what_matters_in_one_line() -> None:
    bandit = Bandit(["a", "b"], learner=batches(4), features=1, seed=1)
    batch = bandit.decide_many(np.linspace(0.0, 1.0, 6)[:, None])
    bandit.reward_many(dict.fromkeys(batch.event_id[:5], 1.0))
    assert repr(bandit) == "Bandit(actions='a', 'b'; EpsilonGreedy, epoch 2, 6 decided, 1 pending)"
    assert repr(batch) == "DecisionBatch(6 decisions, epoch 1, rounds 0 to 5)"
    assert repr(batch[0]).startswith("Decision(action='")
    assert repr(bandit.epoch) == "Epoch(index=2, start=6, stop=10, KernelPolicy)"
    contexts = bandit.problem.contexts([[0.5], [0.7]], eligible=[["a"], ["a", "b"]])
    assert repr(contexts) == "Contexts(2 rows, 1 features, 75% eligible)"
    log = bandit.problem.log(contexts, ["a", "b"], [1, 0], rounds=[3, 5], propensities="uniform")
    assert repr(log) == "Log(2 rows, 1 features, rounds 3 to 5, mean reward 0.5, 100% passive)"
    assert repr(log.take(slice(0, 0))) == "Log(0 rows)"
    trace = simulate(Uniform(), StepExample(), 100, checkpoints=[50])
    assert repr(trace).startswith("Trace(1 replication of 100 rounds, 2 checkpoints, mean regret ")
    assert repr(trace.epochs[0][-1]) == "PlayedEpoch(index=1, start=0, stop=100)"


@pytest.mark.parametrize("n_actions", [2, 200])
def test_a_bandit_of_many_actions_and_rows_still_has_a_short_repr(n_actions: int) -> None:
    bandit = Bandit(range(n_actions), learner=Uniform(), features=30, seed=1)
    batch = bandit.decide_many(np.ones((500, 30)))
    log: Log = bandit.problem.log(
        bandit.problem.contexts(np.ones((500, 30))), batch.action, np.ones(500), propensities="uniform"
    )
    for value in (bandit, batch, batch[0], log, bandit.epoch):
        assert len(repr(value)) < 130
        assert "\n" not in repr(value)


@pytest.mark.parametrize(
    "settings", [{"reward_range": None}, {"reward_range": (0, 1000)}, {"cost": True, "reward_range": None}]
)
@pytest.mark.parametrize(
    "learner", [AdaptiveFalcon(), AdaptiveFalcon(classes="linear"), LinUCB(), EpsilonFalcon(tau_1=50)]
)
def test_estimates_of_an_explanation_are_rewards_in_any_unit(learner: Any, settings: Any) -> None:
    bandit = Bandit(["a", "b"], learner=learner, features=["x"], seed=1, **settings)
    rng = np.random.default_rng(0)
    for _ in range(220):
        decision = bandit.decide([rng.normal()])
        bandit.reward(decision.event_id, 100.0 + 10.0 * (decision.action == "a") + rng.normal())
    estimates = {one.label: one.estimate for one in bandit.explain([0.0]).actions}
    # The ridge draws an action that is seldom chosen towards the mean.
    assert estimates == pytest.approx({"a": 110.0, "b": 100.0}, abs=3.0)
