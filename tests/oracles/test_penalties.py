"""Penalties by marginal likelihood: against closed forms, a general optimiser and computations from rows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.oracles.features.design import Layout
from gyrfalcon.oracles.linear import penalties as module
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.linear.marginal_fit import inverse_fit, inverse_of, marginal_fit, quick_fit
from gyrfalcon.oracles.linear.penalties import Penalties
from gyrfalcon.oracles.solvers.moments import Moments

PLAIN = Linear(standardise=False)


@pytest.fixture
def unheld(monkeypatch: pytest.MonkeyPatch) -> None:
    """Marginal likelihood and nothing else: nothing is held up or within bounds."""
    for name in ("_PRIOR_ROWS", "_PRIOR_ACTIONS"):
        monkeypatch.setattr(module, name, 1e-12)
    monkeypatch.setattr(module, "_LEAST_NOISE", 0.0)
    monkeypatch.setattr(module, "_MOST_EARLY", 1e9)


def log_of(
    n: int, seed: int, n_actions: int = 3, p: int = 3, q: int = 0, noise: float = 0.3, slope: float = 0.5
) -> Log:
    """Uniform play with coefficients of each action drawn at random."""
    rng = np.random.default_rng([seed, n, n_actions, p, q])
    x, action = rng.normal(size=(n, p)), rng.integers(0, n_actions, n)
    actions = rng.normal(size=(n, n_actions, q)) if q else None
    own = rng.normal(0.0, slope, size=(n_actions, 1 + p))
    reward = own[action, 0] + np.einsum("np,np->n", x, own[action, 1:]) + noise * rng.normal(size=n)
    if actions is not None:
        reward += 0.3 * actions[np.arange(n), action].sum(axis=1)
    zeros = np.zeros(n, dtype=np.int64)
    return Log(Contexts(x, actions), action, reward, np.full(n, 1.0 / n_actions), zeros, zeros, zeros)


def oracle_of(log: Log, settings: Linear = PLAIN, n_actions: int = 3) -> LinearOracle:
    return settings.oracle(log.contexts, n_actions)


def settled(oracle: LinearOracle, rows: Moments, start: Penalties, n_steps: int = 3_000) -> Penalties:
    """The penalties after many steps on the same rows."""
    for _ in range(n_steps):
        start = inverse_fit(oracle, rows, start)[2]
    return start


def dense(oracle: LinearOracle, log: Log) -> tuple[Floats, Floats]:
    """(n, B d) columns of all blocks beside each other, and the constant 1 in them where there is one."""
    phi, blocks = oracle.design.rows(log)
    own = np.zeros(len(log), dtype=np.int64) if blocks is None else blocks
    wide = np.zeros((len(log), oracle.design.n_blocks, phi.shape[1]))
    wide[np.arange(len(log)), own] = phi
    return wide.reshape(len(log), -1), phi @ oracle.design.constant


def log_evidence(wide: Floats, groups: Ints, reward: Floats, noise: float, variances: Floats) -> float:
    """The logarithm of the density of N(0, noise I + Phi D Phi') at these rewards."""
    covariance = noise * np.eye(len(reward)) + (wide * variances[groups]) @ wide.T
    lower = np.linalg.cholesky(covariance)
    half = np.linalg.solve(lower, reward)
    return float(-0.5 * half @ half - np.log(np.diag(lower)).sum())


@pytest.mark.usefixtures("unheld")
def test_one_group_of_an_orthonormal_design_has_a_closed_form() -> None:
    # Coefficients b of X'X = n I are N(0, s^2 + noise / n), and what is left has n - d degrees of freedom.
    n, d, rng = 60, 8, np.random.default_rng(0)
    x = math.sqrt(n) * np.linalg.qr(rng.normal(size=(n, d)))[0]
    r = x @ rng.normal(0.0, 0.4, d) + rng.normal(size=n)
    b = x.T @ r / n
    noise = float(r @ r - n * b @ b) / (n - d)
    variance = float(b @ b) / d - noise / n
    zeros = np.zeros(n, dtype=np.int64)
    log = Log(Contexts(x), zeros, r, np.ones(n), zeros, zeros, zeros)
    oracle = oracle_of(log, replace(PLAIN, intercept=False), n_actions=1)
    start = Penalties.of(oracle.design, least=1e-6)
    assert start.groups.tolist() == [0] * d
    found = settled(oracle, oracle.sums(log), start)
    assert found.noise == pytest.approx(noise, rel=1e-8)
    assert found.values.tolist() == pytest.approx([noise / variance], rel=1e-8)
    assert found.center == 0.0


@pytest.mark.usefixtures("unheld")
@pytest.mark.parametrize("layout", ["per_action", "shared", "hybrid"])
def test_the_fixed_point_is_where_an_optimiser_finds_the_largest_marginal_likelihood(layout: str) -> None:
    q = 0 if layout == "per_action" else 2
    log = log_of(80, 1, n_actions=5, q=q)
    oracle = oracle_of(log, replace(PLAIN, layout=layout), n_actions=5)  # type: ignore[arg-type]
    found = settled(oracle, oracle.sums(log), Penalties.of(oracle.design, least=1e-9))
    (wide, constant), n_groups = dense(oracle, log), len(found.values)
    groups = np.tile(found.groups, oracle.design.n_blocks)
    centred = layout != "shared"

    def loss(logs: Floats) -> float:
        center = logs[-1] if centred else 0.0
        variances = np.exp(logs[1:-1])
        return -log_evidence(wide, groups, log.reward - center * constant, math.exp(logs[0]), variances)

    there = np.array([math.log(found.noise), *np.log(found.noise / found.values), found.center])
    best = optimize.minimize(
        loss, there + 0.3, method="Nelder-Mead", options={"maxiter": 20_000, "fatol": 1e-10}
    )
    assert loss(there) == pytest.approx(best.fun, abs=1e-5)
    # A group that explains nothing goes to 0, where its logarithm is of no account.
    counts = np.exp(there) > 1e-4
    counts[-1] = centred
    assert counts.sum() >= n_groups
    np.testing.assert_allclose(there[counts], best.x[counts], atol=0.02)


def test_one_step_has_the_noise_of_rows_less_their_degrees_of_freedom() -> None:
    log = log_of(50, 2, p=4)
    oracle = oracle_of(log)
    before = replace(Penalties.of(oracle.design), values=np.array([3.0, 7.0]), center=0.2)
    model, _, after = inverse_fit(oracle, oracle.sums(log), before)
    wide, constant = dense(oracle, log)
    penalty = np.tile(before.of_columns, 3)
    smoother = wide @ np.linalg.solve(wide.T @ wide + np.diag(penalty), wide.T)
    errors = (log.reward - 0.2 * constant) - smoother @ (log.reward - 0.2 * constant)
    assert after.noise == pytest.approx(float(errors @ errors) / (50 - np.trace(smoother)), rel=1e-10)
    left = log.reward - model.scores(log.contexts)[np.arange(50), log.action]
    np.testing.assert_allclose(left, errors, atol=1e-10)


def test_intercepts_are_shrunk_to_their_mean_over_actions_with_rows() -> None:
    log = log_of(60, 3, p=0, n_actions=4)
    log = log.where(log.action != 2)
    oracle = oracle_of(log, n_actions=4)
    found = settled(oracle, oracle.sums(log), Penalties.of(oracle.design))
    model, _, _ = inverse_fit(oracle, oracle.sums(log), found)
    levels = model.scores(Contexts(np.empty((1, 0))))[0]
    assert found.center == pytest.approx(levels[[0, 1, 3]].mean(), rel=1e-8)
    counts, totals = (np.bincount(log.action, weights, minlength=4) for weights in (None, log.reward))
    ridge = found.values[0]
    expected = (totals + ridge * found.center) / (counts + ridge)
    np.testing.assert_allclose(levels[[0, 1, 3]], expected[[0, 1, 3]], rtol=1e-8)


def test_columns_of_noise_are_shrunk_away_and_those_of_a_signal_are_not() -> None:
    rng = np.random.default_rng(4)
    signal, noise = rng.normal(size=(2_000, 2)), rng.normal(size=(2_000, 30))
    action = rng.integers(0, 2, 2_000)
    reward = signal @ [0.5, -0.5] + rng.normal(size=2_000)
    zeros = np.zeros(2_000, dtype=np.int64)
    log = Log(Contexts(np.hstack([signal, noise])), action, reward, np.full(2_000, 0.5), zeros, zeros, zeros)
    oracle = oracle_of(log, n_actions=2)
    found = settled(oracle, oracle.sums(log), Penalties.start((1, 2, 30)), n_steps=100)
    # A prior variance of 0.25 is a penalty of 4. The 60 coefficients of noise are known by their prior alone,
    # which is held up to what about 0.5 rows resolve.
    assert 1.0 <= found.values[1] < 15.0
    assert found.values[2] > 3_000.0
    assert found.noise == pytest.approx(1.0, abs=0.13)  # four standard errors


@given(st.integers(0, 2**32), st.integers(1, 60), st.sampled_from([1e-6, 0.01, 1.0]), st.floats(0.5, 50.0))
def test_no_penalty_is_below_the_least_one_and_all_is_finite(
    seed: int, n: int, noise: float, least: float
) -> None:
    log = log_of(n, seed, p=6, noise=noise)
    oracle = oracle_of(log)
    penalties = Penalties.of(oracle.design, least)
    for _ in range(5):
        penalties = inverse_fit(oracle, oracle.sums(log), penalties)[2]
        assert (penalties.values >= least).all()
        assert np.isfinite(penalties.values).all()
        assert np.isfinite([penalties.noise, penalties.center]).all()
    variance = float(log.reward.var())
    assert penalties.noise >= 1e-3 * variance * (1.0 - 1e-9) or variance < 1e-12


@given(st.integers(0, 2**32), st.integers(-20, 20))
def test_the_unit_of_rewards_changes_no_penalty(seed: int, power: int) -> None:
    log, factor = log_of(40, seed), 2.0**power
    oracle = oracle_of(log)
    ours = theirs = Penalties.of(oracle.design)
    scaled = replace(log, reward=factor * log.reward)
    for _ in range(4):
        ours = inverse_fit(oracle, oracle.sums(log), ours)[2]
        theirs = inverse_fit(oracle, oracle.sums(scaled), theirs)[2]
    assert np.array_equal(ours.values, theirs.values)
    assert theirs.noise == factor**2 * ours.noise
    assert theirs.center == factor * ours.center


@pytest.mark.parametrize("layout", ["per_action", "hybrid"])
@pytest.mark.parametrize(("shift", "factor"), [(-7.0, 1.0), (3.0, -2.5)])
def test_rewards_may_be_measured_from_anywhere(layout: str, shift: float, factor: float) -> None:
    log = log_of(120, 5, q=0 if layout == "per_action" else 1)
    oracle = oracle_of(log, Linear(layout=layout))  # type: ignore[arg-type]
    start = Penalties.of(oracle.design)
    moved = replace(log, reward=shift + factor * log.reward)
    found, other = (settled(oracle, oracle.sums(one), start, 400) for one in (log, moved))
    # In the hybrid layout, intercepts are held up to the mean square of rewards in place of their variance.
    exact = layout == "per_action"
    assert other.center == pytest.approx(shift + factor * found.center, rel=1e-6 if exact else 0.05)
    assert other.noise == pytest.approx(factor**2 * found.noise, rel=1e-6 if exact else 0.05)
    if exact:
        np.testing.assert_allclose(other.values, found.values, rtol=1e-6)


def test_each_kind_of_columns_is_a_group() -> None:
    log = log_of(30, 6, p=2, q=3)
    kinds = {
        "per_action": [0, 1, 1, 2, 2, 2],
        "shared": [0, 1, 1, 2, 2, 2, *[3] * 6],
        "hybrid": [2, 2, 2, *[3] * 6, *[0, 1, 1] * 3],
    }
    for layout, groups in kinds.items():
        oracle = oracle_of(log, Linear(layout=layout))  # type: ignore[arg-type]
        found = Penalties.of(oracle.design)
        assert found.groups.tolist() == groups
        assert len(found.of_columns) == oracle.design.block_width
        assert found.values[0] == 2.0
    without = Linear(layout="shared", intercept=False, interactions=False).oracle(log.contexts, 3)
    assert Penalties.of(without.design).groups.tolist() == [0, 0, 1, 1, 1]
    assert Penalties.of(without.design).values.tolist() == [7.0, 8.0]
    alone = oracle_of(log_of(30, 6, p=0))
    assert Penalties.of(alone.design, least=4.0).values.tolist() == [4.0]


def test_shared_columns_have_the_rows_of_all_actions_and_own_ones_a_share() -> None:
    # What holds a variance up is the noise over the rows per copy of a column: 3 copies of an action's own.
    log = log_of(3_000, 7, p=2, q=2, slope=0.0)
    oracle = oracle_of(log, Linear(layout="hybrid"))
    found = settled(oracle, oracle.sums(log), Penalties.of(oracle.design), 300)
    own, products = found.values[1], found.values[3]
    assert 300.0 < own < 10_000.0
    assert products > 1_000.0
    assert found.values[2] < 100.0  # v itself has coefficients of 0.3


def test_without_rows_or_with_rewards_that_are_all_alike_nothing_is_learned() -> None:
    log = log_of(20, 8)
    for settings in (PLAIN, Linear()):
        oracle = oracle_of(log, settings)
        start = Penalties.of(oracle.design)
        for rows in (oracle.empty(), oracle.sums(replace(log, reward=np.full(20, 4.0)))):
            assert inverse_fit(oracle, rows, start)[2] is start
            model, _, after = marginal_fit(oracle, rows, start)
            assert after is start
            assert np.isfinite(model.widths(log.contexts)).all()


@pytest.mark.parametrize("layout", ["per_action", "shared", "hybrid"])
def test_penalties_stay_when_actions_come_and_go(layout: str) -> None:
    log = log_of(90, 9, q=0 if layout == "per_action" else 2)
    oracle = oracle_of(log, Linear(layout=layout))  # type: ignore[arg-type]
    found = settled(oracle, oracle.sums(log), Penalties.of(oracle.design), 3)
    for n_actions in (1, 2, 3, 5):
        after = oracle.reindexed(n_actions)
        moved = found.reindexed(oracle.design, after.design)
        assert moved.groups.tolist() == Penalties.of(after.design).groups.tolist()
        assert np.array_equal(moved.values, found.values)
        assert (moved.noise, moved.center, moved.least) == (found.noise, found.center, found.least)
        back = moved.reindexed(after.design, oracle.design)
        assert np.array_equal(back.groups, found.groups)
    assert oracle.design.layout is Layout(layout)


@given(
    st.integers(0, 2**32),
    st.integers(1, 80),
    st.sampled_from(["per_action", "shared", "hybrid"]),
    st.lists(st.floats(0.5, 1e6), min_size=4, max_size=4),
    st.floats(-3.0, 3.0),
)
def test_the_fit_by_inverses_solves_the_normal_equations(
    seed: int, n: int, layout: str, values: list[float], center: float
) -> None:
    log = log_of(n, seed, q=0 if layout == "per_action" else 2)
    oracle = oracle_of(log, replace(PLAIN, layout=layout))  # type: ignore[arg-type]
    start = Penalties.of(oracle.design)
    given = replace(start, values=np.array(values)[: len(start.values)], least=0.1, center=center)
    rows = oracle.sums(log)
    model, inverses, after = inverse_fit(oracle, rows, given)
    wide, constant = dense(oracle, log)
    penalised = wide.T @ wide + np.diag(np.tile(given.of_columns, oracle.design.n_blocks))
    theta = np.linalg.solve(penalised, wide.T @ (log.reward - center * constant))
    seen = np.arange(n), log.action
    np.testing.assert_allclose(model.scores(log.contexts)[seen], wide @ theta + center * constant, atol=1e-8)
    np.testing.assert_allclose(model.estimates_of(log), wide @ theta + center * constant, atol=1e-8)
    d = oracle.design.block_width
    for block, inverse in enumerate(inverses):
        own = slice(block * d, (block + 1) * d)
        np.testing.assert_allclose(inverse @ penalised[own, own], np.eye(d), atol=1e-7)
        assert np.array_equal(inverse, inverse.T)
    widths, _, also = marginal_fit(oracle, rows, given)
    np.testing.assert_allclose(widths.means(log.contexts), model.scores(log.contexts), atol=1e-7)
    squares = np.einsum("nd,de,ne->n", wide, np.linalg.inv(penalised), wide)
    np.testing.assert_allclose(widths.widths_of(log.contexts, log.action) ** 2, squares, atol=1e-8)
    np.testing.assert_allclose(also.values, after.values, rtol=1e-6)
    np.testing.assert_allclose([also.noise, also.center], [after.noise, after.center], rtol=1e-6, atol=1e-9)


@given(st.integers(0, 2**32), st.integers(20, 80), st.integers(-3, 3))
def test_standardised_columns_leave_no_trace_of_units(seed: int, n: int, power: int) -> None:
    log = log_of(n, seed)
    x = log.contexts.shared * 10.0**power + 5.0
    moved = replace(log, contexts=Contexts(x))
    fits = []
    for one in (log, moved):
        oracle = oracle_of(one, Linear())
        model, _, after = marginal_fit(oracle, oracle.sums(one), Penalties.of(oracle.design))
        fits.append((model.means(one.contexts), model.widths(one.contexts), after.values))
    for ours, theirs in zip(*fits, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("n", "most"), [(60, 5.0), (100, 5.0), (200, 40.0)])
def test_few_rows_shrink_inputs_only_so_far(n: int, most: float, monkeypatch: pytest.MonkeyPatch) -> None:
    log = log_of(n, 3, slope=0.0)
    oracle = oracle_of(log)
    rows, start = oracle.sums(log), Penalties.of(oracle.design)
    assert settled(oracle, rows, start, 300).values[1] == pytest.approx(most)
    monkeypatch.setattr(module, "_MOST_EARLY", 1e9)
    assert settled(oracle, rows, start, 300).values[1] > most


@pytest.mark.parametrize("d", [1, 2, 47, 48, 49, 96, 130])
def test_an_inverse_is_exactly_symmetric_and_leaves_its_matrix_alone(d: int) -> None:
    rows = np.random.default_rng(d).normal(size=(3 * d, d))
    matrix = rows.T @ rows + np.eye(d)
    kept = matrix.copy()
    inverse = inverse_of(matrix)
    assert np.array_equal(inverse, inverse.T)
    assert np.array_equal(matrix, kept)
    np.testing.assert_allclose(inverse @ matrix, np.eye(d), atol=1e-10)


def test_an_inverse_of_what_is_not_finite_is_refused() -> None:
    for bad in (np.array([[math.nan]]), np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[-1.0]])):
        with pytest.raises(ValueError, match="standardise the features first"):
            inverse_of(bad)
    assert inverse_of(np.array([[4.0]])).tolist() == [[0.25]]


@pytest.mark.parametrize(
    ("settings", "q"),
    [
        (Linear(layout="per_action", standardise=False), 0),
        (Linear(layout="shared", standardise=False), 2),
        (Linear(layout="hybrid", standardise=False), 2),
    ],
    ids=["per action", "shared", "hybrid"],
)
@pytest.mark.parametrize("n", [2, 12, 400])
def test_the_quick_fit_has_the_estimates_of_the_one_with_inverses(n: int, settings: Linear, q: int) -> None:
    log = log_of(n, seed=n, q=q)
    oracle = oracle_of(log, settings)
    rows, penalties = oracle.sums(log), replace(Penalties.of(oracle.design), center=0.4)
    quick, slow = quick_fit(oracle, rows, penalties), inverse_fit(oracle, rows, penalties)[0]
    np.testing.assert_allclose(quick.estimates_of(log), slow.estimates_of(log), rtol=1e-10, atol=1e-10)


def test_rows_of_rare_rewards_hold_variances_up_as_fewer_rows_would() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((4_000, 5))
    log = replace(log_of(4_000, 3), contexts=Contexts(x), reward=(rng.random(4_000) < 0.01).astype(float))
    oracle = oracle_of(log, Linear())
    rows, after = oracle.sums(log), []
    for information in (1.0, 0.04):
        penalties = Penalties.of(oracle.design)
        for _ in range(30):
            penalties = marginal_fit(oracle, rows, penalties, information)[2]
        after.append(penalties)
    assert after[1].values[1] < 0.2 * after[0].values[1]
    assert after[1].noise == pytest.approx(after[0].noise, rel=0.02)
