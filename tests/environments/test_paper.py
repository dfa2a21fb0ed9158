"""The paper's Section 1.1 against its closed forms."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gyrfalcon.environments.paper import StepExample


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 9000), st.integers(1, 5000), st.integers(0, 5000), st.integers(0, 2**32))
def test_rows_are_the_same_however_rounds_are_cut(start: int, first: int, second: int, seed: int) -> None:
    world = StepExample()
    whole = world.draw(start, start + first + second + 1, seed)
    left = world.draw(start, start + first, seed)
    right = world.draw(start + first, start + first + second + 1, seed)
    assert np.array_equal(whole.rewards, np.concatenate([left.rewards, right.rewards]))
    assert np.array_equal(
        whole.contexts.shared, np.concatenate([left.contexts.shared, right.contexts.shared])
    )


def test_the_world_has_the_papers_means_and_noise() -> None:
    world = StepExample().draw(0, 200_000, seed=1)
    x = world.contexts.shared[:, 0]
    assert np.array_equal(world.means[:, 0], x > 0.5)
    assert np.all(world.means[:, 1] == 0.5)
    # 400,000 normal draws: their mean and variance stray by five standard errors once in 1.7 million seeds.
    noise = world.rewards - world.means
    assert abs(noise.mean()) < 5 * 0.1 / np.sqrt(noise.size)
    assert abs(noise.var() - 0.01) < 5 * 0.01 * np.sqrt(2 / noise.size)


def test_worlds_of_two_seeds_differ() -> None:
    assert not np.array_equal(StepExample().draw(0, 10, 1).rewards, StepExample().draw(0, 10, 2).rewards)
