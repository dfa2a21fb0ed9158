"""Audits: every decision of every kind of policy is computed again, and no change of a log goes unnoticed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gyrfalcon import Bandit
from gyrfalcon.bandit import LogFolder, audit_decision_log, compact_decision_log, read_decision_log
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.storage import files
from tests.bandit.helpers import Clock
from tests.contracts.learners import PLAIN
from tests.contracts.throwaway import Advice, Always, ExponentialWeights
from tests.logs.helpers import close, edit, line_files, play, played

OFTEN = (
    *("epsilon-falcon calibrated", "epsilon-falcon coin", "adaptive-falcon", "adaptive-falcon tail"),
    *("master", "lints", "regcb elimination", "epsilon-falcon tree", "explore-first refit", "uniform"),
)
CASES = [pytest.param(name, marks=[] if name in OFTEN else pytest.mark.long) for name in PLAIN]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CASES)
def test_every_decision_is_computed_again_bit_for_bit(name: str, tmp_path: Path) -> None:
    n = 250
    bandit = played(tmp_path, n, actions=[f"action {place}" for place in range(3)], learner=PLAIN[name])
    assert bandit.decide([0.5, 0.5]).model is not None or name in {"exponential weights", "forest", "gate"}
    report = audit_decision_log(tmp_path)
    assert report.passed
    if name not in {"exponential weights", "forest", "gate"}:
        assert (report.n_decisions, report.n_equal) == (n + 1, n + 1)
        assert not report.not_recomputable


def test_refits_in_the_background_restarts_and_changes_of_actions_are_computed_again(tmp_path: Path) -> None:
    log, file = tmp_path / "log", tmp_path / "bandit"
    bandit = played(log, 100, refit="background", learner=EpsilonFalcon(schedule=FixedBatch(30)))
    bandit.add_actions(["d"])
    bandit.wait()
    play(bandit, 60)
    bandit.retire_actions(["b"])
    bandit.save(file)
    play(bandit, 40)
    for seed in (1, 2):
        play(Bandit.load(file, log=log, clock=Clock()), 45, seed)
    report = audit_decision_log(log)
    assert report.passed
    assert report.n_equal == report.n_decisions == 100 + 60 + 40 + 2 * 45
    assert bandit.epoch.index > 3


def test_a_policy_is_written_once_for_its_owner_alone_and_without_the_learners_state(tmp_path: Path) -> None:
    bandit = played(tmp_path, 300)
    written = list((tmp_path / "policies").iterdir())
    assert len(written) == bandit.status().n_refits + 1
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in written)
    model = bandit.decide([0.0, 0.0]).model
    rule = files.load(tmp_path / "policies" / f"{model}.gyrfalcon")
    assert (rule.epoch.state, rule.epoch.report) == (None, None)
    assert bandit.epoch.state is not None
    before = {path: path.stat().st_mtime_ns for path in written}
    again = Bandit(["a", "b", "c"], features=2, seed=1, log=tmp_path, clock=Clock())
    play(again, 300, 1)
    assert {path: path.stat().st_mtime_ns for path in written} == before


def test_actions_that_are_left_out_as_silent_are_in_the_log(tmp_path: Path) -> None:
    bandit = Bandit(["a", "b", "c"], learner=LinUCB(), features=1, seed=1, log=tmp_path)
    rng = np.random.default_rng(1)
    for x in rng.normal(size=(600, 1)):
        decision = bandit.decide(x)
        if decision.action != "c":
            bandit.reward(decision.event_id, 1.0)
    silent = [row for row in read_decision_log(tmp_path).rows if row["silent"]]
    assert silent
    assert all(row["silent"] == ["c"] for row in silent)
    report = audit_decision_log(tmp_path)
    assert report.passed
    assert report.n_equal == 600
    victim = edit(tmp_path, lambda line: line.update(silent=None), number=int(silent[5]["round"]) + 1)
    assert {one.event_id for one in audit_decision_log(tmp_path).differences} == {victim}


def test_features_of_actions_and_labels_that_are_no_text_are_computed_again(tmp_path: Path) -> None:
    bandit = Bandit(
        [1, "1", ("x", 2), None],
        features=["hour"],
        action_features=["price", "red"],
        learner=LinUCB(model_class=Linear(layout="shared"), schedule=FixedBatch(20)),
        seed=3,
        log=LogFolder(tmp_path, max_bytes=20_000),
    )
    rng = np.random.default_rng(2)
    for step in range(90):
        eligible = None if step % 2 else [1, ("x", 2), None]
        decision = bandit.decide([step % 24], actions=rng.random((4, 2)), eligible=eligible)
        bandit.reward(decision.event_id, float(rng.random()))
    before = read_decision_log(tmp_path)
    close(bandit)
    assert audit_decision_log(tmp_path).n_equal == 90
    compact_decision_log(tmp_path)
    assert not line_files(tmp_path)
    assert read_decision_log(tmp_path) == before
    assert audit_decision_log(tmp_path).n_equal == 90
    assert {row["action"] for row in before.rows} <= {1, "1", "('x', 2)", None}
    assert set(before.rows[0]["action_features"][0]) == {"price", "red"}
    assert len(before.rows[0]["action_features"]) == len(before.rows[0]["eligible"]) == 3


def test_a_policy_of_ones_own_class_is_stored_when_the_class_is_named(tmp_path: Path) -> None:
    learner: Learner = ExponentialWeights()
    unnamed, named = tmp_path / "unnamed", tmp_path / "named"
    assert played(unnamed, 30, learner=learner).decide([0.0, 0.0]).model is None
    lines = [json.loads(text) for path in line_files(unnamed) for text in path.read_text().splitlines()]
    reasons = [line["reason"] for line in lines if line["kind"] == "unstorable"]
    assert reasons
    assert "is not a known class" in reasons[0]
    report = audit_decision_log(unnamed)
    assert report.passed
    assert report.not_recomputable == {"their policy can't be stored": 31}
    classes = [Advice, Always, ExponentialWeights]
    played(LogFolder(named, classes=classes), 30, learner=learner)
    assert audit_decision_log(named, classes=classes).n_equal == 30
    assert not audit_decision_log(named).passed


def test_a_log_without_its_seed_is_audited_with_the_one_that_is_given(tmp_path: Path) -> None:
    played(LogFolder(tmp_path, keep_seed=False), 40, seed=5)
    assert b'"seed": 5' not in b"".join(path.read_bytes() for path in line_files(tmp_path))
    without = audit_decision_log(tmp_path)
    assert without.passed
    assert (without.n_equal, sum(without.not_recomputable.values())) == (0, 40)
    assert audit_decision_log(tmp_path, seed=5).n_equal == 40
    assert not audit_decision_log(tmp_path, seed=6).passed


def _half(line: dict[str, Any]) -> None:
    line["propensity"] = float(np.nextafter(line["propensity"], 2.0))


def _other_action(line: dict[str, Any]) -> None:
    line["action"] = next(label for label in ("a", "b", "c") if label != line["action"])
    line["eligible"] = None


def _nudged_context(line: dict[str, Any]) -> None:
    line["context"]["x0"] += 5.0


def _other_shares(line: dict[str, Any]) -> None:
    line["distribution"] = [0.5, 0.25, 0.25]


TAMPERED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "propensity": (_half, "propensity"),
    "action": (_other_action, "action"),
    "context": (_nudged_context, "distribution"),
    "distribution": (_other_shares, "distribution"),
    "round": (lambda line: line.update(epoch_round=39), "phase"),
    "phase": (lambda line: line.update(phase="passive"), "phase"),
}


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize("name", TAMPERED)
def test_a_changed_value_is_found_with_its_event(name: str, compacted: bool, tmp_path: Path) -> None:
    change, value = TAMPERED[name]
    bandit = played(tmp_path, 130, learner=EpsilonFalcon(schedule=FixedBatch(40), epsilon=0.25))
    assert audit_decision_log(tmp_path).n_equal == 130
    rows = read_decision_log(tmp_path).rows
    active = [row["epoch"] > 1 and row["phase"] == "policy" and len(row["eligible"]) == 3 for row in rows]
    victim = edit(tmp_path, change, number=active.index(True) + 1)
    if compacted:
        close(bandit)
        compact_decision_log(tmp_path)
    report = audit_decision_log(tmp_path)
    assert not report.passed
    assert report.n_different == 1
    assert (victim, value) in {(one.event_id, one.value) for one in report.differences}
    assert victim in str(report)
    assert json.loads(report.to_json())["n_different"] == 1


def test_an_event_id_that_was_changed_draws_another_action_in_the_end(tmp_path: Path) -> None:
    played(tmp_path, 60)
    found = []
    for number in range(1, 30):
        copy = tmp_path / str(number)
        shutil.copytree(tmp_path / "policies", copy / "policies")
        for path in line_files(tmp_path):
            shutil.copy(path, copy)
        edit(copy, lambda line: line.update(event_id="another"), number=number)
        found.append(not audit_decision_log(copy).passed)
    assert sum(found) > 10  # another uniform may well draw the same action


def test_other_faults_are_named(tmp_path: Path) -> None:
    played(tmp_path, 60)
    twice, lacking = edit(tmp_path, dict, number=9), edit(tmp_path, lambda line: line["context"].pop("x1"))
    heavy = edit(tmp_path, lambda line: line.update(distribution=[0.9, 0.9, 0.9]), number=10)
    dear = edit(tmp_path, lambda line: line.update(reward=17.0), kind="final", number=3)
    (path,) = line_files(tmp_path)
    (again,) = (
        text
        for text in path.read_text().splitlines()
        if json.loads(text)["kind"] == "decided" and json.loads(text)["event_id"] == twice
    )
    other = json.dumps({**json.loads(again), "sequence": 10**6})
    path.write_text(path.read_text() + other + "\n")
    report = audit_decision_log(tmp_path)
    assert not report.passed
    assert (report.duplicates, report.misfits) == ((twice,), (lacking,))
    assert (report.wrong_sums, report.out_of_range) == ((heavy,), (dear,))
    assert all(one in str(report) for one in (twice, lacking, heavy, dear))
    assert len(read_decision_log(tmp_path)) == 61


def test_a_last_line_that_was_cut_off_is_no_fault(tmp_path: Path) -> None:
    played(tmp_path, 40)
    (path,) = line_files(tmp_path)
    content = path.read_bytes()
    last = max(content[:-1].rfind(b'{"kind": "decided"'), 0)
    path.write_bytes(content[: last + 100])
    report = audit_decision_log(tmp_path)
    assert report.passed
    assert report.n_cut_off == 1
    assert report.n_equal == report.n_decisions == 39


def test_missing_and_altered_policies_are_named(tmp_path: Path) -> None:
    bandit = played(tmp_path, 200)
    last = bandit.decide([0.0, 0.0]).model
    assert last is not None
    policies = tmp_path / "policies"
    first, *_, other = sorted(path for path in policies.iterdir() if path.stem != last)
    shutil.copy(policies / f"{last}.gyrfalcon", other)
    first.unlink()
    report = audit_decision_log(tmp_path)
    assert not report.passed
    assert report.missing_policies == (first.stem,)
    assert report.altered_policies == (other.stem,)
    assert not report.differences
    assert 0 < report.n_equal < report.n_decisions
    (policies / f"{last}.gyrfalcon").write_bytes(b"nonsense")
    assert set(audit_decision_log(tmp_path).altered_policies) == {other.stem, last}


def test_decisions_wait_in_memory_while_a_file_is_in_the_way_of_policies(tmp_path: Path) -> None:
    (tmp_path / "policies").write_text("in the way")
    bandit = Bandit(["a", "b"], seed=1, log=tmp_path)
    with pytest.warns(RuntimeWarning, match="The decision log failed"):
        bandit.decide()
    assert len(read_decision_log(tmp_path)) == 0
    (tmp_path / "policies").unlink()
    bandit.decide()
    assert audit_decision_log(tmp_path).n_equal == 2
