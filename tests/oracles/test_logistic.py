"""Logistic fits: equal to independent solvers in one refit, close to them in many, finite whatever comes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.oracles.features.bases import Identity
from gyrfalcon.oracles.linear.logistic import LogisticModel, LogisticPosterior, first_prior
from gyrfalcon.oracles.linear.models import PerActionModel
from gyrfalcon.oracles.linear.penalties import Penalties
from gyrfalcon.oracles.solvers.moments import Moments

Rows = tuple[Floats, Bools, Ints]


def drawn(n: int, p: int, n_blocks: int = 1, rate: float = -1.0, seed: int = 0) -> Rows:
    """Columns with an intercept, successes by a logistic truth, and blocks."""
    rng, truth = np.random.default_rng(seed), np.random.default_rng(5)
    phi = np.concatenate([np.ones((n, 1)), rng.standard_normal((n, p))], axis=1)
    blocks = rng.integers(0, n_blocks, n)
    coefficients = truth.standard_normal((n_blocks, p + 1)) / np.sqrt(p + 1.0)
    log_odds = rate + np.einsum("nd,nd->n", phi, coefficients[blocks])
    return phi, rng.random(n) < expit(log_odds), blocks


def prior(p: int, *values: float, center: float = 0.0) -> Penalties:
    return replace(Penalties.start((1, p), 0.25), values=np.array(values), center=center)


def nothing(penalties: Penalties, n_blocks: int = 1) -> LogisticPosterior:
    return LogisticPosterior.of(Moments.zeros(n_blocks, len(penalties.groups)), penalties)


def log_posterior(theta: Floats, phi: Floats, successes: Bools, penalties: Penalties) -> float:
    log_odds, mean = phi @ theta, np.zeros(len(theta))
    mean[0] = penalties.center
    loss = np.logaddexp(0.0, log_odds).sum() - log_odds[successes].sum()
    return float(loss + 0.5 * (penalties.of_columns * (theta - mean) ** 2).sum())


def gradient(theta: Floats, phi: Floats, successes: Bools, penalties: Penalties) -> Floats:
    mean = np.zeros(len(theta))
    mean[0] = penalties.center
    return np.asarray(phi.T @ (expit(phi @ theta) - successes) + penalties.of_columns * (theta - mean))


@pytest.mark.parametrize("p", [1, 4, 20])
@pytest.mark.parametrize("rate", [0.0, -4.0])
def test_one_refit_gives_the_mode_that_bfgs_finds(p: int, rate: float) -> None:
    rows, penalties = drawn(500, p, rate=rate), prior(p, 0.7, 2.0, center=-1.0)
    fit = nothing(penalties).with_rows(*rows, penalties)
    found = minimize(log_posterior, np.zeros(p + 1), (*rows[:2], penalties), "BFGS", gradient, tol=1e-9)
    assert fit.means[0] == pytest.approx(found.x, abs=1e-6)
    curvature = rows[0].T @ (rows[0] * (expit(rows[0] @ found.x) * expit(-(rows[0] @ found.x)))[:, None])
    assert fit.covariances[0] == pytest.approx(
        np.linalg.inv(curvature + np.diag(penalties.of_columns)), rel=1e-4, abs=1e-8
    )


def test_one_refit_gives_the_coefficients_of_scikit_learn() -> None:
    phi, successes, blocks = drawn(800, 6)
    penalties = prior(6, 2.0, 2.0)
    theirs = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-10, max_iter=1000).fit(phi, successes)
    ours = nothing(penalties).with_rows(phi, successes, blocks, penalties)
    assert ours.means[0] == pytest.approx(theirs.coef_[0], abs=1e-5)


def test_blocks_do_not_touch_each_other() -> None:
    phi, successes, blocks = drawn(600, 3, n_blocks=4)
    penalties = prior(3, 1.0, 1.0, center=-2.0)
    together = nothing(penalties, 4).with_rows(phi, successes, blocks, penalties)
    for block in range(4):
        own = blocks == block
        alone = nothing(penalties).with_rows(phi[own], successes[own], 0 * blocks[own], penalties)
        assert together.means[block] == pytest.approx(alone.means[0], abs=1e-7)


def test_rows_that_come_in_parts_give_nearly_the_fit_of_all() -> None:
    phi, successes, blocks = drawn(4_000, 4, n_blocks=2)
    penalties = prior(4, 1.0, 1.0)
    whole = nothing(penalties, 2).with_rows(phi, successes, blocks, penalties)
    parts, start = nothing(penalties, 2), 0
    while start < len(phi):
        part = slice(start, max(start + 50, start + start // 10))
        parts = parts.with_rows(phi[part], successes[part], blocks[part], penalties)
        start = part.stop
    deviations = np.sqrt(np.diagonal(whole.covariances, axis1=1, axis2=2))
    # Earlier rows keep the expansion of their own refit: over 10 seeds at most 0.25 deviations apart.
    assert np.abs((parts.means - whole.means) / deviations).max() < 0.5


@given(
    seed=st.integers(0, 1000),
    n=st.integers(1, 60),
    p=st.integers(1, 6),
    scale=st.sampled_from([1.0, 30.0, 100.0]),
    case=st.sampled_from(["separable", "all successes", "none", "constant columns"]),
)
@settings(max_examples=60, deadline=None)
def test_separable_and_constant_rows_have_a_finite_mode(
    seed: int, n: int, p: int, scale: float, case: str
) -> None:
    phi, _, blocks = drawn(n, p, seed=seed)
    phi[:, 1:] *= 0.0 if case == "constant columns" else scale
    successes = {"separable": phi[:, -1] > 0.0, "all successes": np.ones(n, bool)}.get(
        case, np.zeros(n, bool)
    )
    penalties = prior(p, 1.0, 0.25, center=-1.0)
    fit = nothing(penalties).with_rows(phi, successes, blocks, penalties)
    assert np.isfinite(fit.means).all()
    assert (np.linalg.eigvalsh(fit.covariances[0]) > 0.0).all()
    slope = gradient(fit.means[0], phi, successes, penalties)
    size = np.abs(phi).sum(axis=0) + penalties.of_columns * (1.0 + np.abs(fit.means[0]))
    assert np.abs(slope / size).max() < 1e-9
    assert np.isfinite(fit.updated_prior(penalties).values).all()


def test_the_mode_is_found_where_whole_steps_would_go_too_far() -> None:
    rng = np.random.default_rng(0)
    phi = np.concatenate([np.ones((700, 1)), rng.standard_t(1.2, (700, 3)).clip(-10.0, 10.0)], axis=1)
    successes = rng.random(700) < expit(phi @ np.array([-4.0, 30.0, -20.0, 10.0]))
    penalties = prior(3, 1.0, 0.5, center=-3.0)
    fit = nothing(penalties).with_rows(phi, successes, np.zeros(700, np.int64), penalties)
    assert np.abs(gradient(fit.means[0], phi, successes, penalties)).max() < 1e-6


def test_a_group_that_says_nothing_is_shrunk_and_one_that_matters_is_not() -> None:
    rng = np.random.default_rng(0)
    x, noise = rng.standard_normal((3_000, 2)), rng.standard_normal((3_000, 10))
    phi = np.concatenate([np.ones((3_000, 1)), x, noise], axis=1)
    successes, blocks = rng.random(3_000) < expit(x @ [1.0, -1.0]), np.zeros(3_000, dtype=np.int64)
    penalties = first_prior((1, 2, 10), 0.5, 0.25)
    for _ in range(20):
        fit = nothing(penalties).with_rows(phi, successes, blocks, penalties)
        penalties = fit.updated_prior(penalties)
    assert penalties.values[1] < 5.0
    assert penalties.values[2] > 100.0


def test_no_rows_leave_the_prior() -> None:
    penalties = prior(2, 1.0, 4.0, center=-3.0)
    none = nothing(penalties, 2)
    assert none.means.tolist() == [[-3.0, 0.0, 0.0]] * 2
    assert none.updated_prior(penalties) == penalties
    rows, weights = drawn(50, 2), np.array([0, -1])
    moved = none.with_rows(*rows, penalties).reindexed(weights, penalties)
    assert moved.means[1].tolist() == [-3.0, 0.0, 0.0]


def test_weights_that_shrink_widen_the_posterior() -> None:
    rows, penalties = drawn(500, 2), prior(2, 1.0, 1.0)
    fit = nothing(penalties).with_rows(*rows, penalties)
    half = fit.scaled(0.5, penalties)
    assert (np.diagonal(half.covariances[0]) > np.diagonal(fit.covariances[0])).all()
    assert (half.variances_of(rows[0], rows[2]) > fit.variances_of(rows[0], rows[2])).all()


def model(n_actions: int, p: int, known: Bools | None = None) -> LogisticModel:
    rng = np.random.default_rng(1)
    basis = Identity().fit(np.zeros((1, p)))
    odds = PerActionModel(
        basis, None, rng.standard_normal((n_actions, p)), np.full((n_actions, 1), -3.0), None
    )
    return LogisticModel(odds, 0.0, 1.0, known)


@pytest.mark.parametrize("n_actions", [2, 7])
def test_a_row_alone_has_the_bits_that_it_has_in_any_batch(n_actions: int) -> None:
    x = np.random.default_rng(2).standard_normal((200, 5))
    made = model(n_actions, 5)
    batch = made.scores(Contexts(x))
    for n in (1, 3, 50):
        assert np.array_equal(made.scores(Contexts(x[:n])), batch[:n])


def test_scores_are_chances_between_the_two_rewards_and_in_their_unit() -> None:
    x = np.random.default_rng(2).standard_normal((200, 5))
    scores = model(3, 5).scores(Contexts(1e3 * x))
    assert scores.min() >= 0.0
    assert scores.max() <= 1.0
    scaled = replace(model(3, 5), origin=2.0, unit=10.0).restored()
    assert (scaled.low, scaled.high, scaled.origin, scaled.unit) == (2.0, 12.0, 0.0, 1.0)
    assert scaled.scores(Contexts(x)) == pytest.approx(2.0 + 10.0 * model(3, 5).scores(Contexts(x)))


def test_an_action_without_data_scores_just_above_the_others() -> None:
    x = Contexts(np.random.default_rng(2).standard_normal((20, 5)))
    scores = model(3, 5, np.array([True, False, True])).scores(x)
    best = scores[:, [0, 2]].max(axis=1)
    assert np.array_equal(scores[:, 1], np.nextafter(best, np.inf))
