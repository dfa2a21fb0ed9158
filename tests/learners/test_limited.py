"""Limited: any learner within limits, in simulations and under other actions, and what is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.epochs import action_probabilities, decide
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import UniformPolicy
from gyrfalcon.core.policies.limited import FixedAction, LimitedPolicy
from gyrfalcon.core.records import CONTROL, Log
from gyrfalcon.core.schedules import Doubling, FixedBatch
from gyrfalcon.environments import LinearEnvironment, StepExample
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.baselines.epsilon_greedy import EpsilonGreedy
from gyrfalcon.learners.baselines.greedy import Greedy
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.exploration_settings import differ_in_exploration_alone
from gyrfalcon.learners.limited import Limited, taken_over
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.resolved_settings import resolved
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.sweeps.build import build_learner
from tests.contracts.environments import Lines, started, uniform_log
from tests.contracts.throwaway import Master

LEARNERS: list[Learner] = [AdaptiveFalcon(), EpsilonFalcon(), LinUCB(), Greedy()]
RED = Problem(["red", "blue", "green"], features=2)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("masked", [True, False])
def test_limits_hold_in_every_decision_of_a_run(learner: Learner, masked: bool) -> None:
    limited = Limited(
        learner, floor=0.03, control=("action 1", 0.1), shares={"action 0": (0.05, 0.4), "action 2": (0, 0.7)}
    )
    play = started(limited, Lines(masked=masked)).until(600)
    least = min(float(one.propensity.min()) for one in play.decisions)
    assert least >= 0.03 - 1e-15
    contexts = play.environment.draw(0, 200, seed=3).contexts
    rounds = np.arange(play.epoch.stop - 150, play.epoch.stop + 50)
    shares = action_probabilities(play.epoch, rounds, contexts)
    mask = np.ones_like(shares, dtype=np.bool_) if contexts.eligible is None else contexts.eligible
    low, high = np.array([0.05, 0.1, 0.03]), np.array([0.4, 1.0, 0.7])
    assert (shares >= np.where(mask, low, 0.0) - 1e-14).all()
    room = np.maximum(1.0, 1.0 / (mask * high).sum(axis=1, keepdims=True))
    assert (shares <= room * high + 1e-14).all()


def test_a_learner_within_its_limits_decides_as_it_does_alone() -> None:
    environment = StepExample()
    for learner in LEARNERS:
        alone, limited = (simulate(one, environment, 800, seed=3) for one in (learner, Limited(learner)))
        assert np.array_equal(alone.regret, limited.regret)
        assert np.array_equal(alone.propensity, limited.propensity)


def test_traffic_is_within_its_shares_and_the_control_has_its_own() -> None:
    """Counts of 4,000 decisions, by their expectations within four standard errors."""
    learner = Limited(Greedy(), floor=0.02, control=("action 0", 0.15), shares={"action 2": (0.1, 0.3)})
    play = started(learner, Lines()).until(4000)
    action, component = (
        np.concatenate([getattr(one, name) for one in play.decisions]) for name in ("action", "component")
    )
    error = 4 * math.sqrt(0.25 / len(action))
    assert abs((component == CONTROL).mean() - 0.15) < error
    assert (action[component == CONTROL] == 0).all()
    assert 0.1 - error < (action == 2).mean() < 0.3 + error
    assert (action == 0).mean() > 0.15 - error


def test_a_floor_decays_from_epoch_to_epoch() -> None:
    learner = Limited(Greedy(schedule=Doubling(100)), floor=0.2, decay=0.5)
    epoch = learner.start(StepExample().problem)
    floors = []
    for _ in range(4):
        assert isinstance(epoch.policy, LimitedPolicy)
        floors.append(epoch.policy.floor)
        epoch = learner.next_epoch(epoch, uniform_log(Lines(n_actions=2, n_features=1), 50))
    assert floors == [0.2, *(0.2 / math.sqrt(round_ + 1) for round_ in (100, 200, 400))]


def test_a_decaying_floor_holds_in_every_round() -> None:
    trace = simulate(
        Limited(Greedy(), floor=0.4, decay=0.3), StepExample(), 5000, seed=2, checkpoints="every"
    )
    assert (trace.least_propensity[0] >= 0.4 * trace.checkpoints**-0.3 * (1.0 - 1e-12)).all()


def test_the_floor_of_adaptive_falcon_is_a_share_so_that_propensities_are_at_least_a_kth_of_it() -> None:
    learner = AdaptiveFalcon(floor=0.05)
    trace = simulate(learner, LinearEnvironment(n_actions=5), 100_000, seed=1)
    assert trace.least_propensity.min() >= 0.05 / 5 * (1.0 - 1e-12)
    # A decision of an action that is clearly worse has just that.
    assert trace.least_propensity.min() < 0.05 / 5 * 1.01


def test_long_epochs_are_summed_as_the_learner_sums_them() -> None:
    learner = EpsilonFalcon(schedule=Doubling(6000))
    alone, limited = (
        simulate(one, StepExample(), 20_000, seed=3) for one in (learner, Limited(learner, floor=0.0))
    )
    assert np.array_equal(alone.regret, limited.regret)


def test_replications_are_the_same_one_by_one() -> None:
    learner = Limited(LinUCB(schedule=FixedBatch(100)), floor=0.05)
    together = simulate(learner, StepExample(), 600, 3, seed=1)
    for number in range(3):
        alone = simulate(learner, StepExample(), 600, 1, seed=1, first_replication=number)
        assert np.array_equal(alone.regret[0], together.regret[number])


def test_actions_come_and_go_with_their_limits() -> None:
    learner = Limited(EpsilonGreedy(), floor=0.05, shares={"red": (0.2, 0.5), "blue": (0.0, 0.3)})
    epoch = learner.start(RED)
    changed = learner.adapt(epoch, replace(RED, actions=("green", "red", "new")))
    assert isinstance(changed.policy, LimitedPolicy)
    assert changed.policy.least.tolist() == [0.05, 0.2, 0.05]
    assert changed.policy.high.tolist() == [1.0, 0.5, 1.0]
    with pytest.raises(
        ValueError, match=re.escape("floor is 0.05 for each of 21 actions, which sum to 1.05")
    ):
        learner.adapt(epoch, Problem(["red", *range(20)], features=2))


def test_a_control_stays_while_it_is_one() -> None:
    learner = Limited(EpsilonGreedy(), control=("red", 0.1))
    epoch = learner.start(RED)
    with pytest.raises(ValueError, match="action 'red' is the control of the learner; change the learner"):
        learner.adapt(epoch, replace(RED, actions=("blue", "green")))
    moved = learner.adapt(epoch, replace(RED, actions=("blue", "red")))
    assert isinstance(moved.policy, LimitedPolicy)
    assert moved.policy.control == FixedAction(1, 2)
    by_policy = Limited(EpsilonGreedy(), control=(UniformPolicy(3), 0.1))
    with pytest.raises(ValueError, match="the control is a policy of 3 actions, and there would be 2"):
        by_policy.adapt(by_policy.start(RED), replace(RED, actions=("red", "green")))


def test_another_learner_goes_on_from_the_fits_with_its_own_limits() -> None:
    plain, limited = EpsilonGreedy(epsilon=0.0), Limited(EpsilonGreedy(epsilon=0.0), floor=0.1)
    assert differ_in_exploration_alone(plain, limited)
    assert differ_in_exploration_alone(limited, replace(limited, floor=0.2))
    assert not differ_in_exploration_alone(limited, Limited(EpsilonGreedy(data="last_epoch"), floor=0.1))
    problem = Lines().problem
    epoch = plain.next_epoch(plain.start(problem), uniform_log(Lines(), 100))
    wrapped = taken_over(limited, epoch, problem)
    assert isinstance(wrapped.policy, LimitedPolicy)
    assert wrapped.policy.floor == 0.1
    assert wrapped.state is epoch.state
    assert taken_over(plain, wrapped, problem) == epoch


def test_settings_of_the_learner_inside_are_resolved() -> None:
    inside = resolved(Limited(EpsilonFalcon()), RED)
    assert isinstance(inside, Limited)
    assert inside.learner == resolved(EpsilonFalcon(), RED)


def test_plain_settings_describe_one() -> None:
    settings = {
        "name": "limited",
        "learner": {"name": "EpsilonGreedy", "epsilon": 0.0},
        "control": ["red", 0.1],
        "shares": [["blue", 0.0, 0.4]],
        "floor": 0.05,
    }
    assert build_learner(settings) == Limited(
        EpsilonGreedy(epsilon=0.0), control=("red", 0.1), shares={"blue": (0, 0.4)}, floor=0.05
    )


@given(st.floats(0.0, 0.33), st.sampled_from([0.0, 0.1, 0.25]))
def test_inverse_weights_of_a_floor_are_bounded(floor: float, share: float) -> None:
    learner = Limited(Greedy(), floor=floor, control=("action 0", share))
    play = started(learner, Lines()).until(200)
    contexts = play.environment.draw(0, 100, seed=3).contexts
    rounds, uniforms = np.arange(100) + play.epoch.start, np.random.default_rng(1).random((100, 3))
    assert (decide(play.epoch, rounds, contexts, uniforms).propensity >= floor - 1e-14).all()


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: Limited(Greedy(), floor=1.5), "floor is 1.5; give a number from 0 to 1."),
    (lambda: Limited(Greedy(), floor=0.1, decay=-1), "decay is -1; give a finite number of at least 0."),
    (lambda: Limited(Greedy), "learner is <class"),  # type: ignore[arg-type]
    (lambda: Limited(AdaptiveFalcon(safe=True)), "learner has safe=True"),
    (lambda: Limited(control="red"), "control is 'red'; give a label or a policy and its share"),  # type: ignore[arg-type]
    (lambda: Limited(control=("red", 1.2)), "the share of the control is 1.2; give a number from 0 to 1."),
    (lambda: Limited(shares=3), "shares are 3; give least and largest probabilities by label"),  # type: ignore[arg-type]
    (lambda: Limited(shares={"red": 0.5}), "the limits of 'red' are 0.5; give least and largest share"),  # type: ignore[dict-item]
    (lambda: Limited(shares=[("red", 0.5)]), "a row of shares is ('red', 0.5); give label"),  # type: ignore[list-item]
    (lambda: Limited(shares={"red": (0.5, 0.2)}), "the least share of 'red' is 0.5, which is more than its"),
    (lambda: Limited(shares={"red": (0.5, 2)}), "the largest share of 'red' is 2; give a number from 0 to 1"),
    (lambda: Limited(shares=[("red", 0, 1), ("red", 0, 1)]), "shares have 'red' more than once"),
    (lambda: Limited(shares={"red": (0.6, 1), "blue": (0.5, 1)}), "the least shares sum to 1.1;"),
    (
        lambda: Limited(control=("red", 0.3), shares={"red": (0, 0.2)}),
        "the control 'red' has the share 0.3, which is more than its largest one, 0.2",
    ),
    (
        lambda: Limited(control=("red", 0.5), shares={"blue": (0.6, 1)}),
        "control and least shares sum to 1.1; they must leave a sum of 1 possible.",
    ),
    (
        lambda: Limited(control=("rad", 0.1)).start(RED),
        "control: there is no action 'rad'; did you mean 'red'",
    ),
    (lambda: Limited(shares={"x": (0, 0.5)}).start(RED), "shares: there is no action 'x'; known are 'red'"),
    (
        lambda: Limited(floor=0.4).start(RED),
        "floor is 0.4 for each of 3 actions, which sum to 1.2; give at most",
    ),
    (
        lambda: Limited(floor=0.3, control=("red", 0.6)).start(RED),
        "floor, control and least shares sum to 1.2 over 3 actions",
    ),
    (
        lambda: Limited(shares=dict.fromkeys(RED.actions, (0, 0.3))).start(RED),
        "the largest shares sum to 0.9 over all 3 actions; raise some to reach 1.",
    ),
]


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_limits_that_nothing_can_meet_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


def test_a_mixture_of_bases_is_refused() -> None:
    with pytest.raises(TypeError, match="limit the learners of its bases instead"):
        Limited(Master()).start(Lines().problem)


def test_an_epoch_of_another_learner_is_refused() -> None:
    learner = Limited(Greedy(), floor=0.1)
    with pytest.raises(TypeError, match="epoch 1 has no limits; give the learner its own epochs"):
        learner.next_epoch(Greedy().start(RED), uniform_log(Lines(), 1).where(np.zeros(1, dtype=np.bool_)))


def test_rows_of_the_control_are_no_passive_ones() -> None:
    play = started(Limited(EpsilonFalcon(), control=("action 0", 0.5)), Lines())
    log: Log = play.decide()
    assert not log.passive[log.component == CONTROL].any()
    assert (log.component == CONTROL).any()
