from __future__ import annotations

from dataclasses import fields
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import BSpline
from sklearn.preprocessing import PolynomialFeatures

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.features.bases import Basis, Identity, Polynomial, moments
from gyrfalcon.oracles.features.smooth import RandomFourier, SplineMap, Splines

BASES: list[Basis] = [
    Identity(),
    Polynomial(degree=1),
    Polynomial(degree=3),
    Polynomial(degree=5, interactions=False),
    Splines(),
    Splines(n_knots=2, degree=1),
    Splines(n_knots=12, degree=5),
    RandomFourier(),
    RandomFourier(n_features=37, length_scale=0.1, seed=4),
]
every_basis = pytest.mark.parametrize("basis", BASES, ids=repr)


def some_rows(n: int, p: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(size=(n, p))


def awkward_rows(n: int) -> Floats:
    """A timestamp, a constant whose mean rounds, a flag, a mostly-zero count, a heavy tail, a tiny scale."""
    rng = np.random.default_rng(1)
    columns = [
        1.7e9 + 1e5 * rng.random(n),
        np.full(n, 0.1),
        rng.integers(0, 2, n),
        rng.poisson(0.2, n),
        rng.standard_cauchy(n),
        1e-9 * rng.normal(size=n),
    ]
    return np.column_stack(columns).astype(np.float64)


@every_basis
def test_a_map_keeps_leading_shape_and_counts_its_features(basis: Basis) -> None:
    fitted = basis.fit(some_rows(50, 3))
    assert fitted.n_inputs == 3
    for shape in [(), (1,), (7,), (0,), (4, 5), (2, 0, 3)]:
        features = fitted.expand(np.zeros((*shape, 3)))
        assert features.shape == (*shape, fitted.n_features)
        assert features.dtype == np.float64


@every_basis
def test_features_are_contiguous_and_the_input_is_left_alone(basis: Basis) -> None:
    x = some_rows(60, 4).reshape(5, 12, 4)
    before = x.copy()
    assert basis.fit(x[0]).expand(x).flags.c_contiguous
    np.testing.assert_array_equal(x, before)


@pytest.mark.invariance
@every_basis
@given(
    n=st.integers(1, 70),
    p=st.integers(1, 9),
    offset=st.integers(0, 9),
    size=st.floats(-3, 6),
    seed=st.integers(0, 99),
)
def test_a_row_alone_has_the_bits_it_has_in_a_batch(
    basis: Basis, n: int, p: int, offset: int, size: float, seed: int
) -> None:
    fitted = basis.fit(some_rows(30, p, seed))
    buffer = np.random.default_rng(seed).normal(size=n * p + offset) * 10.0**size
    x = buffer[offset:].reshape(n, p)
    alone = np.stack([fitted.expand(row) for row in x])
    np.testing.assert_array_equal(fitted.expand(x), alone)
    np.testing.assert_array_equal(fitted.expand(np.asfortranarray(x)), alone)
    np.testing.assert_array_equal(fitted.expand(x[None, ::-1])[0, ::-1], alone)
    np.testing.assert_array_equal(fitted.expand(x[n // 2 :]), alone[n // 2 :])


@pytest.mark.invariance
def test_a_row_alone_has_the_bits_it_has_in_a_batch_even_with_very_many_inputs() -> None:
    x = some_rows(5, 9000)
    fitted = RandomFourier(n_features=2).fit(x)
    np.testing.assert_array_equal(fitted.expand(x), np.stack([fitted.expand(row) for row in x]))


@every_basis
def test_awkward_columns_give_finite_features_near_and_far(basis: Basis) -> None:
    x = awkward_rows(500)
    fitted = basis.fit(x)
    far = x.mean(axis=0) + 1e3 * x.std(axis=0) * np.array([[-1.0], [1.0]])
    for rows in (x, far, np.zeros((1, 6)), np.full((1, 6), 1e9), np.full((1, 6), -1e9)):
        assert np.isfinite(fitted.expand(rows)).all()


@every_basis
def test_one_row_is_enough_to_fit(basis: Basis) -> None:
    fitted = basis.fit(np.array([[3.0, -1.0]]))
    assert np.isfinite(fitted.expand(some_rows(9, 2))).all()


@every_basis
def test_no_rows_are_refused(basis: Basis) -> None:
    with pytest.raises(ValueError, match="0 rows; give at least 1"):
        basis.fit(np.empty((0, 3)))


@every_basis
def test_no_inputs_are_allowed(basis: Basis) -> None:
    fitted = basis.fit(np.empty((4, 0)))
    assert fitted.expand(np.empty((2, 0))).shape == (2, fitted.n_features)


@every_basis
def test_a_map_holds_only_finite_numbers_and_is_the_same_when_fitted_again(basis: Basis) -> None:
    x = awkward_rows(100)
    first, second = basis.fit(x), basis.fit(x)
    for field in fields(first):  # type: ignore[arg-type]
        value = getattr(first, field.name)
        assert isinstance(value, int) or (value.dtype in (np.float64, np.int64) and np.isfinite(value).all())
        np.testing.assert_array_equal(value, getattr(second, field.name))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Polynomial(degree=0), "degree is 0; give 1 to 10"),
        (lambda: Polynomial(degree=11), "degree is 11; .* use Splines"),
        (lambda: Splines(n_knots=1), "n_knots is 1; give 2 to 100"),
        (lambda: Splines(degree=0), "degree is 0; give 1 to 5"),
        (lambda: RandomFourier(n_features=1), "n_features is 1; give at least 2"),
        (lambda: RandomFourier(length_scale=0.0), "length_scale is 0.0; give a finite number above 0"),
        (lambda: RandomFourier(length_scale=np.nan), "length_scale is nan; give"),
        (lambda: RandomFourier(seed=-1), "seed is -1; give"),
    ],
)
def test_impossible_settings_are_refused_with_a_remedy(wrong: type[Basis], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wrong()


def test_constant_columns_have_their_value_as_mean_and_scale_1() -> None:
    nearly = np.where(np.arange(7) % 2, 0.3, 0.1 + 0.2)
    means, scales = moments(np.column_stack([np.full(7, 0.1), np.zeros(7), nearly]))
    np.testing.assert_array_equal(means[:2], [0.1, 0.0])
    np.testing.assert_array_equal(scales, [1.0, 1.0, 1.0])


def test_identity_returns_the_array_itself() -> None:
    x = some_rows(3, 2)
    assert Identity().fit(x).expand(x) is x


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_monomials_are_those_of_scikit_learn_on_standardised_inputs(degree: int) -> None:
    x = some_rows(40, 3) * [1.0, 100.0, 1e-3] + [0.0, 1.7e9, 5.0]
    expected = PolynomialFeatures(degree, include_bias=False).fit_transform(
        (x - x.mean(axis=0)) / x.std(axis=0)
    )
    np.testing.assert_allclose(Polynomial(degree=degree).fit(x).expand(x), expected, rtol=1e-12, atol=1e-12)


def test_without_interactions_only_pure_powers_remain() -> None:
    x = some_rows(40, 2)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    features = Polynomial(degree=3, interactions=False).fit(x).expand(x)
    np.testing.assert_allclose(features, np.hstack([z, z**2, z**3]), rtol=1e-12)


def test_too_many_monomials_are_refused_with_their_number() -> None:
    assert comb(139 + 2, 2) - 1 <= 10_000 < comb(140 + 2, 2) - 1
    assert Polynomial().fit(np.zeros((1, 139))).n_features == 9869
    with pytest.raises(ValueError, match=r"2 in 140 inputs makes 10,010 features.*interactions=False"):
        Polynomial().fit(np.zeros((1, 140)))
    assert Polynomial(interactions=False).fit(np.zeros((1, 140))).n_features == 280


def scipy_splines(fitted: SplineMap, degree: int) -> BSpline[np.float64]:
    """All B-splines over the standardised input with the same knots, as one vector-valued SciPy spline."""
    own = fitted.knots[0]
    t = np.concatenate([np.repeat(own[0], degree), own, np.repeat(own[-1], degree)])
    return BSpline(t, np.eye(own.size + degree - 1), degree)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("n_knots", [2, 3, 5, 20])
def test_splines_are_those_of_scipy_inside_and_their_tangents_outside(n_knots: int, degree: int) -> None:
    x = np.random.default_rng(2).exponential(size=(300, 1))
    fitted = Splines(n_knots=n_knots, degree=degree).fit(x)
    expected = scipy_splines(fitted, degree)
    z = (x[:, 0] - x.mean()) / x.std()
    np.testing.assert_allclose(fitted.expand(x), expected(z)[:, 1:], atol=1e-12)
    for end, outside in ((z.min(), z.min() - 2.5), (z.max(), z.max() + 4.0)):
        tangent = expected(end) + expected.derivative()(end) * (outside - end)
        got = fitted.expand(np.array([outside * x.std() + x.mean()]))
        np.testing.assert_allclose(got, tangent[1:], rtol=1e-9, atol=1e-9)


def test_knots_stand_at_the_quantiles_of_the_rows() -> None:
    x = np.random.default_rng(3).permutation(np.arange(101.0))[:, None]
    fitted = Splines(n_knots=5).fit(x)
    np.testing.assert_allclose(fitted.knots[0] * x.std() + x.mean(), [0.0, 25.0, 50.0, 75.0, 100.0])


@pytest.mark.parametrize("degree", [1, 3, 5])
def test_a_straight_line_is_a_combination_of_splines_even_far_outside(degree: int) -> None:
    x = some_rows(400, 1)
    fitted = Splines(n_knots=6, degree=degree).fit(x)
    design = np.column_stack([np.ones(400), fitted.expand(x)])
    weights, *_ = np.linalg.lstsq(design, 2.0 - 3.0 * x[:, 0])
    far = np.array([[-50.0], [50.0]])
    got = np.column_stack([np.ones(2), fitted.expand(far)]) @ weights
    np.testing.assert_allclose(got, [152.0, -148.0], rtol=1e-9)


def test_splines_with_an_intercept_are_well_conditioned() -> None:
    x = np.column_stack([some_rows(2000, 3), 1.7e9 + np.random.default_rng(5).exponential(1e5, 2000)])
    features = Splines(n_knots=8).fit(x).expand(x)
    assert np.linalg.cond(np.column_stack([np.ones(2000), features])) < 1000.0
    assert np.linalg.cond(np.column_stack([np.ones(2000), features / features.std(axis=0)])) < 1000.0


def test_columns_of_few_values_get_no_more_features_than_they_can_tell_apart() -> None:
    rng = np.random.default_rng(6)
    for n_values in (1, 2, 3, 4, 6):
        x = rng.choice(np.arange(n_values) ** 2.0, size=(200, 1))
        features = Splines().fit(x).expand(x)
        assert features.shape[1] == max(1, n_values - 1)
        assert np.linalg.matrix_rank(np.column_stack([np.ones(200), features])) == n_values


def test_constant_and_two_valued_columns_become_straight_lines() -> None:
    x = np.column_stack([np.full(10, 7.0), np.arange(10) % 2 * 4.0])
    fitted = Splines().fit(x)
    assert fitted.n_features == 2
    got = fitted.expand(np.array([[7.0, 0.0], [8.5, 4.0], [6.0, 12.0], [7.0, -2.0]]))
    np.testing.assert_allclose(got, [[0.0, 0.0], [1.5, 1.0], [-1.0, 3.0], [0.0, -0.5]], atol=1e-12)


def test_nearly_equal_knots_are_merged() -> None:
    x = np.concatenate([1e-7 * np.arange(50), np.linspace(1.0, 2.0, 50)])[:, None]
    fitted = Splines(n_knots=5).fit(x)
    assert np.unique(fitted.knots[0]).size == 3
    assert np.abs(fitted.expand(np.array([[-1.0]]))).max() < 100.0


@given(st.integers(2, 9), st.integers(1, 5), st.lists(st.integers(-5, 5), min_size=1, max_size=40))
def test_splines_of_any_column_lie_between_0_and_1_inside_its_range(
    n_knots: int, degree: int, values: list[int]
) -> None:
    x = np.array(values, dtype=np.float64)[:, None]
    inside = np.linspace(x.min(), x.max(), 50)[:, None]
    features = Splines(n_knots=n_knots, degree=degree).fit(x).expand(inside)
    assert (features >= -1e-12).all()
    assert (features.sum(axis=1) <= 1.0 + 1e-12).all()


@pytest.mark.parametrize("length_scale", [0.5, 1.0, 3.0])
def test_inner_products_of_waves_approximate_the_gaussian_kernel(length_scale: float) -> None:
    x = some_rows(60, 3) * [1.0, 50.0, 1e-4] + [0.0, 1.7e9, 3.0]
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    kernel = np.exp(-((z[:, None] - z) ** 2).sum(axis=-1) / (2.0 * length_scale**2))
    features = RandomFourier(n_features=20_000, length_scale=length_scale).fit(x).expand(x)
    # An entry has standard deviation at most 1 / sqrt(D) = 0.007.
    assert np.abs(features @ features.T - kernel).max() < 0.04


def test_waves_depend_on_the_seed_alone() -> None:
    x = some_rows(10, 2)
    same = RandomFourier(seed=1).fit(x).frequencies
    np.testing.assert_array_equal(RandomFourier(seed=1).fit(5.0 * x).frequencies, same)
    assert not np.array_equal(RandomFourier(seed=2).fit(x).frequencies, same)
