"""Deferred classes cost next to nothing: their rows wait as they are, and no fit is made of them."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.learners.adaptive.candidates import CandidateClasses
from gyrfalcon.learners.adaptive.class_fit import ClassFit
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.adaptive.model_classes import candidate
from gyrfalcon.learners.adaptive.state import adaptive_state
from tests.contracts.environments import Lines, started


def rows_of(n: int, p: int, n_actions: int, q: int = 0, seed: int = 0) -> Log:
    rng, zeros = np.random.default_rng([n, seed]), np.zeros(n, dtype=np.int64)
    own = rng.normal(size=(n, n_actions, q)) if q else None
    action = rng.integers(0, n_actions, n)
    return Log(Contexts(rng.normal(size=(n, p)), own), action, rng.random(n), np.ones(n), zeros, zeros, zeros)


def fit_of(p: int, n_actions: int, q: int = 0) -> ClassFit:
    found = candidate("quadratic", np.random.default_rng(1).normal(size=(50, p + q)), n_actions)
    assert found is not None
    return ClassFit.start(found, n_actions, 1.0, q)


@pytest.mark.parametrize(
    ("p", "n_actions", "q", "most"),
    [
        (2, 3, 0, 16_384),  # few features
        (20, 2, 0, 2 * 231**2 // 20),  # as many numbers as in the sums of 231 columns of two actions
        (2, 40, 50, 65_536 // 2_002),  # features of every action
    ],
)
def test_rows_wait_in_as_much_memory_as_the_sums_of_their_class(
    p: int, n_actions: int, q: int, most: int
) -> None:
    fit, size, logs = fit_of(p, n_actions, q), max(most // 4, 1), []
    for seed in range(6):
        logs.append(rows_of(size, p, n_actions, q, seed))
        fit = fit.with_rows(logs[-1])
        assert fit.n == size * (seed + 1)
        assert sum(map(len, fit.waiting)) == (size * (seed + 1) if seed < 4 else (seed - 4) * size)
    expected = fit.oracle.sums(Log.concat(logs, n_actions))
    np.testing.assert_allclose(fit.summed().rows.gram, expected.gram, rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(fit.summed().rows.cross, expected.cross, rtol=1e-10, atol=1e-9)


@cache
def candidates_where_the_truth_is_linear() -> tuple[tuple[int, CandidateClasses], ...]:
    """Rows seen, and candidates, after each epoch of a run in which no wider class can gain anything."""
    play = started(AdaptiveFalcon(), Lines(n_features=5, noise=2.0), seed=1)
    found: dict[int, CandidateClasses] = {}
    for stop in range(20, 4_000, 4):
        play.until(stop)
        state = adaptive_state(play.epoch)
        found[state.n_seen] = state.candidates
    return tuple(found.items())


def test_a_deferred_class_is_fitted_to_no_rows_but_with_a_new_map() -> None:
    deferred = 0
    for (_, before), (_, after) in itertools.pairwise(candidates_where_the_truth_is_linear()):
        if not (before.deferred[0] and after.deferred[0]):
            continue
        deferred += 1
        fits = before.fits[0], after.fits[0]
        assert fits[0] is not None
        assert fits[1] is not None
        if after.next_map != before.next_map:
            continue
        assert fits[1].model is fits[0].model
        assert fits[1].n > fits[0].n
    assert deferred > 5


def test_a_resumed_class_is_fitted_to_all_rows() -> None:
    resumed = [
        (n, after)
        for (_, before), (n, after) in itertools.pairwise(candidates_where_the_truth_is_linear())
        if before.deferred[0] and not after.deferred[0]
    ]
    assert resumed
    for n, after in resumed:
        fit = after.fits[0]
        assert fit is not None
        assert fit.model is not None
        assert fit.n == n
        assert fit.n_fitted > 0.9 * n
