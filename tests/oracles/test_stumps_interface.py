from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from gyrfalcon.oracles.stump_hull.regressor import StumpHull
from tests.oracles.stump_samples import Sample, sample

# scikit-learn's conventions.


def test_settings_are_kept_and_cloned() -> None:
    hull = sample(20, 2).fit(2.0, tolerance=1e-6, max_iter=7, fit_intercept=False, warm_start=True)
    copy = clone(hull)
    assert copy.get_params() == hull.get_params()
    assert not hasattr(copy, "weights_")
    assert copy.set_params(budget=3.0, max_iter=9) is copy
    assert repr(copy) == (
        "StumpHull(budget=3.0, fit_intercept=False, tolerance=1e-06, max_iter=9, warm_start=True)"
    )
    with pytest.raises(ValueError, match="'depth' is no setting of StumpHull; the settings are budget, "):
        copy.set_params(budget=4.0, depth=2)
    assert copy.budget == 3.0


def test_a_fit_survives_pickling() -> None:
    data = sample(20, 2)
    hull = data.fit(2.0)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(hull)).predict(data.x), hull.predict(data.x))


# Warm starts.


@pytest.mark.parametrize("budget", [0.5, 2.0, 6.0])
def test_a_warm_start_saves_corrections_and_changes_nothing_else(budget: float) -> None:
    data = sample(300, 3)
    warm, cold_total, warm_total = StumpHull(budget=budget, warm_start=True), 0, 0
    for multiplier in [1.0, 1.5, 1.4, 1.45, 1.45]:
        w = data.w * np.where(np.arange(300) < 60, multiplier, 1.0)
        warm.fit(data.x, data.y, w)
        cold = Sample(data.x, data.y, w).fit(budget)
        assert warm.converged_
        assert warm.n_iter_ <= cold.n_iter_
        np.testing.assert_allclose(warm.predict(data.x), cold.predict(data.x), atol=1e-5)
        cold_total, warm_total = cold_total + cold.n_iter_, warm_total + warm.n_iter_
    assert warm.n_iter_ == 0
    assert warm_total < 0.6 * cold_total


def test_a_warm_start_sorts_the_same_rows_once_and_notices_others() -> None:
    data, other = sample(60, 3), sample(60, 3, seed=1)
    x = data.x.copy()
    hull = StumpHull(budget=2.0, warm_start=True).fit(x, data.y)
    sorted_once = hull._cuts
    assert hull.fit(x, data.y, data.w)._cuts is sorted_once
    x[:] = other.x
    hull.fit(x, other.y, other.w)
    np.testing.assert_allclose(hull.predict(x), other.fit(2.0).predict(x), atol=1e-5)
    assert data.fit(2.0)._cuts is None


@pytest.mark.parametrize("budget", [0.0, 0.1, 5.0])
@pytest.mark.parametrize("p", [1, 2, 4])
def test_a_warm_start_may_come_from_another_task(p: int, budget: float) -> None:
    data = sample(50, p, seed=1)
    hull = sample(60, 2).fit(1.0, warm_start=True).set_params(budget=budget)
    hull.fit(data.x, data.y, data.w)
    assert hull.converged_
    assert np.abs(hull.weights_).sum() <= budget * (1.0 + 1e-9)
    np.testing.assert_allclose(hull.predict(data.x), data.fit(budget).predict(data.x), atol=1e-5)


# Refusals.


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": [[0.0], [np.nan]]}, "X holds nan; give finite numbers."),
        ({"X": [0.0, 1.0]}, r"X has shape \(2,\); give rows and columns"),
        ({"X": np.zeros((0, 1))}, "X has 0 rows; give at least 1"),
        ({"y": [0.0, np.inf]}, "y holds inf; give finite numbers."),
        ({"y": [0.0]}, r"y has shape \(1,\); give one number for each of 2 rows."),
        ({"sample_weight": [1.0, -0.5]}, "sample_weight holds -0.5; give weights of at least 0."),
        ({"sample_weight": [0.0, 0.0]}, "sample_weight is 0 for every row; give at least one"),
        ({"sample_weight": [[1.0, 1.0]]}, r"sample_weight has shape \(1, 2\); give one number"),
    ],
)
def test_bad_rows_are_refused_and_the_fit_stays(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"X": [[0.0], [1.0]], "y": [0.0, 1.0], "sample_weight": [1.0, 1.0]}
    hull = StumpHull().fit(**arguments)
    before = vars(hull).copy()
    with pytest.raises(ValueError, match=message):
        hull.fit(**(arguments | changes))
    assert vars(hull) == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"budget": -1.0}, "budget is -1.0; give a finite sum of absolute weights of at least 0."),
        ({"budget": np.inf}, "budget is inf; give a finite"),
        ({"tolerance": np.nan}, "tolerance is nan; give a share"),
        ({"max_iter": -1}, "max_iter is -1; give a number of corrections"),
    ],
)
def test_bad_settings_are_refused_when_they_are_used(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StumpHull(**changes).fit([[0.0]], [1.0])


def test_prediction_needs_a_fit_and_its_columns() -> None:
    with pytest.raises(ValueError, match="This StumpHull has no fit yet; call fit"):
        StumpHull().predict([[0.0]])
    hull = StumpHull().fit([[0.0, 1.0]], [1.0])
    with pytest.raises(ValueError, match="X has 1 columns; give the 2 columns of the fit"):
        hull.predict([[0.0]])
    with pytest.raises(ValueError, match="X holds nan; give finite numbers"):
        hull.predict([[0.0, np.nan]])
