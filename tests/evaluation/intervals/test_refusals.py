"""Refused input of intervals: the message has the value, the row and the remedy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.evaluation.intervals.adaptive_weights import (
    min_var_weights,
    past_means,
    two_point_allocation,
    variance_proxies,
    weighted_interval,
)
from gyrfalcon.evaluation.intervals.bootstrap import bootstrap_interval
from gyrfalcon.evaluation.intervals.empirical_bernstein import empirical_bernstein_interval
from gyrfalcon.evaluation.intervals.normal import normal_interval
from gyrfalcon.evaluation.intervals.sequences.bernstein_sequence import bernstein_sequence
from gyrfalcon.evaluation.intervals.sequences.betting import betting_sequence

BOUNDED = pytest.mark.parametrize(
    "method", [empirical_bernstein_interval, betting_sequence, bernstein_sequence]
)
UNBOUNDED = pytest.mark.parametrize("method", [normal_interval, bootstrap_interval])


@BOUNDED
def test_contributions_outside_of_their_bounds_are_refused(method: Callable[..., object]) -> None:
    column = np.array([0.0, 0.5, 3.5, -1.0])
    with pytest.raises(
        ValueError,
        match=r"row 2: contributions is 3.5, outside of the bounds \[0, 1\], as are 2 of 4.*give bounds",
    ):
        method(column, (0.0, 1.0))


@BOUNDED
@pytest.mark.parametrize("bounds", [(1.0, 0.0), (0.0, np.inf), (0.0, 0.0), (0.0,), 1.0, ("0", "1")])
def test_wrong_bounds_are_refused(method: Callable[..., object], bounds: object) -> None:
    with pytest.raises(ValueError, match=r"bounds is .*; give"):
        method(np.zeros(3), bounds)


@BOUNDED
def test_contributions_outside_by_rounding_are_accepted(method: Callable[..., object]) -> None:
    method(np.array([1.0 + 1e-15, -1e-15, 0.3]), (0.0, 1.0))


@UNBOUNDED
@pytest.mark.parametrize("level", [0.0, 1.0, 95, -0.1, np.nan, "0.95", True])
def test_levels_outside_of_0_and_1_are_refused(method: Callable[..., object], level: object) -> None:
    with pytest.raises(ValueError, match=r"level is .*; give a number in \(0, 1\), for example 0.95"):
        method(np.zeros(3), level)


@UNBOUNDED
def test_rows_that_are_not_finite_or_too_few_are_refused(method: Callable[..., object]) -> None:
    with pytest.raises(ValueError, match="row 1: contributions is nan, and 2 of 3 rows are not finite"):
        method(np.array([0.0, np.nan, np.inf]))
    with pytest.raises(ValueError, match="contributions has 1 rows, and this interval needs at least 2"):
        method(np.zeros(1))
    with pytest.raises(ValueError, match=r"contributions has shape \(2, 2\); give one number per row"):
        method(np.zeros((2, 2)))


@pytest.mark.parametrize(
    "settings", [{"resolution": 0}, {"resolution": 1.5}, {"largest_loss": 0.0}, {"largest_loss": 1.0}]
)
def test_wrong_settings_are_refused(settings: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(settings))} is"):
        betting_sequence(np.zeros(3), (0.0, 1.0), **settings)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 0.0, 1.0], "row 1: weights is 0; give positive numbers"),
        ([1.0, 1.0], "there are 3 contributions and 2 weights"),
        ([1.0, np.inf, 1.0], "row 1: weights is inf"),
    ],
)
def test_wrong_weights_are_refused(weights: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        weighted_interval(np.zeros(3), np.array(weights))


def test_actions_without_propensity_are_refused_only_where_the_target_takes_them() -> None:
    propensities: Floats = np.array([[0.5, 0.5], [1.0, 0.0]])
    assert variance_proxies(np.array([[0.5, 0.5], [1.0, 0.0]]), propensities).tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="row 1: action 1 has no positive propensity"):
        variance_proxies(np.full((2, 2), 0.5), propensities)
    with pytest.raises(ValueError, match=r"target has shape \(2, 3\)"):
        variance_proxies(np.full((2, 3), 0.5), propensities)


def test_wrong_proxies_epochs_and_decays_are_refused() -> None:
    with pytest.raises(ValueError, match="row 0: proxies is -1; give positive"):
        min_var_weights(np.array([-1.0, 1.0]))
    with pytest.raises(ValueError, match="epoch must be 3 whole numbers from 0 to 1"):
        past_means(np.ones((2, 3)), np.array([0, 1, 2]))
    with pytest.raises(ValueError, match=r"decay is 1\.0"):
        two_point_allocation(np.ones(3), 1.0)
