from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Ints
from gyrfalcon.evaluation.intervals.adaptive_weights import past_means
from gyrfalcon.evaluation.rows.evaluated_rows import evaluated_rows
from gyrfalcon.evaluation.rows.weighting import TargetWeights, epochs_of, expected_proxies
from gyrfalcon.evaluation.verdict.diagnostics import WeightDiagnostics, action_calibration, tail_share
from tests.evaluation.logs import log_of

SHARES = np.array([0.5, 0.3, 0.2])


def test_weights_and_proxies_by_hand() -> None:
    rows = evaluated_rows(log_of(4, propensities=SHARES))
    target = np.tile([0.0, 0.6, 0.4], (4, 1))
    weights = TargetWeights.of(target, rows)
    assert weights.weights.tolist() == pytest.approx([[0.0, 2.0, 2.0][a] for a in rows.table.action])
    assert weights.proxies.tolist() == pytest.approx([0.36 / 0.3 + 0.16 / 0.2] * 4)
    assert weights.exact.all()
    assert weights.unsupported.tolist() == [0.0] * 4


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(0, 1000))
def test_an_expected_proxy_depends_on_earlier_rows_alone(epochs: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    proxies, epoch = random.uniform(1.0, 9.0, len(epochs)), np.array(epochs)
    row = int(random.integers(len(epochs)))
    changed = proxies.copy()
    changed[row:] = random.uniform(1.0, 9.0, len(epochs) - row)
    for numbers in (epoch, None):
        before, after = (expected_proxies(column, numbers, 3.0) for column in (proxies, changed))
        assert np.array_equal(before[: row + 1], after[: row + 1])
        assert before.min() >= 1.0 - 1e-12
        assert before.max() <= 9.0 + 1e-12


def test_with_known_policies_the_proxies_near_their_means_over_all_earlier_contexts() -> None:
    random = np.random.default_rng(1)
    n = 400
    proxies = random.uniform(1.0, 9.0, (4, n))
    epochs = np.repeat(np.arange(4), n // 4)

    def under(epoch: int, places: Ints) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        column: np.ndarray[tuple[int], np.dtype[np.float64]] = proxies[epoch, places]
        return column

    own = proxies[epochs, np.arange(n)]
    exact, ours = past_means(proxies, epochs), expected_proxies(own, epochs, 3.0, under)
    assert np.abs(ours[200:] / exact[200:] - 1.0).max() < 0.05
    without = expected_proxies(own, epochs, 3.0, lambda *_: None)
    assert np.array_equal(without, expected_proxies(own, epochs, 3.0))


def test_diagnostics_by_hand() -> None:
    table = log_of(1000, propensities=SHARES)
    rows = evaluated_rows(table)
    always_green = np.tile([0.0, 0.0, 1.0], (1000, 1))
    found = WeightDiagnostics.of(TargetWeights.of(always_green, rows), rows)
    n_green = int((table.action == 2).sum())
    assert found.n_matching == n_green
    assert found.mean_weight == pytest.approx(5.0 * n_green / 1000)
    assert found.mean_weight_error == pytest.approx(np.sqrt(4.0 / 1000))
    assert found.expected_rows == pytest.approx(200.0)
    assert found.effective_rows == pytest.approx(n_green)
    assert found.drawn_share == pytest.approx(n_green / 200)
    assert found.largest_share == pytest.approx(1 / n_green)
    # MinVar weights make rows of small variance count more.
    rates = np.where(np.arange(1000) < 500, 1.0, 1e-6)
    half = WeightDiagnostics.of(TargetWeights.of(always_green, rows), rows, rates)
    assert half.expected_rows == pytest.approx(100.0, rel=1e-3)


def test_calibration_counts_draws_against_propensities() -> None:
    fair = action_calibration(evaluated_rows(log_of(3000, seed=1, propensities=SHARES)))
    assert max(abs(one.z) for one in fair) < 3.0
    table = log_of(3000, seed=1, propensities=SHARES)
    wrong = np.tile([0.4, 0.4, 0.2], (3000, 1))
    lying = replace(table, distribution=wrong, propensity=wrong[0][table.action])
    assert max(abs(one.z) for one in action_calibration(evaluated_rows(lying))) > 8.0


def test_the_share_of_the_row_with_most_influence() -> None:
    assert tail_share(np.array([1.0, 1.0, 1.0, 1.0])) == 0.25
    assert tail_share(np.array([0.0, 3.0, 1.0])) == 0.9
    assert tail_share(np.zeros(3)) == 0.0


def test_planned_uniform_rows_are_a_policy_of_their_own_and_a_coins_are_not() -> None:
    table = log_of(6, propensities=np.array([0.5, 0.3, 0.2]), epoch=np.array([4, 4, 4, 9, 9, 9]))
    passive = np.array([False, False, True, False, True, False])
    assert table.distribution is not None
    tail = table.distribution.copy()
    tail[2] = 1 / 3
    propensity = tail[np.arange(6), table.action]
    rows = evaluated_rows(replace(table, passive=passive, distribution=tail, propensity=propensity))
    # In the second epoch a coin decided: its passive row has the distribution of both outcomes.
    assert epochs_of(rows).tolist() == [0, 0, 1, 2, 2, 2]  # type: ignore[union-attr]
    assert epochs_of(evaluated_rows(replace(table, epoch=None))) is None
