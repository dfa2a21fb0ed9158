"""SquareCB: inverse gap weighting on all rows so far, in batches or round by round."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.policies.kernels import InverseGapWeighting, LogBarrierWeighting
from gyrfalcon.core.records import Log
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.squarecb import SquareCB
from gyrfalcon.oracles.linear.linear import Linear
from tests.contracts.environments import Lines, started, uniform_log
from tests.learners.spreads import spread_of


def gamma_of(epoch: Epoch) -> float:
    assert isinstance(epoch.policy, KernelPolicy)
    assert isinstance(epoch.policy.kernel, InverseGapWeighting | LogBarrierWeighting)
    assert epoch.report is not None
    assert epoch.report.gamma == epoch.policy.kernel.gamma
    return epoch.policy.kernel.gamma


def learned_gamma(learner: SquareCB, *n_rows: int) -> float:
    """gamma after batches of so many rows of a problem with K = 3 and d = 9."""
    play = started(learner, Lines())
    for seed, n in enumerate(n_rows):
        play.learn(uniform_log(play.environment, n, seed=seed))
    return gamma_of(play.epoch)


@pytest.mark.parametrize(
    ("weighting", "probabilities"),
    [
        ("inverse_gap", [0.72222222, 0.16666667, 0.11111111]),
        ("log_barrier", [0.64741395, 0.22004104, 0.13254501]),
    ],
)
def test_known_probabilities(weighting: Any, probabilities: list[float]) -> None:
    # Mean rewards (.7, .4, .1) and no features: scores are the means over the spread, and so is gamma.
    rewards = [0.6, 0.4, 0.2, 0.8, 0.4, 0.0]
    gamma = 10.0 * spread_of(np.array(rewards))
    learner = SquareCB(weighting=weighting, gamma_scale=gamma, gamma_exponent=0.0)
    problem = Problem(["a", "b", "c"], 0)
    log = problem.log(problem.contexts(n=6), list("abcabc"), rewards, propensities="uniform")
    epoch = learner.next_epoch(learner.start(problem), log)
    found = epoch.policy.probabilities(problem.contexts(n=1))
    np.testing.assert_allclose(found, [probabilities], atol=1e-8)


def test_a_scheduled_gamma_grows_with_all_rows_so_far() -> None:
    assert learned_gamma(SquareCB(), 100) == pytest.approx(100.0)
    assert learned_gamma(SquareCB(), 100, 300) == pytest.approx(200.0)
    assert learned_gamma(SquareCB(gamma_scale=3.0, gamma_exponent=0.0), 100, 300) == 3.0


def test_gamma_by_the_regret_of_the_regression() -> None:
    learner = SquareCB(gamma="regret", delta=0.1)
    expected = math.sqrt(3 * 400 / (9 * math.log(1 + 400 / 9) + math.log(20)))
    assert learned_gamma(learner, 400) == pytest.approx(expected)
    # By hand: 9 ln(45.444) = 34.350, ln 20 = 2.996, sqrt(1200 / 37.346) = 5.668.
    assert expected == pytest.approx(5.668, abs=1e-3)


def test_gamma_at_a_horizon_is_the_same_until_then() -> None:
    learner = SquareCB(gamma="regret", horizon=1000)
    assert learned_gamma(learner, 100) == learned_gamma(learner, 100, 300)
    assert learned_gamma(learner, 1000) == pytest.approx(learned_gamma(learner, 100), rel=1e-12)
    assert learned_gamma(learner, 1000, 100) > learned_gamma(learner, 1000)


def test_misspecification_bounds_gamma() -> None:
    learner = SquareCB(gamma="regret", misspecification=0.1, comp=4.0)
    assert learner.square_regret(1e8, 9) == pytest.approx(4 * math.log1p(2.5e7) + 1e6)
    assert learned_gamma(learner, 400) < learned_gamma(SquareCB(gamma="regret", comp=4.0), 400)
    assert learned_gamma(learner, 10_000) < math.sqrt(3) / 0.1


@pytest.mark.parametrize("layout", ["per_action", "shared", "hybrid"])
def test_row_by_row_it_is_the_batch_fit_of_the_same_rows(layout: Any) -> None:
    environment = Lines(n_action_features=2)
    model_class = Linear(layout=layout)
    online = started(SquareCB(schedule=FixedBatch(1), model_class=model_class), environment)
    logs = []
    for _ in range(80):
        logs.append(online.decide())
        online.learn(logs[-1])
    batch = started(SquareCB(model_class=model_class), environment)
    batch.learn(Log.concat(logs, 3))
    assert gamma_of(online.epoch) == gamma_of(batch.epoch)
    at = environment.draw(0, 50, seed=1).contexts
    ours, theirs = (play.epoch.policy.probabilities(at) for play in (online, batch))
    np.testing.assert_allclose(ours, theirs, rtol=1e-8)


def test_online_each_round_is_an_epoch_with_the_propensity_of_its_own_gamma() -> None:
    play = started(SquareCB(schedule=FixedBatch(1)), Lines())
    for round_ in range(30):
        log = play.decide()
        row = play.epoch.policy.probabilities(log.contexts)
        assert log.propensity[0] == row[0, log.action[0]]
        assert log.round.tolist() == [round_]
        play.learn(log)
        assert gamma_of(play.epoch) == pytest.approx(10 * math.sqrt(round_ + 1))


@pytest.mark.parametrize(
    ("settings", "value"),
    [
        ({"gamma": 10.0}, "gamma is 10.0; choose one of 'scheduled', 'regret'"),
        ({"weighting": "softmax"}, "weighting is 'softmax'"),
        ({"gamma_scale": 0.0}, "gamma_scale is 0.0"),
        ({"gamma_exponent": -0.5}, "gamma_exponent is -0.5"),
        ({"delta": 1.0}, "delta is 1.0"),
        ({"horizon": 1e4}, "horizon is 10000.0"),
        ({"misspecification": math.nan}, "misspecification is nan"),
        ({"comp": -1.0}, "comp is -1.0"),
    ],
)
def test_bad_settings_are_refused_with_their_value(settings: dict[str, Any], value: str) -> None:
    with pytest.raises(ValueError, match=value):
        SquareCB(**settings)
