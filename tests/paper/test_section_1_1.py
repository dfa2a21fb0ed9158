"""Section 1.1: who is drawn away from the best linear model, and who is not, in runs of 100,000 rounds.

Six runs each, with limits five standard errors from the mean; `make test-long` plays 200 with narrow ones.
"""

from __future__ import annotations

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy, Scorer
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.learners.baselines.uniform import Uniform
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.simulation.replications import simulate
from gyrfalcon_paper.linear_models import played_model

STEP = StepExample()
SEEDS = range(6)
T = 100_000


def total_regret(learner: Learner, seeds: range = SEEDS) -> Floats:
    """Cumulative regret of each run."""
    return np.array([simulate(learner, STEP, T, seed=seed).regret[0, -1] for seed in seeds])


def test_uniform_play_costs_a_quarter_a_round() -> None:
    # Regret is 0 or 0.5 alike: the standard error of 100,000 rounds is 0.0008.
    assert simulate(Uniform(), STEP, T).regret[0, -1] / T == pytest.approx(0.25, abs=0.004)


@pytest.fixture(scope="module")
def epsilon_falcon_runs() -> tuple[Floats, Floats]:
    """Cumulative regret of each run, and its last lines: intercepts and slopes of both actions."""
    traces = [simulate(EpsilonFalcon(), STEP, T, seed=seed, keep_policies=True) for seed in SEEDS]
    ends = Contexts(np.array([[0.0], [1.0]]))
    lines = []
    for trace in traces:
        policy = trace.epochs[0][-1].policy
        assert isinstance(policy, KernelPolicy)
        at_0, at_1 = scorer_of_rewards(policy).scores(ends)
        lines.append(np.stack([at_0, at_1 - at_0]))
    return np.array([trace.regret[0, -1] for trace in traces]), np.array(lines)


def test_epsilon_falcon_pays_little_beyond_its_passive_share(
    epsilon_falcon_runs: tuple[Floats, Floats],
) -> None:
    assert 2450 < epsilon_falcon_runs[0].mean() < 3300


def test_epsilon_falcon_stays_near_the_best_linear_model(epsilon_falcon_runs: tuple[Floats, Floats]) -> None:
    intercepts, slopes = epsilon_falcon_runs[1][:, 0], epsilon_falcon_runs[1][:, 1]
    assert np.abs(intercepts - [-0.25, 0.5]).max() < 0.15
    assert np.abs(slopes - [1.5, 0.0]).max() < 0.15
    crossing = (0.5 - intercepts[:, 0]) / slopes[:, 0]
    assert np.abs(crossing - 0.5).max() < 0.05


def test_falcon_on_the_last_epoch_is_worse_than_half_of_uniform_play() -> None:
    assert total_regret(Falcon()).mean() > 10_500


def test_falcon_on_all_data_settles_at_the_self_consistent_policy() -> None:
    assert 4150 < total_regret(Falcon(data="all")).mean() < 4520


def test_linucb_settles_there_too() -> None:
    hundreds = range(100, 10_100, 100)
    runs = simulate(LinUCB(), STEP, 10_000, 20, checkpoints=hundreds).regret_per_round
    assert 0.038 < runs[:, 50:].mean() < 0.042
    # It falls, then rises, within a few hundred rounds.
    by_hundred = runs[:, :10].mean(axis=0)
    assert by_hundred[0] == pytest.approx(0.25, abs=0.03)
    assert by_hundred[1] < 0.025
    assert by_hundred[5:].min() > 0.03


@pytest.mark.long
def test_many_other_seeds_say_the_same() -> None:
    seeds = range(1000, 1200)
    assert 2_700 < total_regret(EpsilonFalcon(), seeds).mean() < 3_050
    assert total_regret(Falcon(), seeds).mean() > 13_500
    assert 4_250 < total_regret(Falcon(data="all"), seeds).mean() < 4_450


@pytest.mark.long
def test_linucb_settles_where_greedy_play_is_consistent_with_its_own_fit() -> None:
    late = simulate(LinUCB(), STEP, T, 30, seed=1000, checkpoints=[T // 2]).late_regret(0.5)
    # Switching at x = 0.418861 costs 0.040569 a round; the runs' spread is 0.0006, so this is five errors.
    assert np.mean(late) == pytest.approx(0.040569, abs=5 * 0.0006 / np.sqrt(30))


def scorer_of_rewards(policy: Policy) -> Scorer:
    model = played_model(policy)
    assert model is not None
    return model
