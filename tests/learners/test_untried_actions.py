"""Actions without data are tried beside the others, and never instead of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gyrfalcon import Bandit, simulate
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, decide
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.untried import without_trying
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.optimistic.enlarged_linucb import EnlargedLinUCB
from gyrfalcon.learners.optimistic.lints import LinTS
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.optimistic.oful import OFUL
from gyrfalcon.learners.optimistic.regcb import RegCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.oracles.linear.linear import Linear
from tests.bandit.helpers import Clock
from tests.contracts.environments import Lines, started, uniform_log

LEARNERS: dict[str, Learner] = {
    "adaptive": AdaptiveFalcon(passive_data="all"),
    "adaptive quadratic": AdaptiveFalcon(classes=["quadratic"]),
    "linucb": LinUCB(),
    "linucb mixing": LinUCB(mixing=0.1),
    "enlarged": EnlargedLinUCB(),
    "oful": OFUL(),
    "regcb": RegCB(),
    "regcb optimistic": RegCB(rule="optimistic"),
    "lints": LinTS(),
    "lints hybrid": LinTS(model_class=Linear(layout="hybrid"), n_draws=50),
}
every_learner = pytest.mark.parametrize("name", LEARNERS)


def adapted(name: str) -> tuple[Epoch, Epoch, Contexts]:
    """An epoch before and after two actions were added to three, and contexts for all five."""
    environment = Lines(n_action_features=2 if name == "lints hybrid" else 0)
    play = started(LEARNERS[name], environment)
    play.learn(uniform_log(environment, 300))
    before = environment.problem
    problem = replace(before, actions=(*before.actions, "new", "newer"))
    given = environment.draw(0, 40, seed=3).contexts
    cube = None if given.actions is None else np.concatenate([given.actions, given.actions[:, :2]], axis=1)
    return play.epoch, LEARNERS[name].adapt(play.epoch, problem), Contexts(given.shared, cube)


@every_learner
def test_new_actions_have_one_share_each_and_the_others_the_rest(name: str) -> None:
    before, after, contexts = adapted(name)
    p = after.policy.probabilities(contexts)
    assert (p[:, 3:] == 0.2).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-14)
    cube = None if contexts.actions is None else contexts.actions[:, :3]
    as_before = before.policy.probabilities(Contexts(contexts.shared, cube))
    np.testing.assert_allclose(p[:, :3], 0.6 * as_before, rtol=1e-9, atol=1e-12)


@every_learner
def test_shares_follow_the_eligible_actions_of_a_row(name: str) -> None:
    _, after, contexts = adapted(name)
    mask = np.random.default_rng(2).random((len(contexts), 5)) < 0.6
    mask[:, 0] |= ~mask.any(axis=1)
    p = after.policy.probabilities(Contexts(contexts.shared, contexts.actions, mask))
    assert (p[~mask] == 0.0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-14)
    counts = np.broadcast_to(mask.sum(axis=1, keepdims=True), mask.shape)
    new = mask & (np.arange(5) >= 3)
    assert np.array_equal(p[new], 1.0 / counts[new])


@every_learner
def test_a_row_has_the_same_bits_alone_and_in_a_batch(name: str) -> None:
    _, after, contexts = adapted(name)
    uniforms, rounds = np.random.default_rng(5).random((40, 3)), np.arange(after.start, after.start + 40)
    together = decide(after, rounds, contexts, uniforms)
    for row in range(40):
        alone = decide(after, rounds[[row]], contexts.take(slice(row, row + 1)), uniforms[[row]])
        assert alone.action[0] == together.action[row]
        assert alone.propensity[0] == together.propensity[row]


@every_learner
def test_a_second_change_of_actions_and_a_refit_leave_no_layers(name: str) -> None:
    before, after, _ = adapted(name)
    learner, n_own = LEARNERS[name], 2 if name == "lints hybrid" else 0
    environment = Lines(n_actions=5, n_action_features=n_own)
    known = Lines(n_action_features=n_own).problem.actions
    assert without_trying(before.policy) is before.policy
    problem = Problem(
        [*known, "new", "newest"],
        environment.problem.features,
        environment.problem.action_features,
        out_of_range="accept",
    )
    twice = learner.adapt(after, problem)
    inner = without_trying(twice.policy)
    assert without_trying(inner) is inner
    log = uniform_log(environment, 300)
    fitted = learner.next_epoch(twice, log)
    assert without_trying(fitted.policy) is fitted.policy  # all actions have rows


@pytest.mark.parametrize("learner", [None, LinUCB(), LinTS(), RegCB()], ids=repr)
def test_a_new_banner_does_not_freeze_out_the_others_until_its_first_rows_are_final(
    learner: Learner | None,
) -> None:
    """Before, the default learner and LinUCB showed it to 0.99 of the visitors for ten minutes."""
    clock, rng = Clock(0.0), np.random.default_rng(4)
    rates = {"a": 0.1, "b": 0.3, "c": 0.2, "new": 0.02}
    bandit = Bandit(
        list("abc"),
        learner=learner,
        features=1,
        seed=4,
        reward_timeout=600.0,
        default_reward=0.0,
        clock=clock,
    )
    shown = []
    for visit in range(2600):
        clock.now = float(visit)
        if visit == 2000:
            bandit.add_actions(["new"])
        decision = bandit.decide(rng.normal(size=1))
        shown.append(decision.action == "new")
        assert decision.action != "new" or decision.propensity <= 0.25 + 0.03
        if rng.random() < rates[str(decision.action)]:
            bandit.reward(decision.event_id, 1.0)
    # 600 trials with probability 0.25: five deviations are 0.09.
    assert 0.16 < np.mean(shown[2000:]) < 0.34


@pytest.mark.parametrize(
    "learner",
    [
        LinUCB(schedule=FixedBatch(500)),
        RegCB(schedule=FixedBatch(500), rule="optimistic"),
        LinTS(schedule=FixedBatch(500)),
        AdaptiveFalcon(classes="linear", schedule=FixedBatch(500)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_all_of_many_actions_are_tried_within_a_few_epochs(learner: Learner) -> None:
    """Before, LinUCB tried one more action in each epoch: 157 of 200 after 142 epochs."""
    play = started(learner, Lines(n_actions=200), seed=1)
    play.until(2500)
    tried = {action for one in play.decisions for action in one.action.tolist()}
    assert len(play.decisions) <= 6
    # Each action stays untried with probability 0.995^2500, all are tried but for once in 1,400 seeds.
    assert len(tried) == 200


def test_a_simulation_of_many_actions_tries_them_all() -> None:
    learner = LinUCB(schedule=FixedBatch(500))
    trace = simulate(learner, Lines(n_actions=200), 4000, n_replications=3, seed=1, keep_policies=True)
    for replication in trace.epochs:
        first, last = replication[1].policy, replication[-1].policy
        assert first is not None
        assert last is not None
        assert without_trying(first) is not first
        assert without_trying(last) is last  # all actions have rows
