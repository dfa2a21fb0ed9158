"""Lines that a bandit hands to its log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gyrfalcon import Bandit
from tests.bandit.helpers import Clock
from tests.logs.helpers import rows_by_id


def test_rewards_that_a_change_of_rules_makes_final_are_in_the_log(tmp_path: Path) -> None:
    bandit = Bandit(["a", "b"], seed=1, log=tmp_path, clock=Clock(), reward_timeout=60)
    first, second = (bandit.decide().event_id for _ in range(2))
    bandit.reward(first, 0.25)
    assert rows_by_id(tmp_path)[first]["outcome"] == "open"
    bandit.change_rules(reward_timeout=None)
    rows = rows_by_id(tmp_path)
    assert (rows[first]["outcome"], rows[first]["reward"]) == ("final", 0.25)
    assert rows[second]["outcome"] == "open"


def test_a_function_gets_every_line_and_no_seed() -> None:
    lines: list[dict[str, Any]] = []
    bandit = Bandit(["a", "b"], features=1, seed=1, log=lines.append)
    decision = bandit.decide([0.5])
    bandit.reward(decision.event_id, 1.0)
    bandit.add_actions(["c"])
    assert [line["kind"] for line in lines] == ["problem", "decided", "final", "problem"]
    assert lines[0]["seed"] is None
    assert (lines[1]["model"], lines[1]["distribution"]) == (decision.model, [0.5, 0.5])
    assert lines[-1]["actions"] == ["a", "b", "c"]


def test_the_same_policy_has_the_same_hash_in_any_bandit_and_another_one_after_a_refit() -> None:
    one, other = (Bandit(["a", "b"], features=1, seed=seed) for seed in (1, 2))
    first = one.decide([0.5]).model
    assert first == other.decide([0.1]).model
    for _ in range(100):
        one.reward(one.decide([0.5]).event_id, 1.0)
    assert one.decide([0.5]).model != first
