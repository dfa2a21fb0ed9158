"""Experiment: decisions, outcomes in any order, verdicts, files, and evidence computed a second way."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gyrfalcon import AdaptiveFalcon, Bandit, EpsilonGreedy, Experiment, LinTS, Uniform
from gyrfalcon.bandit import audit_decision_log
from gyrfalcon.bandit.decision import Decision
from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.policies.greedy import LikeliestPolicy
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.evaluation import evaluate, of_policy
from gyrfalcon.evaluation.policies.targets import FixedTarget
from gyrfalcon.experiment import FinalPolicy
from gyrfalcon.experiment.policies import learned_policy
from gyrfalcon.experiment.wealth import bets
from gyrfalcon.learners.rapr import RAPR
from gyrfalcon.logs import read_log
from tests.bandit.helpers import Clock


def context_of(i: int) -> list[float]:
    return [math.sin(12.9898 * i)]


def reward_of(decision: Decision, context: list[float], i: int, effect: float = 0.6) -> float:
    """A coin by number: "b" pays above 0, "a" below, "c" never more than either."""
    chance = 0.5 + effect * context[0] * {"a": -0.5, "b": 0.5, "c": 0.0}[str(decision.action)]
    return float((0.5 + 0.5 * math.sin(78.233 * i + ord(str(decision.action)))) < chance)


def run(experiment: Experiment, n: int, start: int = 0, effect: float = 0.6) -> None:
    for i in range(start, start + n):
        decision = experiment.decide(context_of(i))
        experiment.reward(decision.event_id, reward_of(decision, context_of(i), i, effect))


def experiment_of(**settings: Any) -> Experiment:
    return Experiment(["a", "b", "c"], **{"control": "a", "features": ["x"], "seed": 1, **settings})


def test_a_better_learned_policy_is_found_and_can_be_used(tmp_path: Path) -> None:
    experiment = experiment_of()
    run(experiment, 1500)
    result = experiment.result()
    assert experiment.stopped
    assert result.is_better
    assert result.policy.name == experiment.decision
    assert str(result.policy.name).startswith("policy learned by epoch")
    assert [result.policy.choose(x) for x in ([-0.9], [0.9])] == ["a", "b"]
    low, high = result.value_interval
    assert low < 0.5 + 0.3 * 2 / math.pi < high
    assert result.regret <= result.regret_bound < 0.5
    result.policy.save(tmp_path / "policy")
    loaded = FinalPolicy.load(tmp_path / "policy")
    assert loaded.probabilities([0.9]) == result.policy.probabilities([0.9]) == {"a": 0, "b": 1, "c": 0}
    table = DecisionTable(
        actions=("a", "b", "c"),
        contexts=Contexts(np.array([[0.9]])),
        action=np.array([0]),
        reward=np.array([1.0]),
        propensity=np.array([0.5]),
    )
    assert loaded(table).tolist() == [[0.0, 1.0, 0.0]]


def test_the_final_policy_is_evaluated_from_a_log(tmp_path: Path) -> None:
    """Its actions and features are found in the table by name, and not by their places."""
    experiment = experiment_of(log=tmp_path / "log")
    run(experiment, 1500)
    policy, table = experiment.result().policy, read_log(tmp_path / "log")
    found = evaluate(table, {"final": policy})["final"]
    assert found.value == evaluate(table, {"final": FixedTarget(policy(table))})["final"].value
    assert "dependence on the log" in {reason.check for reason in found.verdict.objections}
    held_out = evaluate(table, {"final": of_policy(policy, held_out=True)})["final"]
    assert "dependence on the log" not in {reason.check for reason in held_out.verdict.objections}
    backwards = DecisionTable.of(
        actions=["c", "b", "a"],
        action=["a", "b"],
        reward=[1.0, 0.0],
        shared=[[7.0, -0.9], [7.0, 0.9]],
        features=["other", "x"],
    )
    assert of_policy(policy)(backwards).tolist() == [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]


def test_a_better_single_action_is_found() -> None:
    experiment = Experiment(["red", "blue"], control="red", seed=1)
    for _ in range(600):
        decision = experiment.decide()
        experiment.reward(decision.event_id, 1.0 if decision.action == "blue" else 0.5)
    assert experiment.decision == "always 'blue'"
    sentence = experiment.status().sentence
    assert "it is known that always 'blue' is better than always 'red'" in sentence
    assert experiment.result().policy.choose() == "blue"


def test_without_a_difference_it_ends_with_the_control() -> None:
    experiment = experiment_of(max_rounds=400)
    run(experiment, 399, effect=0.0)
    assert not experiment.stopped
    assert experiment.decision is None
    assert "go on" in experiment.status().sentence
    run(experiment, 30, 399, effect=0.0)
    status = experiment.status()
    assert status.stopped
    assert status.decision == "always 'a'"
    assert status.n_compared == 400
    assert "keep it" in status.sentence
    result = experiment.result()
    assert not result.is_better
    assert result.policy.choose([0.3]) == "a"


def test_outcomes_count_in_order_of_decision_whenever_they_come() -> None:
    """Rewards of an epoch in any order give the same evidence; an open decision holds up all later ones."""
    one, other = (experiment_of(learner=RAPR(schedule=FixedBatch(100))) for _ in range(2))
    rng = np.random.default_rng(0)
    for first in range(0, 400, 100):
        run(one, 100, first)
        made = [(i, other.decide(context_of(i))) for i in range(first, first + 100)]
        for place in rng.permutation(99).tolist():
            i, decision = made[place + 1]
            other.reward(decision.event_id, reward_of(decision, context_of(i), i))
        assert other.status().n_compared == first
        assert other.status().n_open == 1
        i, decision = made[0]
        other.reward(decision.event_id, reward_of(decision, context_of(i), i))
        assert one.status() == other.status()


def test_looking_often_changes_nothing() -> None:
    one, other = experiment_of(), experiment_of()
    run(one, 700)
    for i in range(700):
        run(other, 1, i)
        assert other.stopped in (True, False)
    assert [one.decision, one.stopped] == [other.decision, other.stopped]
    for left, right in zip(one.status().comparisons, other.status().comparisons, strict=True):
        assert left.gain == pytest.approx(right.gain, abs=1e-12)
        assert (left.name, left.n_rows, left.is_better) == (right.name, right.n_rows, right.is_better)


def test_silence_counts_as_the_default_when_its_time_is_up() -> None:
    clock = Clock()
    experiment = experiment_of(reward_timeout=10.0, default_reward=0.0, clock=clock)
    for i in range(300):
        decision = experiment.decide(context_of(i))
        if reward_of(decision, context_of(i), i):
            experiment.reward(decision.event_id, 1.0)
        clock.now += 1.0
    experiment.decide(context_of(300))
    status = experiment.status()
    assert 285 <= status.n_compared <= 295
    plain = experiment_of()
    run(plain, 300)
    assert status.n_dropped == 0


def test_an_experiment_goes_on_from_a_file(tmp_path: Path) -> None:
    one = experiment_of(max_rounds=2000, minimum_effect=0.02)
    run(one, 450)
    one.save(tmp_path / "saved")
    other = Experiment.load(tmp_path / "saved")
    assert other.status() == one.status()
    ids = [f"event {i}" for i in range(450, 900)]
    for i, event_id in zip(range(450, 900), ids, strict=True):
        decisions = [each.decide(context_of(i), event_id=event_id) for each in (one, other)]
        assert decisions[0] == decisions[1]
        for each in (one, other):
            each.reward(event_id, reward_of(decisions[0], context_of(i), i))
    assert other.status() == one.status()
    assert str(other.result()) == str(one.result())


def test_a_file_of_a_bandit_is_refused(tmp_path: Path) -> None:
    Bandit(["a", "b"]).save(tmp_path / "bandit")
    with pytest.raises(ValueError, match=r"holds a Bandit, not an Experiment; use Bandit\.load"):
        Experiment.load(tmp_path / "bandit")


def test_its_log_has_the_propensities_of_control_and_learner_together(tmp_path: Path) -> None:
    from gyrfalcon.logs import read_log

    experiment = experiment_of(log=tmp_path / "log", control_share=0.25)
    run(experiment, 250)
    table = read_log(tmp_path / "log")
    assert len(table) == 250
    assert table.distribution is not None
    assert (table.distribution[:, 0] >= 0.25).all()
    report = audit_decision_log(tmp_path / "log")
    assert (report.passed, report.n_equal) == (True, 250)
    np.testing.assert_allclose(table.distribution.sum(axis=1), 1.0)


def test_costs_are_rewards_the_other_way_round() -> None:
    gains = experiment_of(reward_range=(0, 10))
    costs = experiment_of(reward_range=(0, 10), cost=True)
    for i in range(500):
        for experiment, is_cost in ((gains, False), (costs, True)):
            decision = experiment.decide(context_of(i), event_id=str(i))
            reward = 10.0 * reward_of(decision, context_of(i), i)
            experiment.reward(decision.event_id, 10.0 - reward if is_cost else reward)
    one, other = gains.status(), costs.status()
    assert [c.gain for c in one.comparisons] == pytest.approx([c.gain for c in other.comparisons])
    assert gains.result().value == pytest.approx(10.0 - costs.result().value)
    assert gains.result().value_interval[0] == pytest.approx(10.0 - costs.result().value_interval[1])
    assert "saves" in other.sentence
    assert "earns" in one.sentence


def test_many_decisions_at_once_are_those_one_by_one() -> None:
    one, other = experiment_of(), experiment_of()
    batch = other.decide_many([context_of(i) for i in range(100)])
    rewards = {}
    for i, decision in enumerate(batch):
        assert one.decide(context_of(i))[:2] == decision[:2]
        rewards[decision.event_id] = reward_of(decision, context_of(i), i)
    other.reward_many(rewards)
    one.reward_many(rewards)
    assert one.status() == other.status()


def test_the_control_may_be_a_policy_or_the_end_of_another_experiment() -> None:
    first = experiment_of()
    run(first, 1500)
    control = first.result().policy
    second = experiment_of(control=control)
    run(second, 600)
    status = second.status()
    assert status.control == control.name
    singles = [one for one in status.comparisons if one.name.startswith("always")]
    assert [one.name for one in singles] == ["always 'a'", "always 'b'", "always 'c'"]
    assert all(one.gain < 0.0 for one in singles)
    assert not any(one.is_better for one in status.comparisons)


@pytest.mark.parametrize(
    "learner", [Uniform(), LinTS(mixing=0.05), AdaptiveFalcon(classes=("linear",)), EpsilonGreedy()]
)
def test_any_learner_takes_part(learner: Any, tmp_path: Path) -> None:
    experiment = experiment_of(learner=learner)
    run(experiment, 400)
    learned = [one for one in experiment.status().comparisons if "learned" in one.name]
    assert bool(learned) is not isinstance(learner, Uniform)
    experiment.save(tmp_path / "saved")
    assert Experiment.load(tmp_path / "saved").status() == experiment.status()


def test_ineligible_actions_are_left_to_the_control() -> None:
    experiment = experiment_of()
    for i in range(500):
        eligible = ["a", "b"] if i % 2 else ["b", "c"]
        decision = experiment.decide(context_of(i), eligible=eligible)
        assert decision.action in eligible
        experiment.reward(decision.event_id, reward_of(decision, context_of(i), i))
    assert all(-1.0 <= one.low <= one.high <= 1.0 for one in experiment.status().comparisons)
    assert experiment.result().policy.choose([0.5], eligible=["c"]) == "c"


def test_withdrawn_features_of_the_first_context_fix_the_problem() -> None:
    experiment = Experiment(["a", "b"], control="a", seed=1)
    experiment.reward(experiment.decide({"age": 3.0}).event_id, 1.0)
    assert experiment.problem.features.names == ("age",)
    assert experiment.status().n_compared == 1


def test_no_action_is_left_out_for_its_silence(tmp_path: Path) -> None:
    experiment = experiment_of()
    for i in range(400):
        decision = experiment.decide(context_of(i))
        if decision.action != "b":
            experiment.reward(decision.event_id, 1.0)
    experiment.save(tmp_path / "saved")
    for one in (experiment, Experiment.load(tmp_path / "saved")):
        one.decide(context_of(400), event_id="a")
        shares = one.decide(context_of(401), event_id="b").distribution
        assert shares is not None
        assert min(shares) > 0.1


def test_status_and_result_are_for_machines_too() -> None:
    experiment = experiment_of()
    status = json.loads(experiment.status().to_json())
    assert status["n_decided"] == 0
    assert status["comparisons"][0] == {
        "name": "always 'b'",
        "first_round": 0,
        "n_rows": 0,
        "gain": None,
        "low": -1.0,
        "high": 1.0,
        "is_better": False,
    }
    result = json.loads(experiment.result().to_json())
    assert result["value"] is None
    assert result["value_interval"] == [0.0, 1.0]
    assert result["regret_bound"] == 1.0
    assert result["policy"] == "always 'a'"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"control": "d"}, "there is no action 'd'"),
        ({"control_share": 0.0}, "control_share is 0.0; give a share in"),
        ({"level": 1.0}, "level is 1.0; give a number in"),
        ({"minimum_effect": 1.0}, "minimum_effect is 1, and rewards from 0 to 1 can't differ by more"),
        ({"minimum_effect": -0.1}, "minimum_effect is -0.1; give a finite number of at least 0"),
        ({"max_rounds": 0}, "max_rounds is 0; give a whole number of at least 1"),
        ({"reward_range": None}, "an experiment needs rewards within a range"),
        ({"out_of_range": "accept"}, "an experiment needs rewards within a range"),
        ({"reward_timeout": 5.0}, "there is no default_reward"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        experiment_of(**settings)


@dataclass(frozen=True)
class Draws:
    """A policy without a model."""

    def probabilities(self, contexts: Contexts) -> Floats:
        return np.tile([0.2, 0.5, 0.3], (len(contexts), 1))


def test_of_a_policy_without_a_model_the_most_probable_action_is_learned() -> None:
    learned = learned_policy(Draws())
    assert isinstance(learned, LikeliestPolicy)
    assert learned.probabilities(Contexts(np.zeros((2, 0)))).tolist() == [[0.0, 1.0, 0.0]] * 2


def test_evidence_is_that_of_a_loop_over_the_log(tmp_path: Path) -> None:
    """Gain and stopping round of a single action, row by row from the decision log, with k = 4."""
    from gyrfalcon.logs import read_log

    experiment = experiment_of(control="c", log=tmp_path / "log", learner=Uniform(schedule=FixedBatch(100)))
    run(experiment, 1200, effect=0.2)
    table = read_log(tmp_path / "log")
    assert table.distribution is not None
    total, logs, mean = 0.0, np.zeros(6), 0.5
    seen: list[float] = []
    for i in range(len(table)):
        if i % 100 == 0 and i:
            mean = float(np.mean(seen))
        q, a, r = table.distribution[i], int(table.action[i]), float(table.reward[i])
        seen.append(r)
        up, down = min(mean, 4.0 * q[1]), max(mean, 1.0 - 4.0 * q[2])
        score = up - down + {0: 0.0, 1: (r - up) / q[1], 2: -(r - down) / q[2]}[a]
        total += score
        logs += np.log1p(bets(4.0) * score)
    (comparison,) = [one for one in experiment.status().comparisons if one.name == "always 'b'"]
    assert comparison.gain == pytest.approx(total / 1200, abs=1e-12)
    candidate = next(one for one in experiment._current()[0].candidates if one.name == "always 'b'")
    assert candidate.wealth._logs == pytest.approx(logs)
