"""Delays that depend on the reward, rewards that never arrive, and what a timeout makes of them."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import geom, kstest, poisson

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.engine.finality import final_time
from gyrfalcon.environments.delayed import Delayed
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.protocol import NEVER, PotentialOutcomes
from gyrfalcon.environments.synthetic.action_features import EligibilityEnvironment
from gyrfalcon.environments.synthetic.families import LinearEnvironment
from gyrfalcon.environments.wrappers import Drifting, Switching
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.sweeps.content_key import settings_digest, settings_of
from tests.environments.drawing import assert_same_however_cut

COINS = LinearEnvironment(noise="bernoulli")


def quick_wins(rewards: Floats) -> Floats:
    return np.where(rewards > 0.5, 3.0, 40.0)


def wins_or_nothing(rewards: Floats) -> Floats:
    return np.where(rewards > 0.5, 3.0, np.inf)


ENVIRONMENTS: list[Any] = [
    Delayed(COINS, mean=30, missing=0.0),
    Delayed(COINS, mean=quick_wins),
    Delayed(COINS, mean=quick_wins, distribution="geometric", timeout=100),
    Delayed(COINS, mean=wins_or_nothing, distribution="poisson", timeout=20, default_reward=0.5),
    Delayed(COINS, mean=6, distribution="geometric", missing=[0.0], timeout=20, fit_rows="rewarded"),
    Delayed(Delayed(COINS, mean=5, missing=0.0, timeout=9), mean=4, distribution="poisson"),
    Delayed(Delayed(COINS, mean=quick_wins), mean=4, missing=0.0, timeout=30),
    EligibilityEnvironment(environment=Delayed(COINS, mean=5, missing=0.0, timeout=9)),
    Switching((COINS, Delayed(COINS, mean=5, missing=0.0, timeout=9)), every=100),
    Drifting(Delayed(COINS, mean=3), Delayed(COINS, mean=5, missing=0.0, timeout=9), start=0, stop=9_000),
]
all_environments = pytest.mark.parametrize("environment", ENVIRONMENTS, ids=range(len(ENVIRONMENTS)))


def known(outcomes: PotentialOutcomes) -> Ints:
    assert outcomes.reward_round is not None
    return outcomes.reward_round


@all_environments
@given(st.integers(0, 9_000), st.integers(1, 3_000), st.integers(1, 3_000), st.integers(0, 2**64 - 1))
def test_rows_are_the_same_however_rounds_are_cut(
    environment: Any, start: int, first: int, second: int, seed: int
) -> None:
    start -= start % 100  # where a wrapped environment has rounds without any delay, the columns differ
    if isinstance(environment, Switching | Drifting):
        first, second = 4_000, 5_000
    assert_same_however_cut(environment, start, first, second, seed)


@all_environments
def test_learners_play_in_it(environment: Any) -> None:
    assert np.all(simulate(LinUCB(schedule=FixedBatch(50)), environment, 300, 2).regret >= 0.0)


@pytest.mark.parametrize(("distribution", "law"), [("geometric", geom), ("poisson", poisson)])
def test_delays_by_reward_have_their_distributions(distribution: Any, law: Any) -> None:
    # Uniforms inside each step of the distribution make the test exact: wrong for one seed in 100,000.
    outcomes = Delayed(COINS, mean=quick_wins, distribution=distribution).draw(0, 30_000, 0)
    delays = known(outcomes) - np.arange(30_000)[:, np.newaxis]
    jitter = np.random.default_rng(5).random(30_000)
    for value, mean in ((1.0, 3.0), (0.0, 40.0)):
        own = delays[:, 0][outcomes.rewards[:, 0] == value]
        frozen = law(1 / (1 + mean), loc=-1) if law is geom else law(mean)
        levels = frozen.cdf(own - 1) + jitter[: len(own)] * frozen.pmf(own)
        assert kstest(levels, "uniform").pvalue > 1e-5


def test_mean_delays_of_0_and_infinity_are_none_and_never() -> None:
    for distribution in ("fixed", "geometric", "poisson"):
        environment = Delayed(COINS, mean=_none_or_never, distribution=distribution)
        outcomes = environment.draw(0, 5_000, 1)
        won = outcomes.rewards > 0.5
        delays = known(outcomes) - np.arange(5_000)[:, np.newaxis]
        assert np.all(delays[won] == 0)
        assert np.all(known(outcomes)[~won] == NEVER)


def _none_or_never(rewards: Floats) -> Floats:
    return np.where(rewards > 0.5, 0.0, np.inf)


def test_missing_rewards_change_no_other_delay() -> None:
    plain = Delayed(COINS, mean=6, distribution="geometric").draw(0, 3_000, 2)
    some = Delayed(COINS, mean=6, distribution="geometric", missing=0.0).draw(0, 3_000, 2)
    arrives = plain.rewards != 0.0
    assert np.array_equal(known(some)[arrives], np.repeat(known(plain)[:, None], 3, axis=1)[arrives])
    assert np.all(known(some)[~arrives] == NEVER)


def test_a_timeout_settles_what_has_not_arrived() -> None:
    inner = Delayed(COINS, mean=6, distribution="geometric", missing=0.0)
    before, after = inner.draw(50, 4_000, 2), replace_timeout(inner, 20, 0.25).draw(50, 4_000, 2)
    expires = np.arange(50, 4_000) + 20
    late = known(before) > expires[:, np.newaxis]
    assert 0.05 < late.mean() < 0.95
    assert np.all(after.rewards[late] == 0.25)
    assert np.array_equal(after.rewards[~late], before.rewards[~late])
    assert np.array_equal(known(after), np.minimum(known(before), expires[:, np.newaxis]))
    assert np.array_equal(after.means, before.means)
    rule = [final_time(decided, None, 20) for decided in range(50, 4_000)]
    assert after.final_round is not None
    assert after.final_round.tolist() == rule
    assert replace_timeout(inner, 20, 0.25, "rewarded").draw(50, 4_000, 2).final_round is None


def replace_timeout(environment: Delayed, timeout: int, default: float, rows: Any = "final") -> Delayed:
    return replace(environment, timeout=timeout, default_reward=default, fit_rows=rows)


def test_an_outer_delay_postpones_finality() -> None:
    inner = Delayed(COINS, mean=5, missing=0.0, timeout=9)
    outer = Delayed(inner, mean=4).draw(0, 100, 0)
    assert outer.final_round is not None
    assert np.all(outer.final_round == np.arange(100) + 13)


def test_a_row_is_never_read_if_its_reward_never_arrives_and_there_is_no_timeout() -> None:
    trace = simulate(LinUCB(schedule=FixedBatch(50)), Delayed(COINS, mean=0, missing=(0.0, 1.0)), 500)
    uniform = simulate(LinUCB(schedule=FixedBatch(500)), COINS, 500)
    assert trace.reward[0, -1] == uniform.reward[0, -1]


def test_settings_are_values() -> None:
    environment = Delayed(COINS, mean=quick_wins, missing=[0.0, 1.0], timeout=9)
    assert hash(pickle.loads(pickle.dumps(environment))) == hash(environment)
    assert environment.missing == (0.0, 1.0)
    keys = {settings_digest(settings_of(one)) for one in (environment, replace(environment, timeout=8))}
    assert len(keys) == 2
    assert settings_of(environment)["mean"] == {
        "function": "tests.environments.test_missing_rewards.quick_wins"
    }
    plain = Delayed(COINS, mean=3, missing=0.0, timeout=9, fit_rows="rewarded")
    assert eval(repr(plain)) == plain


@pytest.mark.parametrize(
    ("settings_", "sentence"),
    [
        ({"missing": "zero"}, "missing is 'zero'; give the reward that never arrives"),
        ({"missing": float("nan")}, "missing is nan; give the reward"),
        ({"missing": (0.0, None)}, r"missing is \(0.0, None\)"),
        ({"timeout": -1}, "timeout is -1; give a whole number of at least 0"),
        ({"timeout": 1.5}, "timeout is 1.5"),
        ({"timeout": 9, "default_reward": float("inf")}, "reward is inf"),
        ({"fit_rows": "quick"}, "fit_rows is 'quick'; choose one of 'final', 'rewarded'"),
    ],
)
def test_bad_settings_are_refused(settings_: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Delayed(COINS, mean=3, **settings_)


def test_a_default_reward_outside_the_range_is_refused() -> None:
    class Strict:
        problem = Problem([1, 2], features=1)
        draw = StepExample().draw

    with pytest.raises(ValueError, match=r"reward 7\.0 is outside"):
        Delayed(Strict(), mean=3, timeout=9, default_reward=7.0)


@pytest.mark.parametrize(
    ("mean", "sentence"),
    [
        (
            lambda rewards: rewards[:, 0],
            r"mean gave an array of shape \(100,\) for rewards of shape \(100, 3\)",
        ),
        (lambda rewards: -1.0 - 0.0 * rewards, r"mean gave -1\.0 for the reward .* in round 0; give a whole"),
        (lambda rewards: 1.5 + 0.0 * rewards, r"mean gave 1\.5"),
        (lambda rewards: np.nan * rewards, "mean gave nan"),
    ],
)
def test_mean_delays_that_are_none_are_refused(mean: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Delayed(COINS, mean=mean).draw(0, 100, 0)
