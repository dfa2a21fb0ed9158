"""Environments of action features, and environments in which some actions may not be chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.arrays import Bools
from gyrfalcon.environments.population.best_in_class import misspecification
from gyrfalcon.environments.population.population import Population
from gyrfalcon.environments.protocol import PotentialOutcomes
from gyrfalcon.environments.synthetic.action_features import ActionFeatureEnvironment, EligibilityEnvironment
from gyrfalcon.environments.synthetic.families import LinearEnvironment
from gyrfalcon.oracles.linear.linear import Linear
from tests.environments.sinusoids import wave_error

seeds = st.integers(0, 2**32)


def mask_of(outcomes: PotentialOutcomes) -> Bools:
    assert outcomes.contexts.eligible is not None
    return outcomes.contexts.eligible


# Action features.


@pytest.mark.parametrize("interactions", [False, True])
@pytest.mark.parametrize("dial", [0.0, 0.6])
def test_all_actions_share_their_coefficients(interactions: bool, dial: float) -> None:
    environment = ActionFeatureEnvironment(interactions=interactions, misspecification=dial)
    drawn = environment.draw(0, 100, seed=1)
    truth, x, v = environment.truth, drawn.contexts.shared, drawn.contexts.actions
    assert v is not None
    for row in range(100):
        for action in range(environment.n_actions):
            own = v[row, action]
            line = truth.intercept + own @ truth.slopes
            line += x[row] @ truth.products @ own if interactions else 0.0
            expected = (1 + (1 - dial) * line + dial * np.sin(own @ truth.frequencies + truth.phase)) / 2
            assert drawn.means[row, action] == pytest.approx(expected, abs=1e-14)


@given(seeds, st.booleans(), st.integers(1, 3), st.integers(1, 4), st.integers(2, 5))
def test_dial_0_is_linear(environment_seed: int, interactions: bool, p: int, q: int, n_actions: int) -> None:
    environment = ActionFeatureEnvironment(
        n_actions=n_actions,
        n_features=p,
        n_action_features=q,
        interactions=interactions,
        environment_seed=environment_seed,
    )
    assert misspecification(Population.sampled(environment, 500, seed=0), Linear()).b < 1e-12


def test_without_interactions_a_class_with_them_is_too_rich_and_the_other_way_round_too_poor() -> None:
    plain = Linear(interactions=False)
    additive, multiplied = ActionFeatureEnvironment(), ActionFeatureEnvironment(interactions=True)
    assert misspecification(Population.sampled(additive, 2_000, seed=0), plain).b < 1e-12
    assert misspecification(Population.sampled(multiplied, 2_000, seed=0), plain).b > 1e-3


@pytest.mark.parametrize("q", [1, 2])
def test_b_is_that_of_the_wave(q: int) -> None:
    environment = ActionFeatureEnvironment(
        n_actions=3, n_features=0, n_action_features=q, misspecification=0.8
    )
    sample = Population.sampled(environment, 50_000, seed=2)
    found = misspecification(sample, Linear())
    strays = sample.standard_error(sample.squared_errors(found.model).mean(axis=1))
    # Five standard errors, wrong for one in 1.7 million seeds; the fit to the sample itself adds 1e-4 of b.
    expected = 0.8**2 / 4 * wave_error(environment.truth.frequencies, environment.truth.phase)
    assert abs(found.b - expected) < 5 * strays + 2e-4 * expected
    assert strays < 0.02 * expected


@pytest.mark.parametrize("interactions", [False, True])
def test_b_grows_as_the_square_of_the_dial(interactions: bool) -> None:
    environment = ActionFeatureEnvironment(interactions=interactions)
    b = [
        misspecification(
            Population.sampled(replace(environment, misspecification=m), 2_000, seed=3), Linear()
        ).b
        for m in (0.25, 0.5, 1.0)
    ]
    np.testing.assert_allclose(b, np.array([1 / 16, 1 / 4, 1]) * b[-1], rtol=1e-9)
    assert b[-1] > 0.01


@given(seeds, st.booleans(), st.floats(0.0, 1.0))
def test_means_stay_in_range_even_in_the_corners(
    environment_seed: int, interactions: bool, dial: float
) -> None:
    environment = ActionFeatureEnvironment(
        interactions=interactions, misspecification=dial, environment_seed=environment_seed
    )
    rng = np.random.default_rng(environment_seed)
    x, v = rng.choice([-1.0, 1.0], (64, 2)), rng.choice([-1.0, 1.0], (64, 5, 3))
    means = environment.means(x, v)
    assert means.min() >= 0.0
    assert means.max() <= 1.0


def test_interactions_with_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="n_features is 0, so that nothing interacts"):
        ActionFeatureEnvironment(n_features=0, interactions=True)
    with pytest.raises(ValueError, match="n_action_features is 0; give a whole number of at least 1"):
        ActionFeatureEnvironment(n_action_features=0)
    with pytest.raises(ValueError, match="interactions is 1; give True or False"):
        ActionFeatureEnvironment(interactions=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="noise is 'none'; give a standard deviation, or 'bernoulli'"):
        ActionFeatureEnvironment(noise="none")  # type: ignore[arg-type]


# Who may be chosen.


@given(seeds, st.floats(0.0, 1.0), st.integers(2, 6), st.integers(0, 5_000))
def test_no_row_is_without_an_action(seed: int, share: float, n_actions: int, start: int) -> None:
    environment = EligibilityEnvironment(environment=LinearEnvironment(n_actions=n_actions), share=share)
    assert mask_of(environment.draw(start, start + 3_000, seed)).any(axis=1).all()


def test_actions_are_eligible_as_often_as_they_should_be() -> None:
    mask = mask_of(
        EligibilityEnvironment(environment=LinearEnvironment(n_actions=4), share=0.3).draw(0, 100_000, seed=1)
    )
    # All four are barred with probability .7^4, and then one of them stays. Counts of actions and of rows
    # with a single one: five standard errors for five numbers, wrong for one in 350,000 seeds.
    share = 0.3 + 0.7**4 / 4
    single = 4 * 0.3 * 0.7**3 + 0.7**4
    assert np.all(np.abs(mask.mean(axis=0) - share) < 5 * np.sqrt(share * (1 - share) / 100_000))
    assert abs((mask.sum(axis=1) == 1).mean() - single) < 5 * np.sqrt(single * (1 - single) / 100_000)


def test_masks_leave_the_environment_as_it_is_and_know_nothing_of_it() -> None:
    inner = LinearEnvironment()
    drawn, masked = inner.draw(0, 100_000, 2), EligibilityEnvironment(environment=inner).draw(0, 100_000, 2)
    assert np.array_equal(drawn.contexts.shared, masked.contexts.shared)
    assert np.array_equal(drawn.means, masked.means)
    assert np.array_equal(drawn.rewards, masked.rewards)
    columns = np.concatenate([mask_of(masked), drawn.contexts.shared, drawn.rewards - drawn.means], axis=1)
    between = np.corrcoef(columns.T)[:3, 3:]
    # 15 correlations, five standard errors: wrong for one in 116,000 seeds.
    assert np.all(np.abs(between) < 5 / np.sqrt(100_000))


def test_share_0_leaves_one_action_and_share_1_all() -> None:
    one = mask_of(EligibilityEnvironment(environment=LinearEnvironment(), share=0.0).draw(0, 1_000, 0))
    every = mask_of(EligibilityEnvironment(environment=LinearEnvironment(), share=1.0).draw(0, 1_000, 0))
    assert np.all(one.sum(axis=1) == 1)
    assert every.all()


def test_what_the_environment_bars_stays_barred() -> None:
    inner = EligibilityEnvironment(environment=LinearEnvironment(n_actions=5), share=0.5)
    outer = EligibilityEnvironment(environment=inner, share=0.3)
    first, second = mask_of(inner.draw(0, 5_000, 3)), mask_of(outer.draw(0, 5_000, 3))
    assert not (second & ~first).any()
    assert second.any(axis=1).all()


def test_other_environments_and_shares_are_refused() -> None:
    with pytest.raises(ValueError, match="environment is 3; give an environment such as LinearEnvironment"):
        EligibilityEnvironment(environment=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"share is 1\.5; give a number from 0 to 1"):
        EligibilityEnvironment(environment=LinearEnvironment(), share=1.5)


def test_masks_laid_on_masks_are_independent() -> None:
    once = EligibilityEnvironment(environment=LinearEnvironment(n_actions=20), share=0.5)
    twice = EligibilityEnvironment(environment=once, share=0.5)
    eligible = twice.draw(0, 5000, seed=0).contexts.eligible
    assert eligible is not None
    # 100,000 actions at 1/4: the standard error is .0014.
    assert eligible.mean() == pytest.approx(0.25, abs=0.007)
