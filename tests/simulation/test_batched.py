"""Replications together have the very traces that each has alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.schedules import Doubling, FixedBatch
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.synthetic.action_features import EligibilityEnvironment
from gyrfalcon.environments.synthetic.families import LinearEnvironment
from gyrfalcon.learners.baselines.epsilon_greedy import EpsilonGreedy
from gyrfalcon.learners.baselines.greedy import Greedy
from gyrfalcon.learners.baselines.softmax import Softmax
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.optimistic.enlarged_linucb import EnlargedLinUCB
from gyrfalcon.learners.optimistic.lints import LinTS
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.optimistic.oful import OFUL
from gyrfalcon.learners.optimistic.regcb import RegCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.squarecb import SquareCB
from gyrfalcon.oracles.features.bases import Polynomial
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.simulation.batched import Batch, ReplicationState, how_many_together
from gyrfalcon.simulation.engine import Run
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.simulation.trace import Trace
from tests.contracts.environments import Lines
from tests.contracts.test_learner_contract import identical
from tests.long_run import spread

BATCHES = FixedBatch(50)
MARCHING: dict[str, Learner] = {
    "LinUCB": LinUCB(schedule=BATCHES, mixing=0.1),
    "LinUCB, raw features": LinUCB(schedule=BATCHES, model_class=Linear(standardise=False)),
    "enlarged LinUCB": EnlargedLinUCB(schedule=BATCHES),
    "LinTS": LinTS(schedule=BATCHES),
    "LinTS, theory": LinTS(schedule=BATCHES, scale="theory"),
    "RegCB": RegCB(schedule=BATCHES),
    "RegCB, optimistic": RegCB(schedule=BATCHES, rule="optimistic"),
    "SquareCB": SquareCB(schedule=BATCHES),
    "SquareCB, log barrier": SquareCB(schedule=BATCHES, weighting="log_barrier", gamma="regret"),
    "epsilon-greedy": EpsilonGreedy(schedule=BATCHES, decay=0.3),
    "greedy": Greedy(schedule=BATCHES),
    "softmax": Softmax(schedule=BATCHES, model_class=Linear(ridge=1.0)),
    "FALCON": Falcon(schedule=BATCHES, data="all"),
}
ENVIRONMENTS: dict[str, Any] = {
    "Section 1.1": StepExample(),
    "more coefficients than a batch has rows": LinearEnvironment(n_actions=6, n_features=12),
    "no features": Lines(n_features=0),
    "means that dwarf the range": Lines(origin=1e7),
    "wide scales": Lines(scale=1e5),
    "constant rewards": Lines(constant=True),
    "an action comes later": Lines(last_action_from=220),
    "eligible actions": EligibilityEnvironment(environment=StepExample(), share=0.7),
    "action features": Lines(n_action_features=2),
}


def alone(learner: Learner, environment: Any, n_rounds: int, n: int, seed: int = 0, first: int = 0) -> Trace:
    """The replications one by one."""
    return Trace.concat(
        [
            simulate(
                learner, environment, n_rounds, 1, seed, first_replication=first + number, keep_policies=True
            )
            for number in range(n)
        ]
    )


def assert_same(one: Trace, other: Trace) -> None:
    for name in ("checkpoints", "regret", "reward", "propensity", "least_propensity"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for mine, theirs in zip(one.epochs, other.epochs, strict=True):
        assert identical(mine, theirs)


@pytest.mark.invariance
@pytest.mark.parametrize(("learner", "environment"), spread(MARCHING, ENVIRONMENTS, every=4))
def test_together_is_alone_to_the_bit(learner: str, environment: str) -> None:
    together = simulate(MARCHING[learner], ENVIRONMENTS[environment], 500, 4, keep_policies=True)
    assert_same(together, alone(MARCHING[learner], ENVIRONMENTS[environment], 500, 4))


def test_it_is_so_across_chunks_of_rounds() -> None:
    together = simulate(LinUCB(), StepExample(), 17_000, 3, seed=5, keep_policies=True)
    assert_same(together, alone(LinUCB(), StepExample(), 17_000, 3, seed=5))


@pytest.mark.invariance
def test_it_does_not_matter_who_marches_with_whom() -> None:
    environment, learner = LinearEnvironment(n_actions=5, n_features=9), SquareCB(schedule=BATCHES)
    all_of_them = simulate(learner, environment, 600, 7, keep_policies=True)
    parts = [
        simulate(learner, environment, 600, count, first_replication=first, keep_policies=True)
        for first, count in ((0, 2), (2, 4), (6, 1))
    ]
    assert_same(all_of_them, Trace.concat(parts))


@pytest.mark.invariance
@given(
    n_actions=st.integers(2, 5),
    n_features=st.integers(1, 6),
    size=st.integers(3, 80),
    n_rounds=st.integers(1, 300),
    seed=st.integers(0, 2**32),
    learner=st.sampled_from([LinUCB, SquareCB, EpsilonGreedy, LinTS]),
)
def test_whatever_the_sizes(
    n_actions: int, n_features: int, size: int, n_rounds: int, seed: int, learner: Any
) -> None:
    environment = LinearEnvironment(n_actions=n_actions, n_features=n_features)
    playing = learner(schedule=FixedBatch(size))
    together = simulate(playing, environment, n_rounds, 3, seed, keep_policies=True)
    assert_same(together, alone(playing, environment, n_rounds, 3, seed))


@pytest.mark.parametrize(
    "learner",
    [
        LinUCB(schedule=Doubling(100)),
        LinUCB(schedule=FixedBatch(5000)),
        SquareCB(model_class=Linear(basis=Polynomial(degree=2))),
        Falcon(schedule=BATCHES),
        OFUL(),
    ],
)
def test_learners_that_cannot_march_are_played_alone(learner: Learner) -> None:
    environment = StepExample()
    assert how_many_together(Run(learner, environment, environment.problem, 1000, 0)) == 1
    assert_same(
        simulate(learner, environment, 300, 2, keep_policies=True), alone(learner, environment, 300, 2)
    )


def test_replications_join_leave_and_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[tuple[int, int]] = []
    advanced = ReplicationState.advanced

    def watched(self: ReplicationState, batch: Batch) -> ReplicationState:
        state = advanced(self, batch)
        sizes.append((len(state.members), len(state.alone)))
        return state

    monkeypatch.setattr(ReplicationState, "advanced", watched)
    simulate(LinUCB(schedule=BATCHES), StepExample(), 500, 4)
    assert sizes == [(4, 0)] * 9
    sizes.clear()
    # Two batches hold fewer rows than coefficients: everybody is alone at first, and some join before others.
    simulate(SquareCB(schedule=BATCHES), LinearEnvironment(n_actions=6, n_features=12), 2000, 4)
    assert sizes[0] == (0, 4)
    assert sizes[-1] == (4, 0)
    assert any(0 < together < 4 for together, _ in sizes)


def test_those_that_can_do_march() -> None:
    for learner in MARCHING.values():
        environment = StepExample()
        assert how_many_together(Run(learner, environment, environment.problem, 1000, 0)) > 100
