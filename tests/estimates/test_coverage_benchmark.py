"""The cases of `python -m benchmarks.misspecification`: b is right, and what is counted is counted."""

from __future__ import annotations

import pytest
from benchmarks.misspecification import CASES, Case, coverage, one_scale

from gyrfalcon.estimates.misspecification.estimate import misspecification_estimate


def case_named(name: str, n_features: int) -> Case:
    return next(case for case in CASES if (case.name, case.n_features) == (name, n_features))


def test_b_of_a_step_and_of_linear_means() -> None:
    assert case_named("step", 1).b() == pytest.approx(1 / 32, rel=0.01)
    assert case_named("linear", 6).b() < 1e-20


def test_three_intervals_of_each_log_are_compared_with_b() -> None:
    case = case_named("step", 1)
    found = coverage(case, 6)
    logs = [case.log(seed) for seed in range(6)]
    now, before = [misspecification_estimate(log, 2, method="one_step") for log in logs], map(one_scale, logs)
    assert found.bound == sum(one.lower <= found.b <= one.upper for one in now) / 6
    assert found.lower == pytest.approx(sum(one.lower for one in now) / 6)
    assert found.one_scale_lower == pytest.approx(sum(one.lower for one in before) / 6)
    assert found.one_scale < found.bound
