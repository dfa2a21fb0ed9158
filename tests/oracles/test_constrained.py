"""The constrained fit: known answers, limits, a second way to the same answer, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.solvers.constrained import constrained_fit, constrained_least_squares
from gyrfalcon.oracles.solvers.moments import Moments
from gyrfalcon.oracles.solvers.secular import Secular

ONES = [[1.0], [1.0]]


def _rows(n: int, d: int, seed: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize(
    ("slack", "theta", "multiplier"), [(0.04, 0.2, 4.0), (1.0, 1.0, 0.0), (2.0, 1.0, 0.0)]
)
def test_constants_have_a_known_answer(slack: float, theta: float, multiplier: float) -> None:
    fit = constrained_least_squares(ONES, [1, 1], ONES, [0, 0], slack)
    assert fit.coefficients == pytest.approx([theta], rel=1e-14)
    assert fit.multiplier == pytest.approx(multiplier, rel=1e-14)
    assert fit.binding == (multiplier > 0)
    assert fit.alpha == 0.0
    assert fit.slack == slack
    assert (fit.n_active, fit.n_passive, fit.rank) == (2.0, 2.0, 1)


def test_slack_that_shrinks_to_zero_leads_to_the_passive_fit() -> None:
    previous = 1.0
    for slack in [1e-2, 1e-4, 1e-8, 1e-16, 1e-100, 5e-324]:
        fit = constrained_least_squares(ONES, [1, 1], ONES, [0, 0], slack)
        assert 0.0 <= fit.coefficients[0] < previous
        assert math.isfinite(fit.multiplier)
        assert fit.excess <= slack * (1 + 1e-15)
        previous = float(fit.coefficients[0])
    fit = constrained_least_squares(ONES, [1, 1], ONES, [0, 0], 0.0)
    assert fit.coefficients.tolist() == [0.0]
    assert fit.multiplier == math.inf
    assert fit.binding


def test_the_excess_is_that_of_the_coefficients_even_where_rounding_puts_it_above_the_slack() -> None:
    slacks = np.linspace(0.01, 0.9, 90)
    fits = [constrained_least_squares(ONES, [1, 1], ONES, [0, 0], float(slack)) for slack in slacks]
    squares = [float(fit.coefficients[0]) ** 2 for fit in fits]
    assert [fit.excess for fit in fits] == pytest.approx(squares, rel=1e-14)
    assert any(fit.excess > fit.slack for fit in fits)
    assert all(fit.excess <= fit.slack * (1 + 1e-14) for fit in fits)


def test_infinite_slack_is_plain_least_squares() -> None:
    X, r = _rows(60, 4, 0)
    fit = constrained_least_squares(X, r, *_rows(30, 4, 1), math.inf)
    np.testing.assert_allclose(fit.coefficients, np.linalg.lstsq(X, r)[0], atol=1e-13)
    assert fit.multiplier == 0.0
    assert not fit.binding


def test_no_slack_fits_active_rows_on_what_passive_rows_leave_open() -> None:
    X, r = _rows(60, 4, 0)
    X_passive, r_passive = _rows(2, 4, 1)
    fit = constrained_least_squares(X, r, X_passive, r_passive, 0.0)
    np.testing.assert_allclose(X_passive @ fit.coefficients, r_passive, atol=1e-13)
    start = np.linalg.lstsq(X_passive, r_passive)[0]
    free = np.linalg.svd(X_passive)[2][2:].T
    step = np.linalg.lstsq(X @ free, r - X @ start)[0]
    np.testing.assert_allclose(fit.coefficients, start + free @ step, atol=1e-13)


@pytest.mark.parametrize("ridge", [0.0, 2.0])
@pytest.mark.parametrize("slack", [0.3, 0.02, 1e-4])
def test_bisection_over_weighted_regressions_agrees(slack: float, ridge: float) -> None:
    X, r = _rows(80, 5, 2)
    X_passive, r_passive = _rows(40, 5, 3)
    penalty = np.sqrt(ridge) * np.eye(5)

    def fitted(active: float, passive: float, scale: float) -> Floats:
        stack = np.vstack([active * X, passive * X_passive, scale * penalty])
        target = np.concatenate([active * r, passive * r_passive, np.zeros(5)])
        return np.asarray(np.linalg.lstsq(stack, target)[0])

    def error(theta: Floats) -> float:
        return float(np.mean((r_passive - X_passive @ theta) ** 2))

    alpha = error(fitted(0.0, 1.0, 1.0))
    low, high = 0.0, 1e6
    for _ in range(100):
        middle = (low + high) / 2
        theta = fitted(80**-0.5, math.sqrt(middle / 40), 80**-0.5)
        low, high = (middle, high) if error(theta) > alpha + slack else (low, middle)
    fit = constrained_least_squares(X, r, X_passive, r_passive, slack, ridge)
    assert fit.alpha == pytest.approx(alpha, rel=1e-12)
    assert fit.multiplier == pytest.approx(high, rel=1e-7, abs=1e-12)
    assert error(fit.coefficients) <= alpha + slack * (1 + 1e-9) + 1e-14
    np.testing.assert_allclose(fit.coefficients, theta, atol=1e-7)


def test_a_general_solver_agrees() -> None:
    from scipy.optimize import NonlinearConstraint, minimize

    X, r = _rows(40, 3, 4)
    X_passive, r_passive = _rows(20, 3, 5)
    fit = constrained_least_squares(X, r, X_passive, r_passive, 0.05)

    def active_error(theta: Floats) -> float:
        return float(np.mean((r - X @ theta) ** 2))

    def passive_error(theta: Floats) -> list[float]:
        return [float(np.mean((r_passive - X_passive @ theta) ** 2))]

    limit = NonlinearConstraint(passive_error, -np.inf, fit.alpha + 0.05)
    other = minimize(active_error, np.zeros(3), constraints=[limit], method="SLSQP", tol=1e-14)
    np.testing.assert_allclose(fit.coefficients, other.x, atol=1e-6)


@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_no_passive_rows_no_constraint(ridge: float) -> None:
    X, r = _rows(20, 3, 0)
    fit = constrained_least_squares(X, r, [], [], 0.0, ridge)
    expected = np.linalg.solve(X.T @ X + ridge * np.eye(3), X.T @ r)
    np.testing.assert_allclose(fit.coefficients, expected, atol=1e-13)
    assert (fit.alpha, fit.excess, fit.multiplier, fit.n_passive) == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("slack", [0.0, 0.1, math.inf])
def test_no_active_rows_passive_fit(slack: float) -> None:
    X, r = _rows(20, 3, 0)
    fit = constrained_least_squares([], [], X, r, slack)
    np.testing.assert_allclose(fit.coefficients, np.linalg.lstsq(X, r)[0], atol=1e-13)
    assert fit.multiplier == 0.0


def test_no_rows_at_all_and_no_columns() -> None:
    fit = constrained_least_squares(np.zeros((0, 2)), [], np.zeros((0, 2)), [], 0.1)
    assert fit.coefficients.tolist() == [0.0, 0.0]
    assert (fit.rank, fit.condition, fit.accurate) == (0, math.inf, True)
    fit = constrained_least_squares(np.zeros((3, 0)), [1, 2, 3], np.zeros((2, 0)), [1, 3], 0.1)
    assert fit.coefficients.shape == (0,)
    assert (fit.alpha, fit.excess) == (5.0, 0.0)


def test_blocks_share_one_multiplier() -> None:
    X, r = _rows(90, 3, 6)
    X_passive, r_passive = _rows(45, 3, 7)
    blocks, blocks_passive = np.arange(90) % 3, np.arange(45) % 3
    wide = np.zeros((90, 9))
    wide_passive = np.zeros((45, 9))
    for block in range(3):
        columns = slice(3 * block, 3 * block + 3)
        wide[blocks == block, columns] = X[blocks == block]
        wide_passive[blocks_passive == block, columns] = X_passive[blocks_passive == block]
    joint = constrained_least_squares(wide, r, wide_passive, r_passive, 0.05)
    fit = constrained_least_squares(
        X, r, X_passive, r_passive, 0.05, blocks=blocks, blocks_passive=blocks_passive
    )
    assert fit.coefficients.shape == (3, 3)
    np.testing.assert_allclose(fit.coefficients.ravel(), joint.coefficients, atol=1e-12)
    assert fit.multiplier == pytest.approx(joint.multiplier, rel=1e-11)
    assert fit.alpha == pytest.approx(joint.alpha, rel=1e-12)


def test_an_action_with_no_rows_at_all_has_zero_coefficients() -> None:
    X, r = _rows(30, 2, 8)
    blocks = np.zeros(30, dtype=int)
    fit = constrained_least_squares(X, r, X, r, 0.1, blocks=blocks, blocks_passive=blocks, n_blocks=2)
    assert fit.coefficients[1].tolist() == [0.0, 0.0]
    assert fit.condition == math.inf
    assert fit.accurate
    assert fit.rank == 2


def test_a_penalty_per_coefficient() -> None:
    X, r = _rows(30, 3, 9)
    X_passive, r_passive = _rows(30, 3, 10)
    penalty = np.array([0.0, 3.0, 1.0])
    active, passive = Moments.of(X, r), Moments.of(X_passive, r_passive)
    fit = constrained_fit(active, passive, 0.05, penalty)
    ridge_fit = np.linalg.solve(X_passive.T @ X_passive + np.diag(penalty), X_passive.T @ r_passive)
    assert fit.alpha == pytest.approx(np.mean((r_passive - X_passive @ ridge_fit) ** 2), rel=1e-12)
    gradient = (X.T @ (X @ fit.coefficients[0] - r) + penalty * fit.coefficients[0]) / 30
    gradient_passive = X_passive.T @ (X_passive @ fit.coefficients[0] - r_passive) / 30
    np.testing.assert_allclose(gradient + fit.multiplier * gradient_passive, 0.0, atol=1e-12)


@pytest.mark.parametrize("ridge", [0.0, 5.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_same_rows_on_both_sides_do_not_bind(seed: int, ridge: float) -> None:
    X, r = _rows(3, 3, seed)
    fit = constrained_least_squares(X, r, X, r, 1e-14, ridge)
    assert fit.multiplier == 0.0
    np.testing.assert_allclose(fit.excess, 0.0, atol=1e-14)


def test_many_coordinates_of_very_different_weight_converge() -> None:
    s = np.sqrt(np.logspace(-14, 0, 300) * 0.999)
    secular = Secular(s, np.sqrt(1 - s**2), np.ones(300), -np.ones(300))
    for level in np.logspace(-12, 6, 19):
        multiplier = secular.multiplier(float(level))
        assert secular.excess(multiplier) == pytest.approx(level, rel=1e-13)
        assert secular.excess(multiplier) <= level * (1 + 1e-15)


GOOD: dict[str, object] = {
    "X": ONES,
    "r": [1.0, 2.0],
    "X_passive": ONES,
    "r_passive": [0.0, 1.0],
    "slack": 0.1,
}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"slack": -0.1}, "slack is -0.1; give a mean squared error of at least 0"),
        ({"slack": math.nan}, "slack is nan"),
        ({"ridge": -1.0}, "ridge is -1.0"),
        ({"ridge": math.nan}, "ridge is nan"),
        ({"X": [[1.0], [math.nan]]}, r"X\[1, 0\] is nan; drop or fill"),
        ({"r": [1.0, math.inf]}, r"r\[1\] is inf"),
        ({"X_passive": [[-math.inf], [1.0]]}, r"X_passive\[0, 0\] is -inf"),
        ({"r_passive": [math.nan, 1.0]}, r"r_passive\[0\] is nan"),
        ({"r": [1.0]}, r"r has shape \(1,\); give one value for each of 2 rows"),
        ({"X": [1.0, 2.0]}, r"X has shape \(2,\)"),
        ({"X": [[1.0, 2.0], [3.0, 4.0]]}, "X has 2 columns and X_passive 1"),
        ({"blocks": [0, 0]}, "Only one of blocks and blocks_passive is given"),
        ({"n_blocks": 2}, "n_blocks is 2 but there are no blocks"),
        ({"blocks": [0, 5], "blocks_passive": [0, 0], "n_blocks": 2}, "blocks holds 5"),
        ({"blocks": [0, 0], "blocks_passive": [0, -3]}, "blocks_passive holds -3"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        constrained_least_squares(**{**GOOD, **arguments})  # type: ignore[arg-type]


def test_moments_of_different_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="give both the same blocks and features"):
        constrained_fit(Moments.zeros(1, 2), Moments.zeros(2, 2))


def _well_pooled(seed: int) -> tuple[Floats, Floats, Floats, Floats]:
    """A passive side of condition 2e6 under a pooled design of condition 2."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 3))
    left, _ = np.linalg.qr(rng.normal(size=(12, 3)))
    right, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    X_passive = (left * [1.0, 2e6**-0.5, 1 / 2e6]) @ right.T * 12**0.5
    noise = 0.3 * rng.normal(size=32)
    return X, X @ [1.0, 2.0, 3.0] + noise[:20], X_passive, X_passive @ [1.0, 2.0, 3.0] + noise[20:]


@pytest.mark.parametrize("seed", range(20))
def test_an_ill_conditioned_passive_side_is_seen_behind_a_well_conditioned_pool(seed: int) -> None:
    X, r, X_passive, r_passive = _well_pooled(seed)
    best = np.linalg.lstsq(X_passive, r_passive, rcond=None)[0]
    alpha = np.mean((X_passive @ best - r_passive) ** 2)
    free = constrained_least_squares(X, r, X_passive, r_passive, math.inf)
    assert free.alpha == pytest.approx(alpha, rel=1e-8)
    slack = float(np.mean((X_passive @ free.coefficients - r_passive) ** 2) - alpha) * (1 - 1e-5)
    bound = constrained_least_squares(X, r, X_passive, r_passive, slack)
    assert bound.binding
    assert np.mean((X_passive @ bound.coefficients - r_passive) ** 2) - alpha <= slack * (1 + 1e-7)


def test_moments_alone_do_not_vouch_for_columns_that_look_collinear() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 1))
    X, r = np.concatenate([x, x + 3e-8 * rng.normal(size=(30, 1))], axis=1), rng.normal(size=30)
    active, passive = (Moments.of(X[rows], r[rows], keep_root=False) for rows in (slice(20), slice(20, 30)))
    assert not constrained_fit(active, passive, 0.01).accurate
    assert constrained_least_squares(X[:20], r[:20], X[20:], r[20:], 0.01).accurate
