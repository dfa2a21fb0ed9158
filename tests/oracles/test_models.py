"""Linear models: a row's scores and widths have the same bits in any batch, an action's beside any others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Log
from gyrfalcon.learners.optimistic.lints import LinTS
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.linear.models import OptimisticModel, linear_model

pytestmark = pytest.mark.invariance

K, N = 7, 700
LAYOUTS: list[tuple[Any, bool]] = [
    ("per_action", False),
    ("per_action", True),
    ("shared", True),
    ("hybrid", True),
]
every_layout = pytest.mark.parametrize(("layout", "has_action_features"), LAYOUTS)


def log_of(n: int, has_action_features: bool) -> Log:
    rng, zeros = np.random.default_rng(n), np.zeros(n, dtype=np.int64)
    x = 3.0 + rng.normal(size=(n, 9)) * 10.0 ** rng.integers(-2, 3, 9)
    contexts = Contexts(x, rng.normal(size=(n, K, 3)) if has_action_features else None)
    return Log(contexts, rng.integers(0, K, n), rng.normal(size=n), np.ones(n), zeros, zeros, zeros)


def fitted(layout: Any, has_action_features: bool) -> tuple[OptimisticModel, Contexts]:
    log = log_of(400, has_action_features)
    oracle = Linear(layout=layout, ridge=1.0).oracle(log.contexts, K)
    model, _ = oracle.optimistic(oracle.summarise(log), 0.5)
    return model, log_of(N, has_action_features).contexts


def some_rows() -> list[Ints]:
    rng = np.random.default_rng(1)
    return [np.array([0]), np.array([N - 1]), np.arange(90, 93), rng.permutation(N), rng.integers(0, N, 200)]


@every_layout
@pytest.mark.parametrize("part", ["means", "widths", "scores"])
def test_a_row_has_the_same_bits_in_any_batch(layout: Any, has_action_features: bool, part: str) -> None:
    model, contexts = fitted(layout, has_action_features)
    together: Floats = getattr(model, part)(contexts)
    for rows in some_rows():
        assert np.array_equal(getattr(model, part)(contexts.take(rows)), together[rows])


@every_layout
def test_the_width_of_one_action_is_that_among_all(layout: Any, has_action_features: bool) -> None:
    model, contexts = fitted(layout, has_action_features)
    action = np.random.default_rng(3).integers(0, K - 1, N)
    assert np.array_equal(model.widths_of(contexts, action), model.widths(contexts)[np.arange(N), action])


@pytest.mark.parametrize("layout", ["shared", "hybrid"])
def test_draws_of_a_row_have_the_same_bits_in_any_batch(layout: Any) -> None:
    model, contexts = fitted(layout, has_action_features=True)
    draws = LinTS(model_class=Linear(layout=layout), n_draws=11)._draws(model, 0.5, 0, [1])
    together = draws.draws(contexts)
    for rows in some_rows():
        assert np.array_equal(draws.draws(contexts.take(rows)), together[:, rows])


@pytest.mark.parametrize("count", range(1, K + 1))
def test_an_action_has_the_same_intercept_however_many_others_there_are(count: int) -> None:
    contexts = log_of(50, has_action_features=False).contexts
    design = Linear().oracle(contexts, K).design
    coefficients = np.random.default_rng(2).normal(size=(K, design.block_width))
    all_of_them = linear_model(design, coefficients, None)
    fewer = linear_model(replace(design, n_actions=count), coefficients[:count], None)
    assert np.array_equal(fewer.scores(contexts), all_of_them.scores(contexts)[:, :count])
