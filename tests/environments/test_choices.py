"""Worlds of action features, and worlds in which some actions may not be chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyrfalcon.core.types import Bools
from gyrfalcon.environments.choices import ActionFeatureWorld, EligibilityWorld
from gyrfalcon.environments.environment import World
from gyrfalcon.environments.families import LinearWorld
from gyrfalcon.environments.misspecification import misspecification
from gyrfalcon.environments.population import Population
from gyrfalcon.oracles.linear import Linear
from tests.environments.waves import wave_error

examples = settings(deadline=None, max_examples=25)
seeds = st.integers(0, 2**32)


def mask_of(world: World) -> Bools:
    assert world.contexts.eligible is not None
    return world.contexts.eligible


# Action features.


@pytest.mark.parametrize("interactions", [False, True])
@pytest.mark.parametrize("dial", [0.0, 0.6])
def test_all_actions_share_their_coefficients(interactions: bool, dial: float) -> None:
    world = ActionFeatureWorld(interactions=interactions, misspecification=dial)
    drawn = world.draw(0, 100, seed=1)
    truth, x, v = world.truth, drawn.contexts.shared, drawn.contexts.actions
    assert v is not None
    for row in range(100):
        for action in range(world.n_actions):
            own = v[row, action]
            line = truth.intercept + own @ truth.slopes
            line += x[row] @ truth.products @ own if interactions else 0.0
            expected = (1 + (1 - dial) * line + dial * np.sin(own @ truth.waves + truth.phase)) / 2
            assert drawn.means[row, action] == pytest.approx(expected, abs=1e-14)


@examples
@given(seeds, st.booleans(), st.integers(1, 3), st.integers(1, 4), st.integers(2, 5))
def test_dial_0_is_linear(world_seed: int, interactions: bool, p: int, q: int, n_actions: int) -> None:
    world = ActionFeatureWorld(
        n_actions=n_actions,
        n_features=p,
        n_action_features=q,
        interactions=interactions,
        world_seed=world_seed,
    )
    assert misspecification(Population.sampled(world, 500, seed=0), Linear()).b < 1e-12


def test_without_interactions_a_class_with_them_is_too_rich_and_the_other_way_round_too_poor() -> None:
    plain = Linear(interactions=False)
    additive, multiplied = ActionFeatureWorld(), ActionFeatureWorld(interactions=True)
    assert misspecification(Population.sampled(additive, 2_000, seed=0), plain).b < 1e-12
    assert misspecification(Population.sampled(multiplied, 2_000, seed=0), plain).b > 1e-3


@pytest.mark.parametrize("q", [1, 2])
def test_b_is_that_of_the_wave(q: int) -> None:
    world = ActionFeatureWorld(n_actions=3, n_features=0, n_action_features=q, misspecification=0.8)
    sample = Population.sampled(world, 50_000, seed=2)
    found = misspecification(sample, Linear())
    strays = sample.standard_error(sample.squared_errors(found.model).mean(axis=1))
    # Five standard errors, wrong for one in 1.7 million seeds; the fit to the sample itself adds 1e-4 of b.
    expected = 0.8**2 / 4 * wave_error(world.truth.waves, world.truth.phase)
    assert abs(found.b - expected) < 5 * strays + 2e-4 * expected
    assert strays < 0.02 * expected


@pytest.mark.parametrize("interactions", [False, True])
def test_b_grows_as_the_square_of_the_dial(interactions: bool) -> None:
    world = ActionFeatureWorld(interactions=interactions)
    b = [
        misspecification(Population.sampled(replace(world, misspecification=m), 2_000, seed=3), Linear()).b
        for m in (0.25, 0.5, 1.0)
    ]
    np.testing.assert_allclose(b, np.array([1 / 16, 1 / 4, 1]) * b[-1], rtol=1e-9)
    assert b[-1] > 0.01


@examples
@given(seeds, st.booleans(), st.floats(0.0, 1.0))
def test_means_stay_in_range_even_in_the_corners(world_seed: int, interactions: bool, dial: float) -> None:
    world = ActionFeatureWorld(interactions=interactions, misspecification=dial, world_seed=world_seed)
    rng = np.random.default_rng(world_seed)
    x, v = rng.choice([-1.0, 1.0], (64, 2)), rng.choice([-1.0, 1.0], (64, 5, 3))
    means = world.means(x, v)
    assert means.min() >= 0.0
    assert means.max() <= 1.0


def test_interactions_with_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="n_features is 0, so that nothing interacts"):
        ActionFeatureWorld(n_features=0, interactions=True)
    with pytest.raises(ValueError, match="n_action_features is 0; give a whole number of at least 1"):
        ActionFeatureWorld(n_action_features=0)
    with pytest.raises(ValueError, match="interactions is 1; give True or False"):
        ActionFeatureWorld(interactions=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="noise is 'none'; give a standard deviation, or 'bernoulli'"):
        ActionFeatureWorld(noise="none")  # type: ignore[arg-type]


# Who may be chosen.


@examples
@given(seeds, st.floats(0.0, 1.0), st.integers(2, 6), st.integers(0, 5_000))
def test_no_row_is_without_an_action(seed: int, share: float, n_actions: int, start: int) -> None:
    world = EligibilityWorld(world=LinearWorld(n_actions=n_actions), share=share)
    assert mask_of(world.draw(start, start + 3_000, seed)).any(axis=1).all()


def test_actions_are_eligible_as_often_as_they_should_be() -> None:
    mask = mask_of(EligibilityWorld(world=LinearWorld(n_actions=4), share=0.3).draw(0, 100_000, seed=1))
    # All four are barred with probability .7^4, and then one of them stays. Counts of actions and of rows
    # with a single one: five standard errors for five numbers, wrong for one in 350,000 seeds.
    share = 0.3 + 0.7**4 / 4
    single = 4 * 0.3 * 0.7**3 + 0.7**4
    assert np.all(np.abs(mask.mean(axis=0) - share) < 5 * np.sqrt(share * (1 - share) / 100_000))
    assert abs((mask.sum(axis=1) == 1).mean() - single) < 5 * np.sqrt(single * (1 - single) / 100_000)


def test_masks_leave_the_world_as_it_is_and_know_nothing_of_it() -> None:
    inner = LinearWorld()
    drawn, masked = inner.draw(0, 100_000, 2), EligibilityWorld(world=inner).draw(0, 100_000, 2)
    assert np.array_equal(drawn.contexts.shared, masked.contexts.shared)
    assert np.array_equal(drawn.means, masked.means)
    assert np.array_equal(drawn.rewards, masked.rewards)
    columns = np.concatenate([mask_of(masked), drawn.contexts.shared, drawn.rewards - drawn.means], axis=1)
    between = np.corrcoef(columns.T)[:3, 3:]
    # 15 correlations, five standard errors: wrong for one in 116,000 seeds.
    assert np.all(np.abs(between) < 5 / np.sqrt(100_000))


def test_share_0_leaves_one_action_and_share_1_all() -> None:
    one = mask_of(EligibilityWorld(world=LinearWorld(), share=0.0).draw(0, 1_000, 0))
    every = mask_of(EligibilityWorld(world=LinearWorld(), share=1.0).draw(0, 1_000, 0))
    assert np.all(one.sum(axis=1) == 1)
    assert every.all()


def test_what_the_world_bars_stays_barred() -> None:
    inner = EligibilityWorld(world=LinearWorld(n_actions=5), share=0.5)
    outer = EligibilityWorld(world=inner, share=0.3)
    first, second = mask_of(inner.draw(0, 5_000, 3)), mask_of(outer.draw(0, 5_000, 3))
    assert not (second & ~first).any()
    assert second.any(axis=1).all()


def test_other_worlds_and_shares_are_refused() -> None:
    with pytest.raises(ValueError, match="world is 3; give an environment such as LinearWorld"):
        EligibilityWorld(world=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"share is 1\.5; give a number from 0 to 1"):
        EligibilityWorld(world=LinearWorld(), share=1.5)


def test_masks_laid_on_masks_are_independent() -> None:
    once = EligibilityWorld(world=LinearWorld(n_actions=20), share=0.5)
    twice = EligibilityWorld(world=once, share=0.5)
    eligible = twice.draw(0, 5000, seed=0).contexts.eligible
    assert eligible is not None
    # 100,000 actions at 1/4: the standard error is .0014.
    assert eligible.mean() == pytest.approx(0.25, abs=0.007)
