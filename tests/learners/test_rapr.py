"""RAPR: proportional response, the error on held-out rows, and the risk adjustment."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.policies.proportional_response import ProportionalResponse, proportional_response
from gyrfalcon.core.policies.untried import TryingKernel
from gyrfalcon.core.records import Log
from gyrfalcon.environments import LinearEnvironment, StepExample
from gyrfalcon.learners.policy_error import policy_error
from gyrfalcon.learners.rapr import RAPR
from gyrfalcon.learners.steps import fitted_state
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.simulation.replications import simulate
from tests.contracts.environments import Lines, started, uniform_log

rows_of_scores = st.integers(1, 6).flatmap(
    lambda k: st.lists(st.integers(-8, 8).map(lambda v: v / 8.0), min_size=k, max_size=k)
)
widths = st.sampled_from([0.0, 1 / 64, 0.1, 0.125, 0.3, 1.0, 5.0, math.inf])


def by_integration(scores: Floats, width: float, mask: Bools, n: int = 200_000) -> Floats:
    """The mean over a fine grid of b of uniform play in C(x, min(b, 1/2)), from its definition."""
    grid = np.minimum((np.arange(n) + 0.5) / n, 0.5)[:, np.newaxis]
    gaps = np.where(mask, scores[mask].max() - scores, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        risk = np.where(gaps <= width, 1.0, width / gaps)
    members = (risk >= grid) & mask
    return np.asarray((members / members.sum(axis=1, keepdims=True)).mean(axis=0))


@given(rows_of_scores, widths, st.integers(0, 63))
def test_probabilities_are_the_integral_over_the_risk(scores: list[float], width: float, bits: int) -> None:
    row = np.array(scores)
    mask = np.array([bool(bits >> k & 1) for k in range(len(row))])
    mask[0] |= not mask.any()
    found = proportional_response(row, width, mask)
    np.testing.assert_allclose(found, by_integration(row, width, mask), atol=2e-5)
    assert found.sum() == pytest.approx(1.0, abs=1e-15)
    assert (found[~mask] == 0.0).all()
    assert np.array_equal(found[mask], proportional_response(row[mask], width))


@given(rows_of_scores, widths)
def test_better_actions_are_at_least_as_likely(scores: list[float], width: float) -> None:
    row = np.array(scores)
    found = proportional_response(row, width)
    order = np.argsort(row)
    assert (np.diff(found[order]) >= -1e-15).all()


def test_known_probabilities() -> None:
    # Risks (1, 1/3, 1/6): 1/6 of all three, 1/6 of the first two, and the first one alone from 1/3 on.
    np.testing.assert_allclose(
        proportional_response([0.7, 0.4, 0.1], 0.1),
        [1 / 18 + 1 / 12 + 2 / 3, 1 / 18 + 1 / 12, 1 / 18],
        rtol=1e-14,
    )
    # A gap of twice the width is in the set of risk 1/2, which risks above it share.
    np.testing.assert_allclose(proportional_response([0.5, 0.25], 0.125), [0.5, 0.5])


def test_a_width_of_zero_is_greedy_and_an_endless_one_uniform() -> None:
    assert proportional_response([0.1, 0.7, 0.3], 0.0).tolist() == [0.0, 1.0, 0.0]
    assert proportional_response([0.1, 0.7, 0.3], math.inf).tolist() == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("width", [-0.1, math.nan, "wide"])
def test_other_widths_are_refused(width: float) -> None:
    with pytest.raises(ValueError, match=r"width is .*; give a number of at least 0"):
        ProportionalResponse(width)


@pytest.mark.parametrize("omega", [0.5, math.inf, "k", True])
def test_other_omegas_are_refused(omega: float) -> None:
    with pytest.raises(ValueError, match="omega is"):
        RAPR(omega=omega)


@pytest.mark.parametrize("error", [0.001, 0.01, 0.05, 0.2])
@pytest.mark.parametrize("omega", ["K", 1, 2.5])
def test_eta_is_the_largest_one_that_suits(error: float, omega: float | Literal["K"]) -> None:
    n, n_actions = 2000, 6
    scores = np.random.default_rng(3).normal(size=(n, n_actions))
    gaps = scores.max(axis=1, keepdims=True) - scores

    def suits(eta: float) -> bool:
        risk = np.minimum(1.0, eta * error / np.maximum(gaps, eta * error))
        size = (risk >= 0.5).sum(axis=1).mean() + n_actions / math.sqrt(n)
        return bool(min(size, n_actions) <= n_actions / (2.0 * eta))

    most = math.sqrt(n_actions if omega == "K" else omega)
    grid = np.linspace(1.0, most, 2001)
    expected = max([eta for eta in grid if suits(eta)], default=1.0)
    step = (most - 1.0) / 2000
    assert RAPR(omega=omega).risk_adjustment(gaps, error) == pytest.approx(expected, abs=step + 1e-12)


def test_ineligible_actions_do_not_count_for_eta() -> None:
    gaps = np.random.default_rng(3).exponential(size=(500, 4))
    gaps[:, 0] = 0.0
    wider = np.hstack([gaps, np.full((500, 4), np.nan)])
    assert RAPR(omega=4).risk_adjustment(wider, 0.02) == RAPR(omega=4).risk_adjustment(gaps, 0.02)


def width_of(epoch: Epoch) -> float:
    assert isinstance(epoch.policy, KernelPolicy)
    assert isinstance(epoch.policy.kernel, TryingKernel)
    assert isinstance(epoch.policy.kernel.kernel, ProportionalResponse)
    return epoch.policy.kernel.kernel.width


def test_rows_held_out_bound_the_error_and_nothing_else() -> None:
    environment = Lines()
    log = uniform_log(environment, 400)
    play = started(RAPR(), environment)
    # Swapped in pairs, so that scores keep their origin and unit.
    swapped = log.reward.copy()
    swapped[1::4], swapped[3::4] = log.reward[3::4], log.reward[1::4]
    other = replace(log, reward=swapped)
    one, two = (play.learner.next_epoch(play.epoch, rows) for rows in (log, other))
    contexts = log.contexts
    models = [fitted_state(epoch).model for epoch in (one, two)]
    assert models[0] is not None
    assert models[1] is not None
    np.testing.assert_allclose(models[0].scores(contexts), models[1].scores(contexts), rtol=1e-12)
    assert width_of(two) > width_of(one)


def test_rows_held_out_of_one_fit_are_in_the_next() -> None:
    environment = Lines()
    play = started(RAPR(), environment)
    play.learn(uniform_log(environment, 100))
    play.learn(uniform_log(environment, 300, seed=2))
    state = fitted_state(play.epoch)
    assert state.active is not None
    assert state.passive is not None
    assert (state.active.n, state.passive.n) == (100 + 150, 150)
    alone = started(RAPR(data="last_epoch"), environment)
    alone.learn(uniform_log(environment, 100))
    alone.learn(uniform_log(environment, 300, seed=2))
    last = fitted_state(alone.epoch)
    assert last.active is not None
    assert last.active.n == 150


def test_without_propensities_play_stays_uniform() -> None:
    environment = Lines()
    log = uniform_log(environment, 200)
    unknown = replace(log, propensity=np.full(200, np.nan))
    play = started(RAPR(), environment)
    play.learn(unknown)
    assert width_of(play.epoch) == math.inf
    found = play.epoch.policy.probabilities(log.contexts)
    np.testing.assert_allclose(found, 1.0 / environment.n_actions)


def rows_of(environment: StepExample, seed: int, n: int = 400) -> Log:
    """Uniform play."""
    outcomes, rng = environment.draw(0, n, seed=seed), np.random.default_rng(seed)
    rows, action = np.arange(n), rng.integers(0, 2, n)
    whole = np.ones(n, dtype=np.int64)
    return Log(outcomes.contexts, action, outcomes.rewards[rows, action], whole / 2, whole, rows, 0 * whole)


def test_the_error_bounds_what_the_best_policy_gains() -> None:
    """In 200 runs at most 10 are above it: limits are at 95%, and adversaries are searched for."""
    environment, missed = StepExample(), 0
    grid = (np.arange(2000) + 0.5) / 2000
    means = environment.means(grid)
    for seed in range(200):
        log = rows_of(environment, seed)
        oracle = Linear().oracle(log.contexts, 2)
        # A fit of rows above 0.3 alone, as a greedy learner's would be, is wrong below.
        fitted = log.where((log.round % 2 == 0) & (log.contexts.shared[:, 0] > 0.3))
        model, _ = oracle.fit(oracle.summarise(fitted), oracle.empty())
        bound = policy_error(model, oracle, log.where(log.round % 2 == 1), 0.05)
        chosen = model.scores(Contexts(grid[:, np.newaxis])).argmax(axis=1)
        missed += means.max(axis=1).mean() - means[np.arange(2000), chosen].mean() > bound
    assert missed <= 10


def test_a_wrong_class_does_not_lead_it_astray() -> None:
    """Section 1.1: regret of play falls from epoch to epoch, where learners that trust their fit rise."""
    trace = simulate(RAPR(), StepExample(), 6400, n_replications=4, seed=1)
    assert trace.late_regret(0.25).mean() < 0.5 * StepExample().uniform_regret


def test_more_cumulative_regret_is_accepted_for_more_exploration() -> None:
    environment = LinearEnvironment(n_actions=5)
    some, much = (
        simulate(RAPR(omega=omega), environment, 3200, n_replications=4, seed=1).regret[:, -1].mean()
        for omega in (1, "K")
    )
    assert some < much
