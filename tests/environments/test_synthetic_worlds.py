"""What all synthetic worlds have in common: rows however cut, seeds, ranges, rewards, refusals."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyrfalcon.core.types import Floats
from gyrfalcon.environments.choices import ActionFeatureWorld, EligibilityWorld
from gyrfalcon.environments.environment import BLOCK, World
from gyrfalcon.environments.families import BumpWorld, LinearWorld, SinusoidWorld, XorWorld
from gyrfalcon.environments.outcomes import HeteroscedasticWorld, RareRewardWorld
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.experiments.simulate import simulate
from gyrfalcon.learners.linucb import LinUCB

DRAWN: list[Any] = [
    LinearWorld(n_actions=2, n_features=5, noise="bernoulli"),
    SinusoidWorld(n_features=7, misspecification=0.5),
    XorWorld(n_features=3, misspecification=0.9),
    BumpWorld(n_actions=4, n_features=1, misspecification=0.7, noise="bernoulli"),
    RareRewardWorld(n_features=3, misspecification=0.5),
    HeteroscedasticWorld(n_features=3, misspecification=0.5),
    ActionFeatureWorld(interactions=True, misspecification=0.5),
    ActionFeatureWorld(n_features=0, noise="bernoulli"),
]
MASKED: list[Any] = [
    EligibilityWorld(world=SinusoidWorld()),
    EligibilityWorld(world=ActionFeatureWorld(), share=0.2),
    EligibilityWorld(world=StepExample(), share=0.0),
]
all_worlds = pytest.mark.parametrize("world", DRAWN + MASKED, ids=repr)
drawn_worlds = pytest.mark.parametrize("world", DRAWN, ids=repr)


def columns(world: World) -> list[Floats]:
    contexts = world.contexts
    parts = (contexts.shared, contexts.actions, contexts.eligible, world.means, world.rewards)
    return [np.asarray(part, dtype=np.float64) for part in parts if part is not None]


def same(first: World, second: World) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(columns(first), columns(second), strict=True))


@all_worlds
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 9000), st.integers(1, 5000), st.integers(0, 5000), st.integers(0, 2**40))
def test_rows_are_the_same_however_rounds_are_cut(
    world: Any, start: int, first: int, second: int, seed: int
) -> None:
    middle, stop = start + first, start + first + second + 1
    whole = columns(world.draw(start, stop, seed))
    left, right = columns(world.draw(start, middle, seed)), columns(world.draw(middle, stop, seed))
    for all_rows, *halves in zip(whole, left, right, strict=True):
        assert len(all_rows) == stop - start
        assert np.array_equal(all_rows, np.concatenate(halves))


@drawn_worlds
@pytest.mark.parametrize("start", [0, 7, BLOCK])
def test_no_rounds_are_no_rows(world: Any, start: int) -> None:
    empty = world.draw(start, start, seed=0)
    masked = EligibilityWorld(world=world).draw(start, start, seed=0)
    assert len(empty.contexts) == len(empty.rewards) == len(masked.contexts) == 0
    assert masked.contexts.eligible is not None
    assert masked.contexts.eligible.shape == empty.means.shape == (0, world.n_actions)


@all_worlds
def test_the_same_seed_gives_the_same_rows_and_another_gives_others(world: Any) -> None:
    first, second = world.draw(0, 50, 1), world.draw(0, 50, 2)
    assert same(first, pickle.loads(pickle.dumps(world)).draw(0, 50, 1))
    for one, other in zip(columns(first), columns(second), strict=True):
        assert one.size == 0 or not np.array_equal(one, other)


@drawn_worlds
def test_the_world_seed_changes_the_truth_and_not_the_contexts(world: Any) -> None:
    first, second = world.draw(0, 50, 1), replace(world, world_seed=1).draw(0, 50, 1)
    assert np.array_equal(first.contexts.shared, second.contexts.shared)
    assert not np.array_equal(first.means, second.means)


@all_worlds
def test_means_are_in_range_and_the_problem_takes_the_rewards(world: Any) -> None:
    drawn = world.draw(0, 20_000, seed=3)
    assert drawn.means.min() >= 0.0
    assert drawn.means.max() <= 1.0
    problem, contexts = world.problem, drawn.contexts
    assert drawn.means.shape == (20_000, problem.n_actions)
    remade = problem.contexts(
        contexts.shared if problem.features.columns else None, contexts.actions, contexts.eligible, n=20_000
    )
    assert np.array_equal(remade.shared, contexts.shared)
    assert np.array_equal(problem.rewards.to_unit(drawn.rewards), drawn.rewards)


@drawn_worlds
def test_every_action_has_the_mean_reward_that_it_should(world: Any) -> None:
    drawn = world.draw(0, 100_000, seed=4)
    errors = (drawn.rewards - drawn.means).mean(axis=0)
    deviations = (drawn.rewards - drawn.means).std(axis=0) / np.sqrt(100_000)
    # Five standard errors for 28 actions in all: wrong for one in 62,000 seeds.
    assert np.all(np.abs(errors) < 5 * deviations)


@drawn_worlds
def test_noise_of_one_action_says_nothing_about_another(world: Any) -> None:
    drawn = world.draw(0, 100_000, seed=5)
    correlations = np.corrcoef((drawn.rewards - drawn.means).T)
    off = correlations[~np.eye(len(correlations), dtype=np.bool_)]
    # Where noise is uneven, the standard error is up to 1.3 / sqrt(n), so that this is 4.6 of them: for the
    # three such pairs it is wrong for one in 80,000 seeds, and for the 36 others hardly ever.
    assert np.all(np.abs(off) < 6 / np.sqrt(100_000))


@all_worlds
def test_settings_come_back_from_their_repr(world: Any) -> None:
    assert eval(repr(world), globals()) == world
    assert hash(world) == hash(eval(repr(world), globals()))


@all_worlds
def test_a_learner_can_play(world: Any) -> None:
    trace = simulate(LinUCB(), world, 400, seed=0)
    assert np.all(trace.regret >= 0.0)


REFUSED = [
    ("n_actions", 1, "n_actions is 1; give a whole number of at least 2"),
    ("n_actions", 2.5, "n_actions is 2.5; give a whole number"),
    ("n_features", -1, "n_features is -1; give a whole number"),
    ("n_features", True, "n_features is True; give a whole number"),
    ("world_seed", -1, "world_seed is -1; give a whole number of at least 0"),
    ("misspecification", 1.1, r"misspecification is 1\.1; give a number from 0 to 1"),
    ("misspecification", math.nan, "misspecification is nan; give a number from 0 to 1"),
    ("misspecification", "high", "misspecification is 'high'; give a number from 0 to 1"),
    ("frequency", 0.0, r"frequency is 0\.0; give a positive number"),
    ("frequency", math.inf, "frequency is inf; give a positive number"),
    ("noise", -0.1, r"noise is -0\.1; it is a standard deviation"),
    ("noise", math.nan, "noise is nan; it is a standard deviation"),
]


@drawn_worlds
def test_bad_settings_are_refused(world: Any) -> None:
    for setting, bad, told in REFUSED:
        if hasattr(world, setting):
            with pytest.raises(ValueError, match=told):
                replace(world, **{setting: bad})
