"""OFUL: a radius that holds at all times, and policies that are rarely refreshed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.learners.optimistic.oful import OFUL, Refreshed
from gyrfalcon.learners.steps import fitted_state
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from tests.contracts.environments import Lines, Play, started, uniform_log
from tests.learners.test_ridge_learner import model_of

TEXTBOOK = OFUL(growth=0.0, model_class=Linear(intercept=False, standardise=False))


def radius_of(epoch: Epoch) -> float:
    bonus = model_of(epoch.policy).bonus
    assert isinstance(bonus, float)
    return bonus


def information_of(epoch: Epoch) -> float:
    """ln(det V / ridge^d) at the last refresh."""
    assert isinstance(epoch.state, Refreshed)
    assert isinstance(epoch.state.oracle, LinearOracle)
    assert epoch.state.rows is not None
    return float(epoch.state.oracle.log_determinants(epoch.state.rows, epoch.state.rows).sum())


def note_of(epoch: Epoch) -> str:
    assert epoch.report is not None
    return epoch.report.details[0]


def test_one_row_by_hand() -> None:
    play = started(TEXTBOOK, Lines(n_actions=2))
    problem = Problem(["a", "b"], 2)
    play.learn(problem.log(Contexts(np.array([[1.0, 0.0]])), ["a"], [1.0], propensities="uniform"))
    # V is diag(2, 1) for one action and the identity for the other: det V = 2.
    radius = 0.5 * math.sqrt(math.log(2.0) + 2.0 * math.log(20.0)) + 1.0
    np.testing.assert_allclose(radius_of(play.epoch), radius, rtol=1e-14)
    scores = model_of(play.epoch.policy).scores(Contexts(np.eye(2)))
    np.testing.assert_allclose(scores[0], [0.5 + radius * math.sqrt(0.5), 0.5 + radius], rtol=1e-14)
    np.testing.assert_allclose(scores[1, 0], radius, rtol=1e-14)


@pytest.mark.parametrize("settings", [{}, {"noise": 0.1, "norm": 2.0}, {"ridge": 3.0, "delta": 0.01}])
def test_the_radius_is_that_of_one_dense_matrix(settings: dict[str, Any]) -> None:
    learner = replace(TEXTBOOK, **settings)
    environment = Lines(n_actions=4, n_features=3)
    log = uniform_log(environment, 150)
    play = started(learner, environment)
    play.learn(log)
    phi = np.zeros((150, 4, 3))
    phi[np.arange(150), log.action] = log.contexts.shared
    v = learner.ridge * np.eye(12) + phi.reshape(150, 12).T @ phi.reshape(150, 12)
    root_det = math.sqrt(np.linalg.det(v)) * learner.ridge ** (-6.0)
    expected = learner.noise * math.sqrt(2.0 * math.log(root_det / learner.delta))
    np.testing.assert_allclose(
        radius_of(play.epoch), expected + math.sqrt(learner.ridge) * learner.norm, rtol=1e-10
    )


def test_true_rewards_lie_within_radius_times_width() -> None:
    # All rounds of all 40 runs at once: each run may fail with probability .05 at most, and in fact the bound
    # is so wide that none does; coefficients have length 1 and noise deviation .5, as the settings say.
    contexts = Contexts(np.random.default_rng(1).uniform(-1.0, 1.0, (50, 2)))
    truth = np.array([[0.8, 0.0], [0.0, 0.6]])
    inside = []
    for seed in range(40):
        rng = np.random.default_rng([2, seed])
        play = started(TEXTBOOK, Lines(n_actions=2), seed)
        x, action = rng.uniform(-1.0, 1.0, (200, 2)), rng.integers(0, 2, 200)
        reward = (x * truth[action]).sum(axis=1) + 0.5 * rng.standard_normal(200)
        log = Problem([0, 1], 2, out_of_range="accept").log(
            Contexts(x), action.tolist(), reward.tolist(), propensities="uniform"
        )
        for first in range(0, 200, 20):
            play.learn(log.where((np.arange(200) >= first) & (np.arange(200) < first + 20)))
            model = model_of(play.epoch.policy)
            error = np.abs(model.means(contexts) - contexts.shared @ truth.T)
            inside.append((error <= radius_of(play.epoch) * model.widths(contexts)).all())
    assert all(inside)


def learned_in_parts(learner: OFUL, log: Log, size: int = 20) -> list[Epoch]:
    play = started(learner, Lines())
    epochs = []
    for first in range(0, len(log), size):
        number = np.arange(len(log))
        play.learn(log.where((number >= first) & (number < first + size)))
        epochs.append(play.epoch)
    return epochs


@pytest.mark.parametrize("growth", [0.5, 1.0, 4.0])
def test_the_policy_is_refreshed_only_when_det_v_has_grown_enough(growth: float) -> None:
    log = uniform_log(Lines(), 1000)
    always = learned_in_parts(replace(TEXTBOOK, growth=0.0), log)
    rarely = learned_in_parts(replace(TEXTBOOK, growth=growth), log)
    last, refreshes = -math.inf, 0
    for every, seldom, before in zip(always, rarely, [None, *rarely[:-1]], strict=True):
        now = information_of(every)
        if now - last > math.log1p(growth):
            last, refreshes = now, refreshes + 1
            assert np.array_equal(
                model_of(seldom.policy).scores(log.contexts), model_of(every.policy).scores(log.contexts)
            )
            assert "was refreshed" in note_of(seldom)
        else:
            assert before is not None
            assert seldom.policy is before.policy
            assert "not refreshed" in note_of(seldom)
        assert information_of(seldom) == last
        assert f"radius {radius_of(seldom):.4g}" in note_of(seldom)
        assert fitted_state(seldom).active is not None
        assert seldom.report is not None
        assert every.report is not None
        assert seldom.report.n_active == every.report.n_active
    assert 2 < refreshes < len(rarely)
    assert refreshes <= 1 + information_of(always[-1]) / math.log1p(growth)


def test_growth_0_refreshes_at_every_batch_and_det_v_is_monotone() -> None:
    epochs = learned_in_parts(TEXTBOOK, uniform_log(Lines(), 400))
    assert all("was refreshed" in note_of(epoch) for epoch in epochs)
    assert (np.diff([information_of(epoch) for epoch in epochs]) > 0.0).all()
    assert (np.diff([radius_of(epoch) for epoch in epochs]) > 0.0).all()


def test_a_context_far_out_does_not_end_the_refreshing() -> None:
    # It shrinks all others' standardised features, and with them det V: only rows in one scale compare.
    log = uniform_log(Lines(), 1000)
    shared = log.contexts.shared.copy()
    shared[300] = 1e6
    epochs = learned_in_parts(OFUL(growth=0.1), replace(log, contexts=Contexts(shared)))
    late = [note_of(epoch) for epoch in epochs[20:]]
    assert any("was refreshed" in note for note in late)
    growths = [float(note.split("factor of ")[1].split(",")[0]) for note in late if "factor" in note]
    assert min(growths) >= 1.0


def test_rows_that_come_after_actions_changed_refresh_the_policy() -> None:
    environment = Lines()
    play = started(OFUL(growth=1e6), environment).until(300)
    adapted = play.learner.adapt(
        play.epoch, Problem(["action 2", "new", "action 0"], 2, out_of_range="accept")
    )
    assert radius_of(adapted) == radius_of(play.epoch)
    on = Play(play.learner, environment, adapted)
    on.learn(uniform_log(environment, 5))
    assert "was refreshed" in note_of(on.epoch)
    on.learn(uniform_log(environment, 5))
    assert "not refreshed" in note_of(on.epoch)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"noise": -0.5}, "noise is -0.5"),
        ({"norm": math.inf}, "norm is inf"),
        ({"delta": 0.0}, "delta is 0.0"),
        ({"growth": -1.0}, "growth is -1.0"),
    ],
)
def test_bad_settings_are_refused_with_their_value(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        OFUL(**settings)
