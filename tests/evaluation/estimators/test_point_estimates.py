"""Values against known answers, against formulas in plain Python, and against each other at their limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gyrfalcon import evaluation as ev
from gyrfalcon.evaluation import Estimate
from tests.evaluation.estimators import direct
from tests.evaluation.estimators.direct import Rows, some_rows

FOUR = Rows(
    rewards=np.array([1.0, 0.0, 0.0, 1.0]),
    actions=np.array([0, 1, 0, 1]),
    propensities=np.array([0.5, 0.2, 0.8, 0.5]),
    target=np.tile([0.25, 0.75], (4, 1)),
    predictions=np.full((4, 2), 0.5),
)
limits = st.sampled_from([0.01, 0.5, 1.0, 3.0, 50.0])
shares = st.sampled_from([0.0, 0.01, 0.3, 0.9, 1.0])


def all_estimates(rows: Rows) -> dict[str, Estimate]:
    return {
        "dm": ev.direct_method(rows.target, rows.predictions),
        "ips": ev.inverse_propensity(*rows.log),
        "clipped": ev.clipped_inverse_propensity(*rows.log, max_weight=1.2),
        "snips": ev.self_normalised_inverse_propensity(*rows.log),
        "sub_gaussian_ips": ev.sub_gaussian_inverse_propensity(*rows.log, shrinkage=0.1),
        "dr": ev.doubly_robust(*rows.all),
        "sndr": ev.self_normalised_doubly_robust(*rows.all),
        "switch": ev.switch_doubly_robust(*rows.all, max_weight=1.2),
        "dros": ev.shrunk_doubly_robust(*rows.all, shrinkage=2.0),
        "sub_gaussian_dr": ev.sub_gaussian_doubly_robust(*rows.all, shrinkage=0.1),
    }


def test_known_values_of_four_rows() -> None:
    values = {name: estimate.value for name, estimate in all_estimates(FOUR).items()}
    assert values["ips"] == pytest.approx(0.5, rel=1e-12)
    assert values["snips"] == pytest.approx(0.32989691, abs=1e-8)
    assert values["dm"] == 0.5
    assert values["dr"] == pytest.approx(0.2421875, rel=1e-12)
    for max_weight in (2.0, 1.5):  # a weight of just 1.5 counts
        switch = ev.switch_doubly_robust(*FOUR.all, max_weight=max_weight)
        assert switch.value == pytest.approx(0.7109375, rel=1e-12)


def test_known_standard_errors_of_four_rows() -> None:
    found = all_estimates(FOUR)
    assert found["snips"].standard_error == pytest.approx(0.26920846, abs=1e-8)
    assert found["dr"].standard_error == pytest.approx(0.49365790, abs=1e-8)
    np.testing.assert_allclose(found["dr"].contributions, [0.75, -1.375, 0.34375, 1.25])


@given(some_rows)
def test_values_follow_the_formulas(rows: Rows) -> None:
    w = direct.weights(rows)
    assume(sum(w) > 0.0)
    values = {
        "dm": direct.value_dm(rows),
        "ips": direct.value_ips(rows, w),
        "clipped": direct.value_ips(rows, direct.clipped(w, 1.2)),
        "snips": direct.value_snips(rows, w),
        "sub_gaussian_ips": direct.value_ips(rows, direct.harmonic(w, 0.1)),
        "dr": direct.value_dr(rows, w),
        "sndr": direct.value_sndr(rows, w),
        "switch": direct.value_dr(rows, direct.switched(w, 1.2)),
        "dros": direct.value_dr(rows, direct.optimistic(w, 2.0)),
        "sub_gaussian_dr": direct.value_dr(rows, direct.harmonic(w, 0.1)),
    }
    found = {name: estimate.value for name, estimate in all_estimates(rows).items()}
    assert found == pytest.approx(values, rel=1e-9, abs=1e-9)


@given(some_rows, limits, shares)
def test_weights_follow_the_formulas_for_other_settings(rows: Rows, limit: float, share: float) -> None:
    w = direct.weights(rows)
    pairs = [
        (
            ev.clipped_inverse_propensity(*rows.log, max_weight=limit).value,
            direct.value_ips(rows, direct.clipped(w, limit)),
        ),
        (
            ev.switch_doubly_robust(*rows.all, max_weight=limit).value,
            direct.value_dr(rows, direct.switched(w, limit)),
        ),
        (
            ev.shrunk_doubly_robust(*rows.all, shrinkage=limit).value,
            direct.value_dr(rows, direct.optimistic(w, limit)),
        ),
        (
            ev.sub_gaussian_inverse_propensity(*rows.log, shrinkage=share).value,
            direct.value_ips(rows, direct.harmonic(w, share)),
        ),
        (
            ev.sub_gaussian_doubly_robust(*rows.all, shrinkage=share).value,
            direct.value_dr(rows, direct.harmonic(w, share)),
        ),
    ]
    for found, expected in pairs:
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(some_rows)
def test_influences_have_a_mean_of_zero_and_contributions_that_of_the_value(rows: Rows) -> None:
    assume(sum(direct.weights(rows)) > 0.0)
    for estimate in all_estimates(rows).values():
        assert estimate.influence.shape == rows.rewards.shape
        scale = float(np.abs(estimate.influence).max())
        assert abs(estimate.influence.mean()) <= 1e-12 * (scale + abs(estimate.value))
        assert estimate.contributions.mean() == pytest.approx(estimate.value, abs=1e-9)


@given(some_rows)
def test_the_standard_error_of_snips_follows_its_formula(rows: Rows) -> None:
    w = direct.weights(rows)
    assume(sum(w) > 0.0)
    found = ev.self_normalised_inverse_propensity(*rows.log).standard_error
    assert found == pytest.approx(direct.standard_error_of_snips(rows, w), rel=1e-9, abs=1e-9)


@given(some_rows)
def test_dr_is_dm_plus_ips_of_residuals(rows: Rows) -> None:
    residuals = rows.rewards - rows.predictions[np.arange(len(rows.rewards)), rows.actions]
    dm = ev.direct_method(rows.target, rows.predictions)
    correction = ev.inverse_propensity(residuals, *rows.log[1:])
    dr = ev.doubly_robust(*rows.all)
    assert dr.value == pytest.approx(dm.value + correction.value, abs=1e-9)
    np.testing.assert_allclose(dr.influence, dm.influence + correction.influence, atol=1e-9)


@given(some_rows)
def test_switch_and_shrinkage_lead_from_dm_to_dr(rows: Rows) -> None:
    dm, dr = ev.direct_method(rows.target, rows.predictions), ev.doubly_robust(*rows.all)
    for limit, expected in ((0.0, dm), (1e14, dr), (math.inf, dr)):
        switch = ev.switch_doubly_robust(*rows.all, max_weight=limit)
        shrunk = ev.shrunk_doubly_robust(*rows.all, shrinkage=limit)
        np.testing.assert_allclose(switch.contributions, expected.contributions, atol=1e-12)
        np.testing.assert_allclose(shrunk.contributions, expected.contributions, atol=1e-6)
    without = ev.sub_gaussian_doubly_robust(*rows.all, shrinkage=0.0)
    np.testing.assert_allclose(without.contributions, dr.contributions, atol=1e-12)


@given(some_rows)
def test_clipped_and_sub_gaussian_weights_lead_to_ips(rows: Rows) -> None:
    ips = ev.inverse_propensity(*rows.log).contributions
    unclipped = ev.clipped_inverse_propensity(*rows.log, max_weight=math.inf)
    np.testing.assert_array_equal(unclipped.contributions, ips)
    unshrunk = ev.sub_gaussian_inverse_propensity(*rows.log, shrinkage=0.0)
    np.testing.assert_allclose(unshrunk.contributions, ips, atol=1e-12)


@given(some_rows)
def test_without_a_model_dr_is_ips_and_sndr_is_snips(rows: Rows) -> None:
    assume(sum(direct.weights(rows)) > 0.0)
    nothing = np.zeros_like(rows.predictions)
    np.testing.assert_allclose(
        ev.doubly_robust(*rows.log, nothing).contributions,
        ev.inverse_propensity(*rows.log).contributions,
        atol=1e-12,
    )
    np.testing.assert_allclose(
        ev.self_normalised_doubly_robust(*rows.log, nothing).contributions,
        ev.self_normalised_inverse_propensity(*rows.log).contributions,
        atol=1e-9,
    )


@given(some_rows)
def test_an_exact_model_needs_no_correction(rows: Rows) -> None:
    exact = rows.predictions[np.arange(len(rows.rewards)), rows.actions]
    dr = ev.doubly_robust(exact, *rows.log[1:], rows.predictions)
    dm = ev.direct_method(rows.target, rows.predictions)
    np.testing.assert_allclose(dr.contributions, dm.contributions, atol=1e-12)


@given(some_rows, st.sampled_from([-7.0, 0.5, 100.0]))
def test_self_normalised_estimates_move_with_the_rewards(rows: Rows, shift: float) -> None:
    assume(sum(direct.weights(rows)) > 0.0)
    shifted = (rows.rewards + shift, *rows.log[1:])
    pairs = [
        (
            ev.self_normalised_inverse_propensity(*rows.log),
            ev.self_normalised_inverse_propensity(*shifted),
        ),
        (
            ev.self_normalised_doubly_robust(*rows.all),
            ev.self_normalised_doubly_robust(*shifted, rows.predictions),
        ),
        (ev.doubly_robust(*rows.all), ev.doubly_robust(*shifted, rows.predictions + shift)),
    ]
    for before, after in pairs:
        assert after.value == pytest.approx(before.value + shift, abs=1e-8)
        np.testing.assert_allclose(after.influence, before.influence, atol=1e-7)


def test_ips_does_not_move_with_the_rewards() -> None:
    moved = ev.inverse_propensity(FOUR.rewards + 1.0, *FOUR.log[1:])
    assert abs(moved.value - ev.inverse_propensity(*FOUR.log).value - 1.0) > 0.1


@given(some_rows, st.integers(0, 10**6))
def test_the_order_of_rows_does_not_matter(rows: Rows, seed: int) -> None:
    assume(sum(direct.weights(rows)) > 0.0)
    order = np.random.default_rng(seed).permutation(len(rows.rewards))
    other = all_estimates(rows.take(order))
    for name, estimate in all_estimates(rows).items():
        assert other[name].value == pytest.approx(estimate.value, abs=1e-9)
        np.testing.assert_allclose(other[name].influence, estimate.influence[order], atol=1e-9)


@given(some_rows)
def test_the_logging_policy_itself_is_worth_the_mean_reward(rows: Rows) -> None:
    own = rows.target[np.arange(len(rows.rewards)), rows.actions]
    assume((own > 0.0).all())
    log = rows.rewards, rows.actions, own, rows.target
    mean = float(rows.rewards.mean())
    assert ev.inverse_propensity(*log).value == pytest.approx(mean, abs=1e-12)
    assert ev.self_normalised_inverse_propensity(*log).value == pytest.approx(mean, abs=1e-9)


def test_a_contrast_of_two_policies_is_paired() -> None:
    rows = direct.random_rows(3, 500, 3)
    near = 0.9 * rows.target + 0.1 * rows.target[:, ::-1]
    first = ev.doubly_robust(rows.rewards, rows.actions, rows.propensities, near, rows.predictions)
    second = ev.doubly_robust(*rows.all)
    gain = ev.contrast(first, second)
    assert gain.value == pytest.approx(first.value - second.value, abs=1e-12)
    np.testing.assert_allclose(gain.influence, first.influence - second.influence)
    assert gain.standard_error < 0.3 * math.hypot(first.standard_error, second.standard_error)
    nothing = ev.contrast(first, first)
    assert (nothing.value, nothing.standard_error) == (0.0, 0.0)


def test_estimates_of_other_rows_have_no_contrast() -> None:
    three, four = (Estimate.of_contributions(np.arange(float(n))) for n in (3, 4))
    with pytest.raises(ValueError, match="are of 3 and 4 rows; evaluate both policies on the same rows"):
        ev.contrast(three, four)
