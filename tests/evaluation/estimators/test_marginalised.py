"""MIPS: exact expectations, its relation to IPS, and the three ways to its likelihoods."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon import evaluation as ev
from gyrfalcon.core.arrays import Floats, Ints

CONTEXTS = np.array([0.3, 0.7])
LOGGED = np.array([[0.2, 0.7, 0.1], [0.5, 0.0, 0.5]])
TARGET = np.array([[0.1, 0.2, 0.7], [0.2, 0.6, 0.2]])
EMBEDDINGS = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
"""Of three actions. In the second context the target takes an action that the log never takes."""


def expected(means: Floats) -> float:
    """The exact expectation of one row's contribution; rewards (2, 3, 2) by context, action and embedding."""
    total = 0.0
    for x, action, e in product(range(2), range(3), range(2)):
        chance = CONTEXTS[x] * LOGGED[x, action] * EMBEDDINGS[action, e]
        if chance > 0.0:
            likelihoods = ev.embedding_likelihoods([e], EMBEDDINGS)
            one = ev.marginalised_inverse_propensity(
                [means[x, action, e]], LOGGED[[x]], TARGET[[x]], likelihoods
            )
            total += chance * one.value
    return total


def value(means: Floats) -> float:
    return float(np.einsum("x,xa,ae,xae->", CONTEXTS, TARGET, EMBEDDINGS, means))


def test_it_is_unbiased_if_rewards_depend_on_the_embedding_alone_even_for_actions_never_logged() -> None:
    means = np.broadcast_to(np.array([[0.3, 0.9], [0.6, -0.2]])[:, None], (2, 3, 2))
    assert expected(means) == pytest.approx(value(means), abs=1e-12)


def test_it_is_biased_if_the_action_matters_by_itself() -> None:
    means = np.random.default_rng(0).random((2, 3, 2))
    assert abs(expected(means) - value(means)) > 0.01


@st.composite
def logs(draw: st.DrawFn) -> tuple[Floats, Ints, Floats, Floats]:
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, n_actions = draw(st.integers(1, 30)), draw(st.integers(1, 5))
    logged, target = (rng.dirichlet(np.ones(n_actions), n) for _ in range(2))
    return rng.normal(size=n), rng.integers(0, n_actions, n), logged, target


@given(logs())
def test_an_embedding_that_tells_actions_apart_gives_ips(log: tuple[Floats, Ints, Floats, Floats]) -> None:
    rewards, actions, logged, target = log
    likelihoods = ev.embedding_likelihoods(actions, np.eye(logged.shape[1]))
    found = ev.marginalised_inverse_propensity(rewards, logged, target, likelihoods)
    ips = ev.inverse_propensity(rewards, actions, logged[np.arange(len(actions)), actions], target)
    np.testing.assert_allclose(found.contributions, ips.contributions, atol=1e-9)
    ratio = ev.marginalised_inverse_propensity(rewards, logged, target, likelihoods, self_normalised=True)
    snips = ev.self_normalised_inverse_propensity(
        rewards, actions, logged[np.arange(len(actions)), actions], target
    )
    assert ratio.value == pytest.approx(snips.value, abs=1e-9)


@given(logs(), st.floats(0.1, 10.0))
def test_an_embedding_that_all_share_gives_the_mean_reward(
    log: tuple[Floats, Ints, Floats, Floats], factor: float
) -> None:
    rewards, _, logged, target = log
    found = ev.marginalised_inverse_propensity(rewards, logged, target, np.full(target.shape, factor))
    assert found.value == pytest.approx(rewards.mean(), abs=1e-9)


def random_log(seed: int, n: int) -> tuple[Floats, Ints, Ints, Floats, Floats]:
    """Rewards that depend on a context and the embedding; features of the context."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, n)
    logged = np.array([[0.2, 0.7, 0.1], [0.5, 0.2, 0.3]])[x]
    actions = (rng.random(n)[:, None] > logged.cumsum(axis=1)).sum(axis=1)
    embedding = (rng.random(n) < EMBEDDINGS[actions, 1]).astype(int)
    rewards = np.array([[0.3, 0.9], [0.6, 0.2]])[x, embedding] + 0.1 * rng.normal(size=n)
    return rewards, actions, embedding, logged, x.astype(float)


@pytest.mark.parametrize("way", ["counted", "logistic"])
def test_unknown_likelihoods_are_estimated(way: str) -> None:
    rewards, actions, embedding, logged, x = random_log(0, 20_000)
    target = np.tile([0.1, 0.2, 0.7], (len(x), 1))
    known = ev.embedding_likelihoods(embedding, EMBEDDINGS)
    if way == "counted":
        likelihoods = ev.embedding_likelihoods(embedding, ev.counted_embeddings(actions, embedding, 3))
    else:
        likelihoods = ev.logistic_embedding_likelihoods(actions, embedding, logged, x)
    found = ev.marginalised_inverse_propensity(rewards, logged, target, likelihoods)
    exact = ev.marginalised_inverse_propensity(rewards, logged, target, known)
    np.testing.assert_allclose(found.contributions, exact.contributions, atol=0.1)
    assert found.value == pytest.approx(exact.value, abs=0.01)
    ips = ev.inverse_propensity(rewards, actions, logged[np.arange(len(x)), actions], target)
    assert found.standard_error < 0.8 * ips.standard_error


def test_the_logistic_posteriors_are_those_of_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    _, actions, embedding, logged, x = random_log(1, 500)
    parts = np.column_stack([embedding, (actions + embedding) % 3])
    likelihoods = ev.logistic_embedding_likelihoods(actions, parts, logged, x)
    one_hot = np.column_stack([x, parts[:, 0] == 1, parts[:, 1] == 1, parts[:, 1] == 2]).astype(float)
    theirs = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(one_hot, actions)
    np.testing.assert_allclose(likelihoods * logged, theirs.predict_proba(one_hot), atol=1e-5)


def test_likelihoods_of_parts_multiply() -> None:
    table = np.stack([EMBEDDINGS, EMBEDDINGS[::-1]], axis=2)
    found = ev.embedding_likelihoods([[0, 1], [1, 1]], table)
    np.testing.assert_allclose(found[0], EMBEDDINGS[:, 0] * EMBEDDINGS[::-1, 1])
    np.testing.assert_allclose(found[1], EMBEDDINGS[:, 1] * EMBEDDINGS[::-1, 1])


@pytest.mark.parametrize(
    ("likelihoods", "words"),
    [
        ([[1.0, np.nan]], "row 0: the likelihood of action 1 is nan, and one of the policies may take it"),
        ([[1.0, -0.1]], "row 0: the likelihood of action 1 is -0.1"),
        ([[0.0, 0.0]], "row 0: no action that the log could take has the row's embedding"),
        ([[1.0, 1.0, 1.0]], "likelihoods has shape (1, 3) and target (1, 2); give a column for each action"),
    ],
)
def test_impossible_likelihoods_are_refused(likelihoods: Any, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        ev.marginalised_inverse_propensity([1.0], [[0.5, 0.5]], [[0.1, 0.9]], likelihoods)


def test_impossible_embeddings_are_refused() -> None:
    with pytest.raises(ValueError, match="row 1: the category is 2, and there are 2; give numbers"):
        ev.embedding_likelihoods([0, 2], EMBEDDINGS)
    with pytest.raises(ValueError, match="row 0: the category is -1; give numbers of categories"):
        ev.counted_embeddings([0], [-1], 1)
    with pytest.raises(ValueError, match="embedding has 2 parts, and probabilities has 1"):
        ev.embedding_likelihoods([[0, 1]], EMBEDDINGS)
    with pytest.raises(ValueError, match=r"embedding has shape \(2,\) and type float64; give whole numbers"):
        ev.embedding_likelihoods([0.5, 1.0], EMBEDDINGS)
    with pytest.raises(ValueError, match="there are 2 rewards and 1 rows of probabilities"):
        ev.marginalised_inverse_propensity([1.0, 0.0], [[1.0]], [[1.0]], [[1.0]])
    assert np.isnan(ev.counted_embeddings([0], [0], 2)[1]).all()
