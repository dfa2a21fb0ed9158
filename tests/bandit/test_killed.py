"""A process that plays, saves and logs is killed at any moment: what it saved and logged is whole."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from gyrfalcon import Bandit
from gyrfalcon.bandit import read_decision_log
from tests.bandit.helpers import check_books
from tests.processes import started

PLAYER = """
import random, sys
from pathlib import Path
from gyrfalcon import Bandit, EpsilonFalcon, FixedBatch
path, log, seed = sys.argv[1:]
rng = random.Random(int(seed))
if Path(path).exists():
    bandit = Bandit.load(path, log=log)
else:
    learner = EpsilonFalcon(schedule=FixedBatch(25))
    bandit = Bandit(["a", "b"], learner=learner, features=["x"], refit="background", log=log)
    bandit.save(path)
given = []
while True:
    given += bandit.decide_many({"x": [rng.random(), rng.random()]}).event_id
    given.append(bandit.decide({"x": rng.random()}).event_id)
    for event_id in rng.sample(given, k=min(2, len(given))):
        given.remove(event_id)
        if rng.random() < 0.1:
            bandit.withdraw(event_id)
        else:
            bandit.reward(event_id, rng.random())
    if rng.random() < 0.02:
        bandit.add_actions([str(rng.random())])
        if len(bandit.problem.actions) > 5:
            bandit.retire_actions(bandit.problem.actions[:2])
    if rng.random() < 0.3:
        bandit.save(path)
    print(len(given), flush=True)
"""


def lines_of(folder: Path) -> list[dict[str, object]]:
    """Whole lines of all files; what a kill has cut off stands after the last line break."""
    return [
        json.loads(line)
        for file in sorted(folder.glob("*.jsonl"))
        for line in file.read_bytes().split(b"\n")[:-1]
    ]


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_bandit_killed_at_any_moment_goes_on_from_what_was_saved(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    path, log = tmp_path / "bandit", tmp_path / "log"
    n_decided, n_runs = 0, 4 if seed == 1 else 25
    for run in range(n_runs):
        command = [sys.executable, "-c", PLAYER, str(path), str(log), str(run)]
        with started(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in range(rng.randint(1, 60)):  # and then at any instruction of the next round
                assert process.stdout.readline()
            process.kill()
        bandit = Bandit.load(path)
        check_books(bandit)
        status = bandit.status()
        assert status.n_decided >= n_decided  # what was saved before is still there
        n_decided = status.n_decided
        lines = lines_of(log)
        times = Counter(str(line["event_id"]) for line in lines if line["kind"] == "decided")
        assert max(times.values()) == 1, "an id was given out twice"
        engine = bandit._live.engine
        saved = {*engine.ledger.live, *engine.ledger.ended}
        assert saved <= times.keys()  # a decision is logged before it can be saved
        ends = Counter(str(line["event_id"]) for line in lines if line["kind"] in ("final", "withdrawn"))
        assert set(ends) <= times.keys()
        decisions = read_decision_log(log)
        assert len(decisions) == len(times)
        assert {line["outcome"] for line in decisions.rows} <= {"open", "final", "withdrawn"}
        waiting = [
            one for one, row in engine.ledger.live.items() if engine.ledger.table.event(row).is_waiting
        ]
        bandit.reward_many(dict.fromkeys(waiting, 0.5))
        bandit.wait()
        check_books(bandit)
    bandit.save(path)
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["bandit"]  # no leftovers
