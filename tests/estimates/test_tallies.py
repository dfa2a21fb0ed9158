from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gyrfalcon.core.arrays import Floats
from gyrfalcon.estimates.tally import Tally

columns = arrays(
    np.float64, st.tuples(st.integers(1, 3), st.integers(2, 30)), elements=st.floats(-50.0, 50.0)
)


@given(columns, st.integers(1, 30))
def test_blocks_add_up_to_all_rows(rows: Floats, cut: int) -> None:
    whole = Tally.of(rows)
    parts = Tally.empty(len(rows)) + Tally.of(rows[:, :cut]) + Tally.of(rows[:, cut:])
    assert parts.count == whole.count == rows.shape[1]
    np.testing.assert_allclose(parts.mean, whole.mean, atol=1e-12)
    np.testing.assert_allclose(parts.standard_error, whole.standard_error, rtol=1e-6, atol=1e-6)


@given(columns)
def test_means_and_standard_errors_are_the_samples(rows: Floats) -> None:
    tally, n = Tally.of(rows), rows.shape[1]
    np.testing.assert_allclose(tally.mean, rows.mean(axis=1), atol=1e-12)
    expected = rows.std(axis=1, ddof=1) / math.sqrt(n)
    # Sums of squares keep about half the digits of a scatter that is small beside the mean.
    np.testing.assert_allclose(tally.standard_error, expected, rtol=1e-6, atol=3e-6)


def test_forgetting_weighs_early_rows_less() -> None:
    early, late = np.array([1.0, 2.0, 3.0]), np.array([5.0, 7.0])
    tally = Tally.of(early).scaled(0.25) + Tally.of(late)
    weights = np.array([0.25] * 3 + [1.0] * 2)
    values = np.concatenate([early, late])
    mean = np.average(values, weights=weights)
    assert tally.mean == pytest.approx(mean)
    n = weights.sum() ** 2 / (weights**2).sum()
    assert tally.n_effective == pytest.approx(n)
    variance = np.average((values - mean) ** 2, weights=weights)
    assert tally.standard_error == pytest.approx(math.sqrt(variance / (n - 1.0)))


def test_scaling_all_rows_alike_changes_nothing_but_the_count() -> None:
    tally = Tally.of(np.array([1.0, 2.0, 4.0]))
    scaled = tally.scaled(0.1)
    assert scaled.count == pytest.approx(0.3)
    for name in ("mean", "standard_error", "z", "n_effective"):
        assert getattr(scaled, name) == pytest.approx(getattr(tally, name))


def test_all_forgotten_is_no_rows() -> None:
    for tally in (Tally.of(np.array([1.0, 2.0])).scaled(0.0), Tally.empty(), Tally.of(np.empty(0))):
        assert (tally.n_effective, float(tally.mean), float(tally.z)) == (0.0, 0.0, 0.0)
        assert float(tally.standard_error) == math.inf


def test_one_row_has_a_mean_and_no_certainty() -> None:
    tally = Tally.of(np.array([[3.0], [0.0]]))
    assert tally.mean.tolist() == [3.0, 0.0]
    assert tally.standard_error.tolist() == [math.inf, math.inf]
    assert tally.z.tolist() == [0.0, 0.0]


def test_gains_without_scatter_are_certain() -> None:
    tally = Tally.of(np.array([[0.1] * 7, [-0.1] * 7, [0.0] * 7]))
    assert tally.standard_error.tolist() == [0.0, 0.0, 0.0]
    assert tally.z.tolist() == [math.inf, -math.inf, 0.0]


def test_refusals() -> None:
    tally = Tally.of(np.zeros((2, 4)))
    with pytest.raises(ValueError, match=r"tallies have shapes \(2,\) and \(\)"):
        tally + Tally.of(np.zeros(4))
    with pytest.raises(ValueError, match="factor is -1"):
        tally.scaled(-1.0)
