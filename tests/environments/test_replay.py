"""Replay of logs: rounds that count are distributed as in live play, and counted as one by one."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import PassiveDesign, decide_one
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Decisions, Log
from gyrfalcon.environments.data.logged_replay import LoggedReplay
from gyrfalcon.environments.delayed import Delayed
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.protocol import Environment
from gyrfalcon.environments.synthetic.action_features import ActionFeatureEnvironment, EligibilityEnvironment
from gyrfalcon.environments.synthetic.families import LinearEnvironment
from gyrfalcon.learners.baselines.epsilon_greedy import EpsilonGreedy
from gyrfalcon.learners.baselines.uniform import Uniform
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.simulation.logged import uniforms_of_rows
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.simulation.trace import Summary
from tests.long_run import spread

STEP = StepExample()
TAIL: Learner = EpsilonFalcon(epsilon=0.1, passive_design=PassiveDesign.TAIL)
COIN: Learner = EpsilonFalcon(epsilon=0.1, passive_design=PassiveDesign.COIN)
LEARNERS: dict[str, Learner] = {
    "uniform": Uniform(),
    "tail": TAIL,
    "coin": COIN,
    "linucb": LinUCB(),
    "greedy": EpsilonGreedy(),
}


def logged(environment: Environment, n: int, seed: int, tilt: float = 0.0, **options: Any) -> LoggedReplay:
    """A log of n rounds: uniform play, or with a tilt, which depends on the context."""
    drawn, problem = environment.draw(0, n, seed), environment.problem
    weights = np.exp(tilt * (np.arange(problem.n_actions) % 2) * np.sign(drawn.contexts.shared[:, :1] - 0.5))
    if drawn.contexts.eligible is not None:
        weights = weights * drawn.contexts.eligible
    shares = weights / weights.sum(axis=1, keepdims=True)
    uniforms = np.random.default_rng([seed, 9]).random((n, 1))
    action = np.minimum((shares.cumsum(axis=1) <= uniforms).sum(axis=1), shares.shape[1] - 1)
    rows = np.arange(n), action
    labels = [problem.actions[index] for index in action.tolist()]
    return LoggedReplay(problem, drawn.contexts, labels, drawn.rewards[rows], shares[rows], **options)


# As in live play.


def rewards_of_replays(learner: Learner, n_rounds: int, n_logs: int, **options: Any) -> Floats:
    """The reward a round of a learner on several logs of Section 1.1, one replay each."""
    n_rows = int(n_rounds * (2.4 if options.get("tilt", 0.0) == 0.0 else 6.0))
    traces = (
        simulate(learner, logged(STEP, n_rows, 1_000 + seed, **options), n_rounds, seed=seed)
        for seed in range(n_logs)
    )
    return np.array([trace.reward[0, -1] / n_rounds for trace in traces])


def apart(learner: Learner, **options: Any) -> float:
    """How many standard errors lie between live play and replay."""
    live = Summary.of(simulate(learner, STEP, 600, 40, checkpoints=1).reward[:, -1] / 600)
    logs = Summary.of(rewards_of_replays(learner, 600, 40, **options))
    return (logs.mean - live.mean) / float(np.hypot(logs.standard_error, live.standard_error))


@pytest.mark.parametrize(("name", "tilt"), spread(["uniform", "tail", "coin", "linucb"], [0.0, 1.2], every=2))
def test_a_learner_earns_as_much_as_in_live_play(name: str, tilt: float) -> None:
    # Five standard errors for eight comparisons: wrong for one in 218,000 sets of seeds. A standard error is
    # about .002, so that a bias of .01 would be seen.
    assert abs(apart(LEARNERS[name], tilt=tilt)) < 5


def test_without_the_correction_replay_of_a_tilted_log_would_be_off() -> None:
    # A min_propensity of 1 makes every match count.
    assert abs(apart(Uniform(), tilt=1.2, min_propensity=1.0)) > 20
    assert abs(apart(TAIL, tilt=1.2, min_propensity=1.0)) > 10


def test_rows_count_with_the_same_probability_whatever_their_context() -> None:
    log = logged(STEP, 60_000, 3, tilt=1.2)
    matches = np.random.default_rng(0).integers(2, size=log.n_rows) == log.log.action[log.rows(0)]
    counts = matches & log.admitted(0)
    right = log.log.contexts.shared[log.rows(0), 0] > 0.5
    min_propensity = log.log.propensity.min()
    # Two shares, five standard errors: wrong for one in 870,000 seeds.
    for half in (right, ~right):
        assert abs(counts[half].mean() - min_propensity) < 5 * np.sqrt(
            min_propensity * (1 - min_propensity) / half.sum()
        )
    assert log.expected_rounds == pytest.approx(60_000 * min_propensity)


# As one by one.


def one_by_one(learner: Learner, replay: LoggedReplay, n_rounds: int, seed: int) -> tuple[Floats, Floats]:
    """Reward and propensity of every round, by a loop over single rows."""
    log, order, admitted = replay.log, replay.rows(seed), replay.admitted(seed)
    uniforms = uniforms_of_rows(seed, 0, replay.n_rows)
    epoch = learner.start(replay.problem)
    kept: list[Log] = []
    rewards: list[float] = []
    propensities: list[float] = []
    for place, row in enumerate(order.tolist()):
        contexts = log.contexts.take(slice(row, row + 1))
        action, propensity, component = decide_one(epoch, len(rewards), contexts, uniforms[place].tolist())
        if action != log.action[row] or not admitted[place]:
            continue
        ints: list[Ints] = [np.array([value]) for value in (epoch.index, len(rewards), action, component)]
        decision = Decisions(ints[0], ints[1], ints[2], np.array([propensity]), ints[3])
        kept.append(Log.of(contexts, decision, log.reward[row : row + 1]))
        rewards.append(float(replay.own_rewards[row]))
        propensities.append(propensity)
        if len(rewards) == n_rounds:
            return np.array(rewards), np.array(propensities)
        if len(rewards) == epoch.stop:
            settled, kept = Log.concat(kept, replay.problem.n_actions), []
            epoch = learner.next_epoch(epoch, settled)
    raise AssertionError("the log is too short for this test")


ENVIRONMENTS: dict[str, Any] = {
    "step": STEP,
    "masked": EligibilityEnvironment(environment=LinearEnvironment(n_features=1)),
    "action features": ActionFeatureEnvironment(n_actions=3),
}


@pytest.mark.parametrize(
    ("name", "environment"), spread(["tail", "coin", "linucb", "greedy"], ENVIRONMENTS, every=3)
)
def test_replay_is_what_single_rows_give(name: str, environment: str) -> None:
    log, learner = logged(ENVIRONMENTS[environment], 6_000, 1, tilt=0.5), LEARNERS[name]
    trace = simulate(learner, log, 700, seed=4, checkpoints="every")
    reward, propensity = one_by_one(learner, log, 700, 4)
    np.testing.assert_allclose(trace.reward[0], reward.cumsum(), rtol=1e-12)
    assert np.array_equal(trace.propensity[0], propensity)
    assert np.isnan(trace.regret).all()


def test_replay_of_many_rows_is_what_single_rows_give() -> None:
    # Stretches longer than what is decided at a time.
    log = logged(STEP, 40_000, 1)
    reward, _ = one_by_one(Uniform(), log, 18_000, 2)
    trace = simulate(Uniform(), log, 18_000, seed=2, checkpoints=[9, 17_000])
    np.testing.assert_allclose(trace.reward[0], reward.cumsum()[[8, 16_999, 17_999]], rtol=1e-10)


# Settings, seeds and traces.


def test_replications_can_be_computed_in_parts() -> None:
    log = logged(STEP, 3_000, 0)
    both = simulate(COIN, log, 500, 3, seed=5)
    later = simulate(COIN, log, 500, 2, seed=5, first_replication=1)
    assert np.array_equal(both.reward[1:], later.reward)
    assert np.array_equal(both.reward[:1], simulate(COIN, log, 500, seed=5).reward)
    assert len(np.unique(both.reward[:, -1])) == 3


def test_epochs_are_kept_and_rounds_are_told() -> None:
    heard: list[int] = []
    log = logged(STEP, 3_000, 0)
    trace = simulate(TAIL, log, 500, keep_policies=True, on_rounds=heard.append)
    assert sum(heard) == 500
    assert trace.epochs[0][-1].stop >= 500
    assert all(epoch.policy is not None for epoch in trace.epochs[0])


def test_the_logs_order_can_be_kept() -> None:
    log = logged(STEP, 50, 0)
    assert replace(log, shuffle=False).rows(3).tolist() == list(range(50))
    assert sorted(log.rows(3).tolist()) == list(range(50))
    assert log.rows(3).tolist() != log.rows(4).tolist()


def test_rewards_are_told_in_the_problems_units() -> None:
    rng = np.random.default_rng(0)
    problem = Problem(["near", "far"], features=1, reward_range=(0, 50), cost=True)
    log = LoggedReplay(
        problem, rng.random((500, 1)), rng.choice(["near", "far"], 500), np.full(500, 10.0), np.full(500, 0.5)
    )
    assert np.all(log.log.reward == 0.8)
    assert simulate(Uniform(), log, 100).reward[0, -1] == pytest.approx(1_000.0)


def test_problems_without_features_can_be_replayed() -> None:
    log = LoggedReplay(Problem(["a", "b"]), None, list("abab" * 50), [1, 0] * 100, [0.5] * 200)
    assert simulate(Uniform(), log, 60).n_rounds == 60


def test_only_eligible_actions_have_a_say_in_what_is_certain() -> None:
    problem = Problem(["a", "b"])
    contexts = problem.contexts(eligible=[["a"], ["a", "b"]])
    log = LoggedReplay(problem, contexts, ["a", "b"], [1, 1], [1.0, 0.5])
    assert log.acceptance.tolist() == [0.5, 1.0]


def test_logs_tell_themselves_apart() -> None:
    log = logged(STEP, 2_000, 0)
    assert len(repr(log)) < 150
    assert repr(log) == repr(pickle.loads(pickle.dumps(log))) == repr(replace(log))
    assert repr(log) != repr(logged(STEP, 2_000, 1))
    assert repr(log) != repr(replace(log, min_propensity=0.5))


# Refusals.


def test_a_log_that_ends_too_soon_says_how_many_rounds_it_gave() -> None:
    log = logged(STEP, 1_000, 0)
    with pytest.raises(
        ValueError, match=r"the log of 1000 rows gave (\d+) rounds, and n_rounds is 900"
    ) as told:
        simulate(Uniform(), log, 900)
    given = int(str(told.value).split(" gave ")[1].split()[0])
    assert "about 1800 rows" in str(told.value)
    assert simulate(Uniform(), log, given).n_rounds == given
    with pytest.raises(ValueError, match=f"gave {given} rounds"):
        simulate(Uniform(), log, given + 1)


PROBLEM = Problem(["a", "b"], features=1)
X = [[0.1], [0.2]]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ((X, ["a", "b"], [1, 0], None), "propensity is None; replay by rejection needs the probability"),
        ((X, ["a", "b"], [1, 0], "unknown"), "propensity is 'unknown'; replay by rejection needs"),
        ((X, ["a", "b"], [1, 0], [0.5, 0.0]), r"row 1: the propensity 0\.0 is not in \(0, 1\]"),
        ((X, ["a", "b"], [1, 0], [0.5, 1.5]), r"row 1: the propensity 1\.5 is not in \(0, 1\]"),
        ((X, ["a", "b"], [1, 0], [0.5, np.nan]), r"row 1: the propensity nan is not in \(0, 1\]"),
        ((X, ["a", "b"], [1, 0], [0.5, 1.0]), "row 1 has the propensity 1 with 2 eligible actions"),
        ((X, ["a", "b"], [1, 0], [0.5]), "there are 1 propensities and 2 contexts"),
        ((X, ["a", "c"], [1, 0], [0.5, 0.5]), "there is no action 'c'"),
        ((X, ["a", "b"], [1, 7], [0.5, 0.5]), r"reward 7\.0 is outside \(0, 1\)"),
        ((X, ["a"], [1, 0], [0.5, 0.5]), "there are 1 actions and 2 contexts"),
        (([[0.1], [np.nan]], ["a", "b"], [1, 0], [0.5, 0.5]), "contexts: row 1"),
        ((Contexts(np.zeros((2, 3))), ["a", "b"], [1, 0], [0.5, 0.5]), "the contexts have 3 shared"),
        ((np.zeros((0, 1)), [], [], []), "the log has no rows"),
    ],
)
def test_bad_logs_are_refused(columns: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        LoggedReplay(PROBLEM, *columns)


def test_bad_settings_are_refused() -> None:
    log = logged(STEP, 20, 0)
    with pytest.raises(ValueError, match="shuffle is 1; give True or False"):
        replace(log, shuffle=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"min_propensity is 0\.0; give a probability above 0, or None"):
        replace(log, min_propensity=0.0)
    with pytest.raises(ValueError, match=r"problem is 'ab'; give a gyrfalcon\.Problem"):
        replace(log, problem="ab")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n_rounds is 0; give a whole number"):
        simulate(Uniform(), log, 0)
    with pytest.raises(ValueError, match=r"environment is LoggedReplay.*; give an environment"):
        Delayed(log, mean=3)  # type: ignore[arg-type]


def test_uniform_propensities_need_not_be_written_down() -> None:
    problem = Problem(["a", "b"], features=1)
    said = LoggedReplay(problem, X, ["a", "b"], [1, 0], "uniform")
    written = LoggedReplay(problem, X, ["a", "b"], [1, 0], [0.5, 0.5])
    assert said.acceptance.tolist() == written.acceptance.tolist()
    assert said.content == written.content
