from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.estimates.misspecification.estimate import misspecification_estimate
from gyrfalcon.estimates.misspecification.passive_share import epsilon_choice
from gyrfalcon.estimates.misspecification.result import MisspecificationEstimate
from gyrfalcon.theory import EPSILON_MAX, optimal_epsilon
from tests.estimates.rows import step_log


def estimate(b: float, upper: float, *, lower: float = 0.0, bound: bool = False) -> MisspecificationEstimate:
    return MisspecificationEstimate(
        b_hat=b,
        standard_error=0.0,
        lower=lower,
        is_lower_bound=bound,
        upper=upper,
        level=0.95,
        method="residual_products",
        assumption="",
        n_rows=100,
        untruncated=b,
    )


@given(st.floats(0.0, 0.5), st.floats(0.0, 0.5), st.integers(2, 20))
def test_shares_are_the_corollarys(b: float, more: float, K: int) -> None:
    found = epsilon_choice(estimate(b, b + more), K)
    assert found.at_estimate == optimal_epsilon(b, K)
    assert found.at_upper == optimal_epsilon(b + more, K)
    assert found.range == (found.at_estimate, found.at_estimate)
    assert 0.001 == found.least <= found.at_lower <= found.at_estimate <= found.at_upper <= EPSILON_MAX


@given(st.floats(0.0, 0.3), st.floats(0.0, 0.3), st.floats(0.0, 0.3), st.integers(2, 20))
def test_a_lower_bound_of_b_leaves_a_range_of_shares(lower: float, b: float, upper: float, K: int) -> None:
    lower, b, upper = sorted((lower, b, upper))
    found = epsilon_choice(estimate(b, upper, lower=lower, bound=True), K)
    assert found.at_estimate is None
    assert found.range == (optimal_epsilon(lower, K), optimal_epsilon(upper, K))


def test_a_known_share() -> None:
    found = epsilon_choice(estimate(0.01, 0.01), 2, n_rounds=10_000, comp=4)
    assert found.at_estimate == pytest.approx(0.09102821, abs=1e-8)


def test_passive_rows_are_not_fewer_than_coefficients() -> None:
    found = epsilon_choice(estimate(0.0, 0.0), 2, n_rounds=1000, comp=20)
    assert (found.at_lower, found.at_estimate, found.at_upper, found.least) == (0.02, 0.02, 0.02, 0.02)
    assert epsilon_choice(estimate(0.0, 0.0), 2, n_rounds=10, comp=20).least == EPSILON_MAX
    assert epsilon_choice(estimate(0.0, 0.0), 2, n_rounds=1000).least == 0.001


def test_more_than_the_theory_knows_is_the_most_that_it_knows() -> None:
    found = epsilon_choice(estimate(0.5, 7.0), 2)
    assert found.at_upper == optimal_epsilon(1.0, 2)


def test_section_1_1_from_rows_to_a_share() -> None:
    found = misspecification_estimate(step_log(np.random.default_rng(0), 2000), 2)
    share = epsilon_choice(found, 2, n_rounds=100_000, comp=4)
    assert share.at_estimate is not None
    assert share.at_lower < share.at_estimate < share.at_upper
    assert share.at_upper == pytest.approx(optimal_epsilon(1 / 32, 2), rel=0.15)


def test_refusals() -> None:
    with pytest.raises(ValueError, match="K is 1; a choice needs"):
        epsilon_choice(estimate(0.1, 0.2), 1)
    with pytest.raises(ValueError, match="n_rounds is 0; give a positive number"):
        epsilon_choice(estimate(0.1, 0.2), 2, n_rounds=0)
