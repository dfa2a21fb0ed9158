from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gyrfalcon import Bandit, EpsilonFalcon, EpsilonGreedy, LinTS, LinUCB, Problem, RegCB
from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, UniformPolicy
from gyrfalcon.core.policies.kernels import EpsilonGreedyKernel
from gyrfalcon.evaluation import (
    always,
    by_row,
    evaluate,
    logged_play,
    of_policy,
    target_policy,
    uniform_play,
)
from gyrfalcon.learners.protocol import Learner
from tests.evaluation.logs import log_of

ELIGIBLE_ROWS = np.array([[True, True, True], [False, True, True], [True, False, False]])


def small(eligible: bool = False) -> DecisionTable:
    table = log_of(3)
    if eligible:
        table = replace(table, contexts=replace(table.contexts, eligible=ELIGIBLE_ROWS))
    return table


def test_always_takes_one_action_and_says_what_else_it_does() -> None:
    assert always("blue")(small()).tolist() == [[0.0, 1.0, 0.0]] * 3
    with pytest.raises(ValueError, match="row 1: 'red' is not eligible, nor is it in 1 of 3 rows"):
        always("red")(small(eligible=True))
    target = always("red", otherwise="uniform")(small(eligible=True))
    assert target.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]
    with pytest.raises(ValueError, match="there is no action 'rde' in the log; did you mean 'red'"):
        always("rde")(small())


def test_labels_that_are_numbers_may_be_typed_as_text() -> None:
    table = replace(small(), actions=(10, 20, 30))
    assert target_policy("always 20")(table).tolist() == [[0.0, 1.0, 0.0]] * 3


def test_uniform_play_and_logged_play() -> None:
    assert np.allclose(uniform_play()(small(eligible=True)).sum(axis=1), 1.0)
    assert uniform_play()(small(eligible=True))[2].tolist() == [1.0, 0.0, 0.0]
    assert np.allclose(logged_play()(small()), 1 / 3)
    with pytest.raises(ValueError, match="row 0: the distribution over actions is unknown"):
        logged_play()(replace(small(), distribution=None))


def test_functions_and_arrays_give_labels_or_probabilities() -> None:
    table = small()
    by_label = target_policy(lambda rows: ["red" if x > 0 else "green" for x in rows.contexts.shared[:, 0]])
    positive = table.contexts.shared[:, 0] > 0
    assert np.array_equal(by_label(table)[:, 0], positive)
    assert np.array_equal(target_policy(by_label(table))(table), by_label(table))
    assert target_policy(["red", "blue", "green"])(table).tolist() == np.eye(3).tolist()

    def rule(row: Mapping[str, float]) -> object:
        return "red" if row["x"] > 0 else {"blue": 0.25, "green": 0.75}

    expected = np.where(positive[:, np.newaxis], [1.0, 0.0, 0.0], [0.0, 0.25, 0.75])
    assert np.array_equal(by_row(rule)(table), expected)
    with pytest.raises(
        ValueError, match=r"policy 'policy': there is no feature 'X' in the log; did you mean 'x'\?"
    ):
        evaluate(log_of(50), by_row(lambda row: "red" if row["X"] > 0 else "blue"))
    with pytest.raises(ValueError, match=r"failed with KeyError: 'pink'"):  # of the rule's own
        evaluate(log_of(50), by_row(lambda _: {"red": "blue"}["pink"]))
    with pytest.raises(ValueError, match=r"values of shape \(2,\); give probabilities of shape \(3, 3\)"):
        target_policy(["red", "blue"])(table)
    with pytest.raises(ValueError, match=r"'alway red' is no policy; did you mean"):
        target_policy("alway red")
    with pytest.raises(ValueError, match="3 is no policy"):
        target_policy(3)


class ByFeature:
    """A policy that likes the second feature for its first action, and the first one for the others."""

    def probabilities(self, contexts: Contexts) -> Floats:
        scores = np.stack([contexts.shared[:, 1], contexts.shared[:, 0]], axis=1)
        return EpsilonGreedyKernel(0.0).probabilities(scores, contexts.eligible)


def test_a_policy_finds_its_actions_and_features_by_name() -> None:
    table = DecisionTable.of(
        actions=["a", "new", "b"],
        action=["a", "b"],
        reward=[0.0, 1.0],
        shared=[[5.0, 0.0, 1.0], [0.0, 5.0, 1.0]],
        features=["second", "first", "other"],
    )
    policy = of_policy(ByFeature(), actions=["b", "a"], features=["first", "second"])
    assert policy(table).tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    with pytest.raises(ValueError, match="the policy needs the feature 'third', which the log does not have"):
        of_policy(ByFeature(), actions=["b", "a"], features=["first", "third"])(table)
    eligible = np.array([[True, True, True], [False, True, False]])
    masked = replace(table, contexts=replace(table.contexts, eligible=eligible))
    with pytest.raises(
        ValueError, match="row 1: none of the eligible actions, 'new', is one of the policy's"
    ):
        of_policy(ByFeature(), actions=["b", "a"], features=["first", "second"])(masked)
    with pytest.raises(ValueError, match=r"of shape \(2, 2\) for 2 rows and 3 actions"):
        of_policy(ByFeature())(table)


def test_actions_that_the_log_lacks_are_not_eligible() -> None:
    table = DecisionTable.of(actions=["a"], action=["a", "a"], reward=[0.0, 1.0])
    assert of_policy(UniformPolicy(2), actions=["z", "a"])(table).tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("learner", [None, EpsilonFalcon(), LinUCB(), LinTS(), RegCB()], ids=repr)
def test_the_greedy_policy_of_an_epoch_is_the_best_action_by_its_estimates(learner: Learner | None) -> None:
    """The blue action earns most where x > 0, and red elsewhere: a thousand rows make this clear."""
    random = np.random.default_rng(3)
    bandit = Bandit(["red", "blue"], features=["x"], seed=1, learner=learner)
    for x in random.uniform(-1.0, 1.0, 400).tolist():
        decision = bandit.decide([x])
        bandit.reward(decision.event_id, float((decision.action == "blue") == (x > 0)))
    greedy = bandit.epoch.greedy
    shared = np.array([[-0.8], [0.8]])
    assert greedy.probabilities(bandit.problem.contexts(shared)).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    table = DecisionTable.of(
        actions=["blue", "red"], action=["red", "red"], reward=[0, 0], shared=shared, features=["x"]
    )
    assert target_policy(greedy)(table).tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_epochs_play_with_their_passive_share() -> None:
    problem = Problem(["a", "b"])
    epoch = EpsilonFalcon().start(problem)
    mixed = replace(epoch, policy=KernelPolicy(_Fixed(), EpsilonGreedyKernel(0.0)), passive_share=0.25)
    table = DecisionTable.of(actions=["b", "a"], action=["a"], reward=[0.0])
    assert of_policy(mixed)(table).tolist() == [[0.875, 0.125]]


class _Fixed:
    def scores(self, contexts: Contexts) -> Floats:
        return np.tile([0.0, 1.0], (len(contexts), 1))


def test_a_bandit_live_or_loaded_stands_for_what_it_plays(tmp_path: Path) -> None:
    bandit = Bandit(["red", "blue"], features=["age"], seed=1, learner=EpsilonGreedy(epsilon=0.3))
    random, contexts = np.random.default_rng(0), []
    rows = []
    for age in random.uniform(18.0, 70.0, 120).tolist():
        decision = bandit.decide([age])
        reward = float(random.random() < (0.7 if decision.action == "blue" else 0.2))
        bandit.reward(decision.event_id, reward)
        contexts.append([age])
        rows.append((decision.action, reward, decision.propensity))
    action, reward_, propensity = zip(*rows, strict=True)
    table = DecisionTable.of(
        actions=["blue", "red"],
        action=action,
        reward=reward_,
        propensity=propensity,
        shared=contexts,
        features=["age"],
    )
    expected = [[bandit.probabilities([age])[label] for label in ("blue", "red")] for (age,) in contexts]
    bandit.save(tmp_path / "shop.bandit")
    for one in (bandit, Bandit.load(tmp_path / "shop.bandit")):
        assert target_policy(one)(table) == pytest.approx(np.array(expected))
        found = evaluate(table, one)["policy"]
        assert found.value == evaluate(table, {"new": bandit.epoch})["new"].value
        assert "dependence on the log" in {reason.check for reason in found.verdict.objections}
        held_out = evaluate(table, {"new": of_policy(one, held_out=True)})["new"]
        assert "dependence on the log" not in {reason.check for reason in held_out.verdict.objections}
    assert evaluate(table, "always red")["always red"].value == pytest.approx(0.2, abs=0.15)


def test_columns_of_frames_are_found_by_their_names() -> None:
    """A frame whose columns are in another order than the log's actions is no other policy."""
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    rows = {"green": [0.7] * 3, "red": [0.1] * 3, "blue": [0.2] * 3}
    for frame in (pandas.DataFrame(rows), polars.DataFrame(rows)):
        for policy in (frame, lambda _, frame=frame: frame):
            assert target_policy(policy)(small()).tolist() == [[0.1, 0.2, 0.7]] * 3
    unnamed = pandas.DataFrame([[0.1, 0.2, 0.7]] * 3)
    assert target_policy(unnamed)(small()).tolist() == [[0.1, 0.2, 0.7]] * 3
    with pytest.raises(ValueError, match=r"a frame with the columns .*; name each column as its action"):
        target_policy(pandas.DataFrame({**rows, "age": 1.0}).drop(columns="red"))(small())
