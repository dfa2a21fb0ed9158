"""Standard errors by influence against the spread of estimates over simulated logs."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from gyrfalcon import evaluation as ev
from gyrfalcon.core.arrays import Floats
from tests.evaluation.estimators.direct import Rows
from tests.evaluation.estimators.test_point_estimates import all_estimates

N_LOGS, N_ROWS = 1000, 400


def simulated(rng: np.random.Generator) -> Rows:
    """Softmax play over three actions with mean rewards that the predictions only know in part."""
    x = rng.random(N_ROWS)
    means = np.stack([0.2 + 0.6 * x, 0.9 - 0.8 * x, np.full(N_ROWS, 0.5)], axis=1)
    play = np.exp(1.5 * np.stack([x, 0.3 + 0.0 * x, 1.0 - x], axis=1))
    play /= play.sum(axis=1, keepdims=True)
    actions = (rng.random((N_ROWS, 1)) > np.cumsum(play, axis=1)[:, :-1]).sum(axis=1)
    here = np.arange(N_ROWS), actions
    return Rows(
        rewards=(rng.random(N_ROWS) < means[here]) * 1.0,
        actions=actions,
        propensities=play[here],
        target=np.stack([0.6 * x, 1.0 - 0.8 * x, 0.2 * x], axis=1),
        predictions=0.3 + 0.4 * means,
    )


def with_contrast(rows: Rows) -> dict[str, ev.Estimate]:
    found = all_estimates(rows)
    uniform = np.full_like(rows.target, 1 / 3)
    baseline = ev.doubly_robust(rows.rewards, rows.actions, rows.propensities, uniform, rows.predictions)
    return {**found, "contrast": ev.contrast(found["dr"], baseline)}


@cache
def spreads() -> dict[str, tuple[Floats, Floats]]:
    """Values and standard errors of each estimator over all logs."""
    found = [with_contrast(simulated(np.random.default_rng([15, seed]))) for seed in range(N_LOGS)]
    return {
        name: (
            np.array([one[name].value for one in found]),
            np.array([one[name].standard_error for one in found]),
        )
        for name in found[0]
    }


@pytest.mark.parametrize(
    "name",
    [
        "dm",
        "ips",
        "clipped",
        "snips",
        "sub_gaussian_ips",
        "dr",
        "sndr",
        "switch",
        "dros",
        "sub_gaussian_dr",
        "contrast",
    ],
)
def test_standard_errors_are_those_of_the_estimates(name: str) -> None:
    """A ratio of variances from 1,000 logs has a deviation of 0.045: beyond 0.2 once in 100,000."""
    values, errors = spreads()[name]
    assert np.mean(errors**2) / np.var(values, ddof=1) == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize("name", ["ips", "snips", "dr", "sndr"])
def test_estimates_lie_within_two_errors_as_often_as_normal_ones(name: str) -> None:
    """The share within 1.96 errors of 1,000 has a deviation of 0.007 around 0.95: below 0.92 once in 10^5."""
    values, errors = spreads()[name]
    x = (np.arange(10_000) + 0.5) / 10_000
    means = np.stack([0.2 + 0.6 * x, 0.9 - 0.8 * x, np.full_like(x, 0.5)], axis=1)
    target = np.stack([0.6 * x, 1.0 - 0.8 * x, 0.2 * x], axis=1)
    value = float((target * means).sum(axis=1).mean())
    assert np.mean(np.abs(values - value) <= 1.96 * errors) > 0.92


def test_a_model_makes_dr_more_precise_than_ips() -> None:
    assert np.var(spreads()["dr"][0]) < 0.8 * np.var(spreads()["ips"][0])
