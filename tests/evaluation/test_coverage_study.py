"""Coverage of intervals and what verdicts notice, on logs that learners kept while they learned.

`python -m benchmarks.coverage_study` prints the same as tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from benchmarks.coverage_study.study import (
    ENVIRONMENTS,
    LEARNERS,
    LENGTHS,
    REWARD_RANGE,
    Found,
    study,
    targets,
)

from gyrfalcon import simulate
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation import evaluate
from gyrfalcon.logs import read_log, stored_policies

N_RUNS = 1_000


def share(flags: Iterable[bool]) -> float:
    return float(np.mean(list(flags)))


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_study_judges_as_evaluate_does(learner: str, tmp_path: Path) -> None:
    lengths = LENGTHS[learner][:1]
    found = list(study([3], learners=[learner], environments=["sinusoid"], lengths=lengths, n_jobs=1))
    environment = ENVIRONMENTS["sinusoid"]
    simulate(LEARNERS[learner], environment, LENGTHS[learner][-1], seed=3, keep_log=tmp_path / "log")
    table = read_log(tmp_path / "log").take(slice(0, LENGTHS[learner][0]))
    rules = targets(environment)

    def play(name: str, rows: DecisionTable) -> object:
        return rules[name](rows.contexts.shared)

    expected = evaluate(
        table,
        {name: partial(play, name) for name in rules},
        baseline=None,
        reward_range=REWARD_RANGE,
        logged_policies=stored_policies(tmp_path / "log"),
    )
    assert [one.target for one in found] == list(rules)
    for one in found:
        theirs = expected[one.target]
        assert one.verdict == theirs.verdict.level
        assert one.intervals["minvar"] == (theirs.interval.low, theirs.interval.high)
        assert theirs.sequence is not None
        assert one.sequence == (theirs.sequence.low, theirs.sequence.high)


@pytest.mark.long
@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_intervals_cover_and_verdicts_notice_misses(learner: str, environment: str) -> None:
    """Bars are for shares of 6,000 values from 1,000 logs."""
    found = list(study(range(N_RUNS), learners=[learner], environments=[environment], n_jobs=1))
    for n_rounds in LENGTHS[learner]:
        _check_cell([one for one in found if one.n_rounds == n_rounds], is_calibrated=learner == "calibrated")


def _check_cell(found: list[Found], *, is_calibrated: bool) -> None:
    assert share(one.is_held_at_all_times for one in found) >= 0.95
    trusted = [one for one in found if one.verdict == "trust"]
    if is_calibrated:
        assert 0.93 <= share(one.is_held("minvar") for one in found) <= 0.97
        assert len(trusted) >= 0.5 * len(found)
    if len(trusted) >= 300:
        assert share(one.is_held("minvar") for one in trusted) >= 0.93
    best = [one for one in found if one.target == "best"]
    if best[0].n_rounds == 10_000:  # nearly what is played, so that its values are good
        assert share(one.verdict == "do not trust" for one in best) <= 0.2
    missed = [one for one in found if one.is_bad_miss]
    if missed:
        assert share(one.verdict != "trust" for one in missed) >= 0.95
