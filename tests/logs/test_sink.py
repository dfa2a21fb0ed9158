"""Lines that a bandit hands to its log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gyrfalcon import Bandit
from gyrfalcon.bandit import LogFolder, audit_decision_log, compact_decision_log
from gyrfalcon.engine.fingerprint import fingerprint
from tests.bandit.helpers import Clock
from tests.logs.helpers import close, line_files, played, rows_by_id


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


def test_headers_and_parquet_files_name_the_versions_that_decided(tmp_path: Path) -> None:
    """Before, an audit on another machine could not tell a fault from another BLAS."""
    import pyarrow.parquet

    bandit = played(LogFolder(tmp_path, max_bytes=4096), 60)
    close(bandit)
    expected = fingerprint().to_dict()
    for path in line_files(tmp_path):
        header = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
        assert header["fingerprint"] == expected
    compact_decision_log(tmp_path)
    files = sorted(tmp_path.glob("*.parquet"))
    assert len(files) > 1
    for path in files:
        metadata = pyarrow.parquet.read_schema(path).metadata
        assert json.loads(metadata[b"gyrfalcon.log.fingerprint"]) == expected
    assert {"gyrfalcon", "numpy", "scipy", "blas"} <= set(expected)
    assert audit_decision_log(tmp_path).passed
