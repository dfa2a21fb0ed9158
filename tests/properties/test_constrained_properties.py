"""Optimality conditions and invariances of the constrained fit, for whatever rows hypothesis finds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit, constrained_fit, constrained_least_squares
from gyrfalcon.oracles.solvers.moments import Moments


@dataclass(frozen=True)
class Rows:
    X: Floats
    r: Floats
    blocks: Ints

    @property
    def moments(self) -> Moments:
        return Moments.of(self.X, self.r, blocks=self.blocks, n_blocks=2)

    def risk(self, theta: Floats) -> float:
        return float(np.mean(self.residuals(theta) ** 2)) if len(self.r) else 0.0

    def residuals(self, theta: Floats) -> Floats:
        return np.asarray(self.r - np.einsum("nd,nd->n", self.X, theta[self.blocks]))

    def gradient(self, theta: Floats) -> Floats:
        result = np.zeros_like(theta)
        np.add.at(result, self.blocks, -2 * self.residuals(theta)[:, None] * self.X / max(len(self.r), 1))
        return result


@st.composite
def rows(draw: st.DrawFn, d: int, min_size: int = 0) -> Rows:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(min_size, 40))
    X, blocks = rng.normal(size=(n, d)), rng.integers(0, 2, n)
    if draw(st.booleans()):
        X = np.round(X)
    return Rows(X, X @ rng.normal(size=d) + rng.normal(size=n), blocks)


slacks = st.one_of(st.just(0.0), st.just(math.inf), st.floats(-12, 2).map(lambda power: 10.0**power))
ridges = st.sampled_from([0.0, 0.0, 0.1, 5.0])


@st.composite
def problems(draw: st.DrawFn) -> tuple[Rows, Rows, float, float]:
    d = draw(st.integers(1, 4))
    return draw(rows(d)), draw(rows(d)), draw(slacks), draw(ridges)


def _fit(active: Rows, passive: Rows, slack: float, ridge: float) -> ConstrainedFit:
    return constrained_least_squares(
        active.X,
        active.r,
        passive.X,
        passive.r,
        slack,
        ridge,
        blocks=active.blocks,
        blocks_passive=passive.blocks,
        n_blocks=2,
    )


def _objective(active: Rows, theta: Floats, ridge: float) -> float:
    return active.risk(theta) + ridge / max(len(active.r), 1) * float(np.sum(theta**2))


@given(problems())
def test_stationarity(problem: tuple[Rows, Rows, float, float]) -> None:
    active, passive, slack, ridge = problem
    fit = _fit(active, passive, slack, ridge)
    assume(fit.condition < 1e3 or fit.condition == math.inf)
    theta = fit.coefficients
    gradient = active.gradient(theta) + 2 * ridge / max(len(active.r), 1) * theta
    if fit.multiplier == math.inf:
        gradient = np.zeros_like(gradient)
    share = 1.0 if fit.multiplier == math.inf else fit.multiplier
    total = (gradient + share * passive.gradient(theta)) / (1.0 + share)
    np.testing.assert_allclose(total, 0.0, atol=1e-9 * (1 + np.abs(theta).max()))


@given(problems())
def test_feasibility_and_complementary_slackness(problem: tuple[Rows, Rows, float, float]) -> None:
    active, passive, slack, ridge = problem
    fit = _fit(active, passive, slack, ridge)
    scale = 1.0 + float(np.mean(passive.r**2)) if len(passive.r) else 1.0
    assert fit.excess <= slack * (1 + 1e-9) + 1e-14 * scale
    assert fit.multiplier >= 0.0
    assert fit.binding == (fit.multiplier > 0.0)
    np.testing.assert_allclose(passive.risk(fit.coefficients) - fit.alpha, fit.excess, atol=1e-11 * scale)
    if fit.binding:
        np.testing.assert_allclose(fit.excess, slack, rtol=1e-9, atol=1e-11 * scale)


@given(problems())
def test_no_worse_on_active_rows_than_the_passive_fit(problem: tuple[Rows, Rows, float, float]) -> None:
    active, passive, slack, ridge = problem
    fit = _fit(active, passive, slack, ridge)
    nobody = Rows(passive.X[:0], passive.r[:0], passive.blocks[:0])
    passive_fit = _fit(passive, nobody, math.inf, ridge).coefficients
    limit = _objective(active, passive_fit, ridge)
    assert _objective(active, fit.coefficients, ridge) <= limit * (1 + 1e-9) + 1e-11


@given(problems(), st.floats(1.0, 1e6))
def test_more_slack_never_raises_the_active_risk(
    problem: tuple[Rows, Rows, float, float], factor: float
) -> None:
    active, passive, slack, ridge = problem
    tight, loose = _fit(active, passive, slack, ridge), _fit(active, passive, slack * factor, ridge)
    before, after = (_objective(active, fit.coefficients, ridge) for fit in (tight, loose))
    assert after <= before * (1 + 1e-9) + 1e-11
    assert loose.multiplier <= tight.multiplier * (1 + 1e-9)


@given(problems())
def test_moments_and_rows_agree(problem: tuple[Rows, Rows, float, float]) -> None:
    active, passive, slack, ridge = problem
    by_rows = _fit(active, passive, slack, ridge)
    by_moments = constrained_fit(active.moments, passive.moments, slack, ridge)
    for side in (active, passive):
        one, other = side.residuals(by_rows.coefficients), side.residuals(by_moments.coefficients)
        np.testing.assert_allclose(one, other, atol=1e-7)


@given(problems())
def test_blocks_may_be_renamed(problem: tuple[Rows, Rows, float, float]) -> None:
    active, passive, slack, ridge = problem
    fit = _fit(active, passive, slack, ridge)
    sides = [Rows(side.X, side.r, 1 - side.blocks) for side in (active, passive)]
    renamed = _fit(sides[0], sides[1], slack, ridge)
    np.testing.assert_allclose(renamed.coefficients[::-1], fit.coefficients, atol=1e-7)


@given(problems())
def test_a_ridge_is_more_active_rows(problem: tuple[Rows, Rows, float, float]) -> None:
    active, passive, _, ridge = problem
    d = active.X.shape[1]
    extra = np.sqrt(ridge) * np.tile(np.eye(d), (2, 1))
    X, r = np.vstack([active.X, extra]), np.concatenate([active.r, np.zeros(2 * d)])
    augmented = Rows(X, r, np.concatenate([active.blocks, np.repeat([0, 1], d)]))
    fit = _fit(active, passive, math.inf, ridge).coefficients
    np.testing.assert_allclose(fit, _fit(augmented, passive, math.inf, 0.0).coefficients, atol=1e-8)


@given(st.integers(1, 4).flatmap(lambda d: st.tuples(rows(d), rows(d))), st.floats(0.0, 10.0))
def test_moments_add_and_scale(both: tuple[Rows, Rows], factor: float) -> None:
    one, other = both
    together = Rows(
        np.vstack([one.X, other.X]),
        np.concatenate([one.r, other.r]),
        np.concatenate([one.blocks, other.blocks]),
    )
    total, expected = (one.moments + other.moments).scaled(factor), together.moments
    for name in ("gram", "cross", "squares", "weight"):
        np.testing.assert_allclose(getattr(total, name), factor * getattr(expected, name), atol=1e-10)
    if total.root is not None:
        np.testing.assert_allclose((total.root.mT @ total.root)[:, :-1, :-1], total.gram, atol=1e-9)
