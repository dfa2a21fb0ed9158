"""Predictions against 50-digit arithmetic: to 1e-8 from rows up to condition 1e8, from moments up to 1e4."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit, constrained_fit, constrained_least_squares
from gyrfalcon.oracles.solvers.moments import Moments
from tests.long_run import spread
from tests.oracles.high_precision import Reference, prediction_error, reference_fit

TOLERANCE = 1e-8
SEEDS = range(3)


@dataclass(frozen=True)
class Case:
    X: Floats
    r: Floats
    X_passive: Floats
    r_passive: Floats
    slack: float = 0.02
    ridge: float = 0.0
    blocks: Ints | None = None
    blocks_passive: Ints | None = None
    n_blocks: int = 1

    def reference(self) -> Reference:
        rows = self.X, self.r, self.X_passive, self.r_passive
        block_numbers = self.blocks, self.blocks_passive, self.n_blocks
        return reference_fit(*rows, self.slack, self.ridge, *block_numbers)

    def from_rows(self) -> ConstrainedFit:
        n_blocks = None if self.blocks is None else self.n_blocks
        rows = self.X, self.r, self.X_passive, self.r_passive
        return constrained_least_squares(
            *rows,
            self.slack,
            self.ridge,
            blocks=self.blocks,
            blocks_passive=self.blocks_passive,
            n_blocks=n_blocks,
        )

    def from_moments(self, keep_root: bool | None = False) -> ConstrainedFit:
        n_blocks = self.n_blocks
        active = Moments.of(self.X, self.r, blocks=self.blocks, n_blocks=n_blocks, keep_root=keep_root)
        passive = Moments.of(
            self.X_passive, self.r_passive, blocks=self.blocks_passive, n_blocks=n_blocks, keep_root=keep_root
        )
        return constrained_fit(active, passive, self.slack, self.ridge)

    def error(self, fit: ConstrainedFit, exact: Reference) -> float:
        active = prediction_error(fit.coefficients, exact, self.X, self.blocks)
        passive = prediction_error(fit.coefficients, exact, self.X_passive, self.blocks_passive)
        return max(active, passive)


def _rows(rng: np.random.Generator, n: int, d: int) -> tuple[Floats, Floats]:
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + 0.3 * rng.normal(size=n)


def _two_sided(
    rng: np.random.Generator, n: int = 40, n_passive: int = 20, d: int = 4
) -> tuple[Floats, Floats, Floats, Floats]:
    return *_rows(rng, n, d), *_rows(rng, n_passive, d)


def generic(rng: np.random.Generator) -> Case:
    return Case(*_two_sided(rng))


def inactive(rng: np.random.Generator) -> Case:
    return Case(*_two_sided(rng), slack=1e3)


def no_slack(rng: np.random.Generator) -> Case:
    return Case(*_two_sided(rng), slack=0.0)


def tiny_slack(rng: np.random.Generator) -> Case:
    return Case(*_two_sided(rng), slack=1e-14)


def infinite_slack(rng: np.random.Generator) -> Case:
    return Case(*_two_sided(rng), slack=math.inf)


def passive_rank_deficient(rng: np.random.Generator) -> Case:
    X, r, X_passive, r_passive = _two_sided(rng)
    X_passive[:, 3] = 2.0 * X_passive[:, 1]
    return Case(X, r, X_passive, r_passive)


def passive_rank_deficient_no_slack(rng: np.random.Generator) -> Case:
    X, r, X_passive, r_passive = _two_sided(rng)
    X_passive[:, 3] = 2.0 * X_passive[:, 1]
    return Case(X, r, X_passive, r_passive, slack=0.0)


def active_rank_deficient_infinite_slack(rng: np.random.Generator) -> Case:
    X, r, X_passive, r_passive = _two_sided(rng)
    X[:, 0] = -X[:, 2]
    return Case(X, r, X_passive, r_passive, slack=math.inf)


def both_rank_deficient(rng: np.random.Generator) -> Case:
    X, r, X_passive, r_passive = _two_sided(rng, d=5)
    for rows in (X, X_passive):
        rows[:] = np.round(rows * 64) / 64
        rows[:, 4] = rows[:, 0] - rows[:, 1]
    return Case(X, r, X_passive, r_passive)


def differently_rank_deficient(rng: np.random.Generator) -> Case:
    X, r, X_passive, r_passive = _two_sided(rng, d=5)
    X[:, 4] = X[:, 0]
    X_passive[:, 2] = -X_passive[:, 1]
    return Case(X, r, X_passive, r_passive)


def few_passive_rows(rng: np.random.Generator) -> Case:
    return Case(*_two_sided(rng, n_passive=2, d=5))


def few_passive_rows_no_slack(rng: np.random.Generator) -> Case:
    return Case(*_two_sided(rng, n_passive=2, d=5), slack=0.0)


def few_active_rows(rng: np.random.Generator) -> Case:
    return Case(*_two_sided(rng, n=3, d=5))


def few_rows(rng: np.random.Generator) -> Case:
    return Case(*_two_sided(rng, n=2, n_passive=2, d=5))


def duplicated_columns(rng: np.random.Generator) -> Case:
    X, r, X_passive, r_passive = _two_sided(rng)
    copies = [0, 1, 1, 2, 3, 3]
    return Case(X[:, copies], r, X_passive[:, copies], r_passive)


def scaled_duplicates(rng: np.random.Generator) -> Case:
    X, r, X_passive, r_passive = _two_sided(rng, d=3)
    factors = 2.0 ** np.array([0, 15, 3, -18, 0])
    return Case(X[:, [0, 0, 1, 1, 2]] * factors, r, X_passive[:, [0, 0, 1, 1, 2]] * factors, r_passive)


def zero_column(rng: np.random.Generator) -> Case:
    X, r, X_passive, r_passive = _two_sided(rng)
    X[:, 1] = X_passive[:, 1] = X[:, 2] = X_passive[:, 3] = 0.0
    return Case(X, r, X_passive, r_passive)


def scaled_columns(rng: np.random.Generator) -> Case:
    X, r, X_passive, r_passive = _two_sided(rng, d=5)
    factors = np.logspace(-6, 6, 5)
    return Case(X * factors, r, X_passive * factors, r_passive)


def offset_targets(rng: np.random.Generator) -> Case:
    X, r, X_passive, r_passive = _two_sided(rng)
    X[:, 0] = X_passive[:, 0] = 1.0
    return Case(X, r + 1e6, X_passive, r_passive + 1e6)


def ridge(rng: np.random.Generator) -> Case:
    return Case(*_two_sided(rng), ridge=0.7)


def ridge_no_slack(rng: np.random.Generator) -> Case:
    return Case(*_two_sided(rng), ridge=0.7, slack=0.0)


def small_ridge_few_passive_rows(rng: np.random.Generator) -> Case:
    return Case(*_two_sided(rng, n_passive=3), ridge=1e-3, slack=0.0)


def ridge_duplicated_columns(rng: np.random.Generator) -> Case:
    X, r, X_passive, r_passive = _two_sided(rng)
    copies = [0, 1, 1, 2, 3]
    return Case(X[:, copies], r, X_passive[:, copies], r_passive, ridge=2.0)


def no_active_rows(rng: np.random.Generator) -> Case:
    X, r, X_passive, r_passive = _two_sided(rng)
    return Case(X[:0], r[:0], X_passive, r_passive)


def no_passive_rows(rng: np.random.Generator) -> Case:
    X, r, X_passive, r_passive = _two_sided(rng)
    return Case(X, r, X_passive[:0], r_passive[:0])


def _blocked(rng: np.random.Generator, d: int = 3) -> Case:
    rows = _two_sided(rng, n=45, n_passive=30, d=d)
    blocks, blocks_passive = rng.integers(0, 3, 45), rng.integers(0, 3, 30)
    return Case(*rows, blocks=blocks, blocks_passive=blocks_passive, n_blocks=3)


def three_blocks(rng: np.random.Generator) -> Case:
    return _blocked(rng)


def three_blocks_ridge(rng: np.random.Generator) -> Case:
    case = _blocked(rng)
    return replace(case, ridge=1.0)


def a_block_without_active_rows(rng: np.random.Generator) -> Case:
    case = _blocked(rng)
    assert case.blocks is not None
    return replace(case, blocks=2 * (case.blocks // 2))


def a_block_without_passive_rows(rng: np.random.Generator) -> Case:
    case = _blocked(rng)
    assert case.blocks_passive is not None
    return replace(case, blocks_passive=2 * (case.blocks_passive // 2))


def a_block_without_any_rows(rng: np.random.Generator) -> Case:
    return replace(_blocked(rng), n_blocks=4)


def blocks_no_slack(rng: np.random.Generator) -> Case:
    case = a_block_without_passive_rows(rng)
    return replace(case, slack=0.0)


CASES: list[Callable[[np.random.Generator], Case]] = [
    generic, inactive, no_slack, tiny_slack, infinite_slack, passive_rank_deficient,
    passive_rank_deficient_no_slack, active_rank_deficient_infinite_slack, both_rank_deficient,
    differently_rank_deficient, few_passive_rows, few_passive_rows_no_slack, few_active_rows, few_rows,
    duplicated_columns, scaled_duplicates, zero_column, scaled_columns, offset_targets, ridge, ridge_no_slack,
    small_ridge_few_passive_rows, ridge_duplicated_columns, no_active_rows, no_passive_rows, three_blocks,
    three_blocks_ridge, a_block_without_active_rows, a_block_without_passive_rows, a_block_without_any_rows,
    blocks_no_slack,
]  # fmt: skip


@pytest.mark.parametrize(("make", "seed"), spread(CASES, SEEDS, every=3))
def test_rows_and_moments_agree_with_50_digits(make: Callable[..., Case], seed: int) -> None:
    check_against_50_digits(make(np.random.default_rng(seed)))


@pytest.mark.long
@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_many_more_draws_agree_with_50_digits(make: Callable[..., Case]) -> None:
    for seed in range(100, 130):
        check_against_50_digits(make(np.random.default_rng(seed)))


def check_against_50_digits(case: Case) -> None:
    exact = case.reference()
    scale = 1.0 + float(np.max(np.concatenate([case.r, case.r_passive]) ** 2))
    assert case.from_rows().accurate
    assert case.from_moments(keep_root=True).accurate
    for fit in (case.from_rows(), case.from_moments(), case.from_moments(keep_root=True)):
        assert case.error(fit, exact) < TOLERANCE
        assert fit.multiplier == pytest.approx(exact.multiplier, rel=1e-8)
        assert fit.excess == pytest.approx(exact.excess, rel=1e-8, abs=1e-15 * scale)
        assert fit.alpha == pytest.approx(exact.alpha, rel=1e-12, abs=1e-14 * scale)
        assert fit.excess <= case.slack + 1e-15 * scale


@pytest.mark.parametrize("make", spread(CASES, every=2))
def test_unidentified_coefficients_have_least_norm(make: Callable[..., Case]) -> None:
    case = make(np.random.default_rng(7))
    exact = case.reference().coefficients
    fit = case.from_rows().coefficients.reshape(exact.shape)
    assert np.abs(fit - exact).max() <= TOLERANCE * np.abs(exact).max(initial=1e-300)


def _conditioned(rng: np.random.Generator, n: int, axes: Floats, condition: float) -> tuple[Floats, Floats]:
    """Rows whose singular values fall by the condition, along given axes."""
    d = len(axes)
    orthogonal, _ = np.linalg.qr(rng.normal(size=(n, d)))
    X = orthogonal * np.sqrt(n) * np.logspace(0, -np.log10(condition), d) @ axes.T
    return X, X[:, 0] - X[:, 1] + rng.normal(size=n)


def _ill(seed: int, condition: float, condition_passive: float, slack: float, ridge: float = 0.0) -> Case:
    rng = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    active = _conditioned(rng, 50, axes, condition)
    return Case(*active, *_conditioned(rng, 30, axes, condition_passive), slack, ridge)


SLACKS = [0.0, 1e-6, 0.01, math.inf]


@pytest.mark.parametrize(("condition", "slack"), spread([1e2, 1e4, 1e6, 5e7], SLACKS, every=4))
def test_rows_keep_eight_digits_up_to_condition_1e8(condition: float, slack: float) -> None:
    for seed in SEEDS:
        case = _ill(seed, condition, condition, slack)
        fit = case.from_rows()
        assert fit.accurate
        assert 0.3 * condition < fit.condition < 3.0 * condition
        assert case.error(fit, case.reference()) < TOLERANCE


@pytest.mark.parametrize(("condition", "slack"), spread([1e2, 1e3, 5e3], SLACKS, every=3))
def test_moments_keep_eight_digits_up_to_condition_1e4(condition: float, slack: float) -> None:
    for seed in SEEDS:
        case = _ill(seed, condition, condition, slack)
        fit = case.from_moments()
        assert fit.accurate
        assert case.error(fit, case.reference()) < TOLERANCE


@pytest.mark.parametrize("slack", SLACKS)
@pytest.mark.parametrize("condition", [1e5, 1e6, 1e7, 1e9])
def test_moments_say_so_when_they_lose_digits_and_their_roots_keep_them(
    condition: float, slack: float
) -> None:
    case = _ill(0, condition, condition, slack)
    assert not case.from_moments().accurate
    rooted = case.from_moments(keep_root=None)
    assert rooted.accurate == (condition <= 1e8)
    if rooted.accurate:
        assert case.error(rooted, case.reference()) < TOLERANCE


@pytest.mark.parametrize(
    ("conditions", "slack", "ridge"), spread([(1e6, 1.0), (1.0, 1e6)], SLACKS, [0.0, 0.01], every=4)
)
def test_one_side_alone_may_be_ill_conditioned(
    conditions: tuple[float, float], slack: float, ridge: float
) -> None:
    for seed in SEEDS:
        case = _ill(seed, *conditions, slack, ridge)
        exact = case.reference()
        fit, from_moments = case.from_rows(), case.from_moments()
        assert case.error(fit, exact) < TOLERANCE
        assert case.error(from_moments, exact) < TOLERANCE or not from_moments.accurate


def test_columns_that_differ_by_many_orders_and_repeat_keep_their_least_norm() -> None:
    rng = np.random.default_rng(3)
    X, r, X_passive, r_passive = _two_sided(rng, d=3)
    factors, copies = 2.0 ** np.array([20, 20, -20, -20, 0]), [0, 0, 1, 1, 2]
    case = Case(X[:, copies] * factors, r, X_passive[:, copies] * factors, r_passive)
    exact, fit = case.reference(), case.from_rows()
    assert case.error(fit, exact) < TOLERANCE
    # Least norms are found up to rounding of the whole vector, whose entries differ by twelve orders.
    rounding = 16 * np.finfo(float).eps * np.abs(exact.coefficients[0]).max()
    assert fit.coefficients == pytest.approx(exact.coefficients[0], rel=1e-8, abs=rounding)
