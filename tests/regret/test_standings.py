"""Paired differences, their errors, and who won: against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest
from benchmarks.regret.standings import by_contestant, differences, mean_reward, paired, standing

from tests.regret.players import result

BASE = [result("base", "a", seed, reward) for seed, reward in enumerate((0.5, 0.7, 0.6))]
BETTER = [result("better", "a", seed, reward) for seed, reward in enumerate((0.6, 0.9, 0.9))]
TABLE = by_contestant([*BASE, *BETTER])


def test_a_difference_is_paired_over_seeds() -> None:
    difference = paired(TABLE["better"]["a"], TABLE["base"]["a"])
    assert difference is not None
    # Differences are .1, .2 and .3: mean .2, deviation .1.
    assert difference.mean == pytest.approx(0.2)
    assert difference.standard_error == pytest.approx(0.1 / math.sqrt(3))
    assert (difference.n_seeds, difference.verdict) == (3, "win")


def test_other_rounds_are_not_paired() -> None:
    table = by_contestant(
        [*BASE, result("other", "a", 0, 0.9, rounds="others"), result("other", "a", 1, 0.8)]
    )
    difference = paired(table["other"]["a"], table["base"]["a"])
    assert difference is not None
    assert difference.n_seeds == 1
    assert difference.mean == pytest.approx(0.1)
    assert math.isnan(difference.standard_error)
    assert difference.verdict == "tie"
    assert paired({0: table["other"]["a"][0]}, table["base"]["a"]) is None


@pytest.mark.parametrize(
    ("rewards", "verdict"),
    [((0.4, 0.5, 0.3), "loss"), ((0.9, 0.5, 0.6), "tie"), ((0.5, 0.7, 0.6), "tie"), ((0.6, 0.8, 0.7), "win")],
)
def test_verdicts_need_two_standard_errors(rewards: tuple[float, ...], verdict: str) -> None:
    own = by_contestant([result("own", "a", seed, reward) for seed, reward in enumerate(rewards)])
    difference = paired(own["own"]["a"], TABLE["base"]["a"])
    assert difference is not None
    assert difference.verdict == verdict


def test_a_standing_is_over_environments_and_its_error_over_seeds() -> None:
    second = [result("base", "b", 0, 0.2), result("base", "b", 1, 0.2)]
    theirs = [result("better", "b", 0, 0.1, seconds=3.0), result("better", "b", 1, 0.2, seconds=3.0)]
    table = by_contestant([*BASE, *BETTER, *second, *theirs])
    there = standing(table, "better", ["a", "b"], "base")
    assert there is not None
    # Seeds 0 and 1 have both environments: (.1 - .1)/2 = 0 and (.2 + 0)/2 = .1, so mean .05 and error .05.
    assert there.difference.mean == pytest.approx(0.05)
    assert there.difference.standard_error == pytest.approx(0.05)
    assert there.means["reward"] == pytest.approx((0.8 + 0.15) / 2)
    assert there.seconds == pytest.approx(2.0)
    assert there.verdicts == {"win": 1, "tie": 1, "loss": 0}


def test_who_has_not_played_everywhere_has_no_standing() -> None:
    assert standing(TABLE, "better", ["a", "b"], "base") is None
    assert standing(TABLE, "nobody", ["a"], "base") is None
    assert mean_reward(TABLE, "better", "b") is None


def test_a_standing_without_the_baseline_has_no_difference() -> None:
    there = standing(TABLE, "better", ["a"], "nobody")
    assert there is not None
    assert math.isnan(there.difference.mean)
    assert sum(there.verdicts.values()) == 0


def test_the_baseline_is_not_compared_with_itself() -> None:
    assert list(differences(TABLE, "base")) == ["better"]
