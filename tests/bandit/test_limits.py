"""A live bandit within limits: its log is recomputed bit for bit, and operators can change the limits."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from gyrfalcon import AdaptiveFalcon, Bandit, EpsilonFalcon, EpsilonGreedy, Limited
from gyrfalcon.bandit import audit_decision_log, read_decision_log
from gyrfalcon.bandit.silence import WithoutSilent
from gyrfalcon.core.policies.limited import LimitedPolicy, unlimited
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.logs import read_log
from tests.bandit.test_own_policies import OwnLearner

LABELS = ["red", "blue", "green"]
LIMITED = Limited(AdaptiveFalcon(), floor=0.05, control=("red", 0.2), shares={"blue": (0.0, 0.3)})


def run(bandit: Bandit, n: int, start: int = 0, labels: list[str] | None = None) -> None:
    """n rounds, half of them one by one, with masks in every third; red is best."""
    rng = np.random.default_rng(start)
    for round_ in range(start, start + n // 2):
        eligible = ["red", "blue"] if round_ % 3 == 0 else None
        decision = bandit.decide({"x": float(rng.random())}, eligible=eligible, event_id=f"{round_}")
        bandit.reward(decision.event_id, float(rng.random() < 0.3 + 0.3 * (decision.action == "red")))
    ids = [f"batch {round_}" for round_ in range(start, start + n - n // 2)]
    batch = bandit.decide_many([{"x": float(x)} for x in rng.random(len(ids))], event_ids=ids)
    bandit.reward_many({one.event_id: float(one.action == "red") for one in batch})


@pytest.mark.parametrize("inside", [AdaptiveFalcon(), EpsilonFalcon()], ids=["coin", "tail"])
def test_every_logged_distribution_is_recomputed_bit_for_bit(inside: object, tmp_path: Path) -> None:
    learner = Limited(inside, floor=0.05, decay=0.1, control=("red", 0.2), shares={"blue": (0.0, 0.3)})  # type: ignore[arg-type]
    bandit = Bandit(LABELS, features=["x"], learner=learner, seed=1, log=tmp_path)
    run(bandit, 400)
    report = audit_decision_log(tmp_path)
    assert report.passed
    assert report.n_equal == 400
    rows = read_decision_log(tmp_path).rows
    phases = Counter(row["phase"] for row in rows)
    assert set(phases) == {"policy", "control", "passive"} if isinstance(inside, EpsilonFalcon) else True
    assert 0.2 - 4 * 0.02 < phases["control"] / 400 < 0.2 + 4 * 0.02
    for row in rows:
        shares = dict(zip(row["eligible"], row["distribution"], strict=True))
        assert min(shares.values()) >= 0.05 * 401**-0.1 - 1e-12
        assert shares["red"] >= 0.2
        assert shares["blue"] <= 0.3 + 1e-12
        assert row["propensity"] == shares[row["action"]]


def test_the_log_says_which_decisions_the_control_made(tmp_path: Path) -> None:
    bandit = Bandit(LABELS, learner=Limited(EpsilonGreedy(), control=("blue", 0.5)), seed=1, log=tmp_path)
    singles = [bandit.decide() for _ in range(30)]
    batch = bandit.decide_many(n=30)
    made = [*singles, *batch]
    assert all(one.action == "blue" for one in made if one.control)
    assert 15 < sum(one.control for one in made) < 45
    logged = {row["event_id"]: row["phase"] for row in read_decision_log(tmp_path).rows}
    assert [logged[one.event_id] for one in made] == ["control" if one.control else "policy" for one in made]
    assert batch.to_pandas()["phase"].tolist() == [logged[one.event_id] for one in batch]
    assert bandit.decide(event_id=singles[0].event_id).control == singles[0].control
    table = read_log(tmp_path)
    assert table.passive is not None
    assert not table.passive.any()


def test_a_saved_bandit_goes_on_with_the_same_decisions(tmp_path: Path) -> None:
    ours = Bandit(LABELS, features=["x"], learner=LIMITED, seed=1)
    run(ours, 200)
    ours.save(tmp_path / "bandit")
    theirs = Bandit.load(tmp_path / "bandit")
    for bandit in (ours, theirs):
        run(bandit, 200, start=1000)
    assert ours.decide({"x": 0.5}, event_id="last") == theirs.decide({"x": 0.5}, event_id="last")
    assert isinstance(theirs._live.engine.epoch.policy, LimitedPolicy)


def test_actions_are_added_and_retired_within_the_limits(tmp_path: Path) -> None:
    bandit = Bandit(LABELS, features=["x"], learner=LIMITED, seed=1, log=tmp_path)
    run(bandit, 100)
    bandit.add_actions(["new"])
    run(bandit, 100, start=500)
    decision = bandit.decide({"x": 0.1})
    assert decision.distribution is not None
    assert min(decision.distribution) >= 0.05 - 1e-15
    with pytest.raises(ValueError, match="action 'red' is the control of the learner"):
        bandit.retire_actions(["red"])
    assert bandit.decide({"x": 0.1}).distribution == decision.distribution
    bandit.retire_actions(["green"])
    run(bandit, 100, start=900)
    with pytest.raises(ValueError, match=re.escape("floor is 0.05 for each of 23 actions")):
        bandit.add_actions([f"another {number}" for number in range(20)])
    report = audit_decision_log(tmp_path)
    assert report.passed
    assert report.n_equal == report.n_decisions == 302


def test_limits_change_while_a_bandit_runs_and_its_fits_go_on() -> None:
    bandit = Bandit(LABELS, features=["x"], learner=AdaptiveFalcon(), seed=1)
    run(bandit, 200)
    n_learned, state = bandit.status().n_learned, bandit.epoch.state
    bandit.change_learner(Limited(AdaptiveFalcon(), floor=0.1))
    first = bandit.decide({"x": 0.5})
    assert bandit.epoch.state is state  # no reward came in between
    assert first.distribution is not None
    assert min(first.distribution) >= 0.1
    bandit.change_learner(Limited(AdaptiveFalcon(), floor=0.02, control=("blue", 0.3)))
    second = bandit.decide({"x": 0.5})
    assert second.distribution is not None
    assert second.distribution[1] >= 0.3
    bandit.change_learner(AdaptiveFalcon())
    assert not isinstance(bandit._live.engine.epoch.policy, LimitedPolicy)
    run(bandit, 100, start=700)
    assert bandit.status().n_learned > n_learned
    assert [one.setting for one in bandit.status().history] == ["learner"] * 3


def test_explanations_have_the_probabilities_within_the_limits() -> None:
    bandit = Bandit(LABELS, features=["x"], learner=LIMITED, seed=1)
    run(bandit, 200)
    explanation = bandit.explain({"x": 0.5})
    shares = {one.label: one.probability for one in explanation.actions}
    assert min(shares.values()) >= 0.05 - 1e-15
    assert shares["red"] >= 0.2
    assert all(one.estimate is not None for one in explanation.actions)


def test_the_status_knows_how_many_rounds_are_passive_beside_the_control() -> None:
    learner = Limited(EpsilonFalcon(epsilon=0.1, passive_design="coin"), control=("red", 0.25))
    assert Bandit(LABELS, learner=learner, seed=1).status().passive_share == pytest.approx(0.075)


def test_policies_of_a_users_own_learner_are_checked_inside() -> None:
    bandit = Bandit(["a", "b"], learner=Limited(OwnLearner((0.5, 0.4)), floor=0.1), seed=1)
    for _ in range(4):
        bandit.reward(bandit.decide().event_id, 0.5)
    with pytest.raises(ValueError, match=r"probabilities that sum to 0\.9 in round 4"):
        bandit.decide()
    with pytest.raises(ValueError, match=r"probabilities that sum to 0\.9 in round 4"):
        bandit.decide_many(n=2)


def test_a_silent_action_keeps_its_floor() -> None:
    learner = Limited(LinUCB(schedule=FixedBatch(50)), floor=0.05)
    bandit, rng = Bandit(["fine", "mute"], learner=learner, features=["x"], seed=2), random.Random(2)
    n_left_out = 0
    for _ in range(2000):
        decision = bandit.decide([rng.random()])
        if decision.action == "fine":
            bandit.reward(decision.event_id, rng.random())
        n_left_out += isinstance(unlimited(bandit._live.engine.playing.policy), WithoutSilent)
        assert decision.distribution is not None
        assert min(decision.distribution) >= 0.05
    assert n_left_out > 1000
    assert decision.distribution is not None
    assert decision.distribution[1] == 0.05
