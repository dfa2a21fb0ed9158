"""Rewards that are known later: by how much, for whom, and that nothing else changes."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import geom, kstest, poisson

from gyrfalcon.core.arrays import Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.environments.data.classification import Classification
from gyrfalcon.environments.delayed import Delayed
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.protocol import Drawable, PotentialOutcomes
from gyrfalcon.environments.synthetic.action_features import ActionFeatureEnvironment, EligibilityEnvironment
from gyrfalcon.environments.synthetic.families import LinearEnvironment
from gyrfalcon.environments.wrappers import Drifting, Switching
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.simulation.replications import simulate
from tests.environments.drawing import assert_same_however_cut, columns, same

STEP = StepExample()
ENVIRONMENTS: list[Any] = [
    Delayed(STEP, mean=30),
    Delayed(LinearEnvironment(), mean=7.5, distribution="geometric"),
    Delayed(ActionFeatureEnvironment(), mean=3, distribution="poisson"),
    Delayed(EligibilityEnvironment(environment=LinearEnvironment()), mean=12, distribution="geometric"),
    Delayed(Delayed(STEP, mean=4, distribution="poisson"), mean=5, distribution="geometric"),
    EligibilityEnvironment(environment=Delayed(ActionFeatureEnvironment(), mean=9, distribution="geometric")),
    Delayed(Classification(np.eye(4), ["a", "b", "a", "b"]), mean=2.5, distribution="poisson"),
]
all_environments = pytest.mark.parametrize("environment", ENVIRONMENTS, ids=repr)


def delays(environment: Drawable, n: int = 50_000, seed: int = 0) -> Ints:
    late = environment.draw(0, n, seed).reward_round
    assert late is not None
    return late - np.arange(n)


@all_environments
@given(st.integers(0, 9_000), st.integers(1, 5_000), st.integers(1, 5_000), st.integers(0, 2**64 - 1))
def test_rows_are_the_same_however_rounds_are_cut(
    environment: Any, start: int, first: int, second: int, seed: int
) -> None:
    assert_same_however_cut(environment, start, first, second, seed)


@all_environments
def test_no_reward_is_known_before_its_round_is_over(environment: Any) -> None:
    late = delays(environment)
    assert late.min() >= 0
    assert late.max() > 0


def test_a_fixed_delay_is_the_same_in_every_round() -> None:
    assert np.all(delays(Delayed(STEP, mean=30)) == 30)
    assert np.all(delays(Delayed(STEP, mean=0)) == 0)
    assert np.all(delays(Delayed(STEP, mean=0.0, distribution="geometric")) == 0)


@pytest.mark.parametrize("mean", [0.3, 5.0, 200.0])
def test_random_delays_have_their_distributions(mean: float) -> None:
    # Uniforms inside each step of the distribution make the test exact: wrong for one seed in 100,000.
    jitter = np.random.default_rng(5).random(50_000)
    laws: list[tuple[Any, Any]] = [("geometric", geom(1 / (1 + mean), loc=-1)), ("poisson", poisson(mean))]
    for distribution, law in laws:
        late = delays(Delayed(STEP, mean=mean, distribution=distribution))
        levels = law.cdf(late - 1) + jitter * law.pmf(late)
        assert kstest(levels, "uniform").pvalue > 1e-5


def test_nothing_else_changes() -> None:
    inner, outer = STEP.draw(10, 5_000, 3), Delayed(STEP, mean=8).draw(10, 5_000, 3)
    assert same(inner, replace(outer, reward_round=None))
    assert Delayed(STEP, mean=8).problem == STEP.problem


def test_delays_know_nothing_of_the_environment_and_neighbours_nothing_of_each_other() -> None:
    environment = Delayed(
        EligibilityEnvironment(environment=LinearEnvironment()), mean=5, distribution="geometric"
    )
    drawn, late = environment.draw(0, 50_000, 1), delays(environment, seed=1)
    assert drawn.contexts.eligible is not None
    others = [drawn.contexts.shared, drawn.contexts.eligible, drawn.rewards - drawn.means]
    table = np.concatenate([late[:, None], *others, np.roll(late, 1)[:, None]], axis=1)
    # Nine correlations, five standard errors: wrong for one in 190,000 seeds.
    assert np.all(np.abs(np.corrcoef(table.T)[0, 1:]) < 5 / np.sqrt(50_000))


def test_delays_of_several_wrappers_add_up_and_are_independent() -> None:
    inner = Delayed(STEP, mean=5, distribution="geometric")
    outer = Delayed(inner, mean=5, distribution="geometric")
    top = Delayed(EligibilityEnvironment(environment=outer), mean=5, distribution="geometric")
    added = [delays(inner), delays(outer) - delays(inner), delays(top) - delays(outer)]
    assert [layer.min() for layer in added] == [0, 0, 0]
    # Three correlations, five standard errors: wrong for one in 580,000 seeds.
    off = np.corrcoef(added)[np.triu_indices(3, 1)]
    assert np.all(np.abs(off) < 5 / np.sqrt(50_000))


def test_delays_above_environments_that_drift_are_independent_of_those_inside() -> None:
    inside = Delayed(STEP, mean=5, distribution="geometric")
    for drift in (Switching((STEP, inside), at=100), Drifting(STEP, inside, start=0, stop=100)):
        over = delays(Delayed(drift, mean=5, distribution="geometric")) - delays_or_0(drift)
        # Five standard errors: wrong for one in 1.7 million seeds.
        correlation = np.corrcoef(over[100:], delays(inside)[100:])[0, 1]
        assert abs(correlation) < 5 / np.sqrt(49_900)


def delays_or_0(environment: Drawable) -> Ints:
    late = environment.draw(0, 50_000, 0).reward_round
    return np.zeros(50_000, dtype=np.int64) if late is None else late - np.arange(50_000)


def test_masks_over_a_delayed_environment_keep_its_delays() -> None:
    inner = Delayed(LinearEnvironment(), mean=5, distribution="geometric")
    assert np.array_equal(delays(EligibilityEnvironment(environment=inner)), delays(inner))


def test_a_learner_waits_for_its_rewards() -> None:
    at_once = simulate(LinUCB(schedule=FixedBatch(100)), STEP, 2_000, 5)
    never = simulate(LinUCB(schedule=FixedBatch(100)), Delayed(STEP, mean=10_000), 2_000, 5)
    assert np.all(never.regret[:, -1] > 2 * at_once.regret[:, -1])


@all_environments
def test_learners_play_in_it(environment: Any) -> None:
    assert np.all(simulate(LinUCB(schedule=FixedBatch(50)), environment, 300).regret >= 0.0)


@dataclass(frozen=True)
class Bare:
    """The least that an environment can be."""

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        means = np.tile([0.2, 0.8], (stop - start, 1))
        return PotentialOutcomes(Contexts(np.zeros((stop - start, 1))), means, means)


def test_a_class_with_draw_alone_can_be_delayed() -> None:
    environment = Delayed(Bare(), mean=4)
    assert environment.problem.actions == (1, 2)
    assert simulate(LinUCB(schedule=FixedBatch(10)), environment, 100).reward[0, -1] > 20.0


def test_settings_are_values() -> None:
    environment = Delayed(STEP, mean=3.0, distribution="poisson")
    assert eval(repr(environment)) == environment
    assert hash(pickle.loads(pickle.dumps(environment))) == hash(environment)
    assert (
        columns(environment.draw(0, 9, 1))[-1].tolist()
        == columns(eval(repr(environment)).draw(0, 9, 1))[-1].tolist()
    )


@pytest.mark.parametrize(
    ("settings_", "sentence"),
    [
        ({"mean": -1}, "mean is -1; give a number of rounds from 0"),
        ({"mean": float("nan")}, "mean is nan; give a number of rounds"),
        ({"mean": 1e300}, r"mean is 1e\+300; give a number of rounds from 0 to 2\*\*53"),
        ({"mean": "long"}, "mean is 'long'; give a number"),
        ({"mean": 2.5}, r"mean is 2\.5, and a fixed delay is a whole number of rounds; give one, or dist"),
        ({"mean": 2, "distribution": "normal"}, "distribution is 'normal'; give 'fixed', 'geometric' or"),
    ],
)
def test_bad_settings_are_refused(settings_: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Delayed(STEP, **settings_)


@pytest.mark.parametrize("environment", [3, None, "StepExample", StepExample])
def test_what_is_no_environment_is_refused(environment: Any) -> None:
    with pytest.raises(
        ValueError, match=r"environment is .*; give an environment such as LinearEnvironment\(\)"
    ):
        Delayed(environment, mean=3)
