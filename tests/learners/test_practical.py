"""The preset that is meant for real data: its parts one by one, and what the value gate does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.epochs import Epoch, PassiveDesign
from gyrfalcon.core.kernels import InverseGapWeighting
from gyrfalcon.core.policies import KernelPolicy
from gyrfalcon.core.schedules import Geometric
from gyrfalcon.environments.families import LinearWorld
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.experiments.simulate import simulate
from gyrfalcon.experiments.trace import Trace
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.linucb import LinUCB
from gyrfalcon.learners.practical import Practical, played_state
from gyrfalcon.oracles.alternatives import NAMES
from gyrfalcon.oracles.linear import Linear
from gyrfalcon.oracles.models import OptimisticModel
from gyrfalcon.oracles.regressor import Regressor
from gyrfalcon.oracles.stumps import StumpHull
from tests.contracts.worlds import epochs_of

STEP = StepExample()
LINEAR = ("linear",)
PRACTICAL = EpsilonFalcon(preset="practical", classes=LINEAR)
REFITS = Geometric(16, 1.1, longest=200)


def scorer_of(epoch: Epoch) -> OptimisticModel:
    assert isinstance(epoch.policy, KernelPolicy)
    assert isinstance(epoch.policy.scorer, OptimisticModel)
    return epoch.policy.scorer


def last_quarter(trace: Trace) -> float:
    return float(trace.reward_per_round[:, -1].mean())


def test_the_first_rounds_are_passive_and_the_share_decays_to_its_floor() -> None:
    epochs = epochs_of(PRACTICAL, STEP, 2_000)
    assert epochs[0].passive_share == 1.0
    assert all(epoch.passive_design is PassiveDesign.COIN for epoch in epochs)
    closed = [epoch for epoch in epochs[1:] if played_state(epoch).gate.in_use < 0]
    expected = [max(0.001, 0.03 * (epoch.start + 1) ** (-1 / 3)) for epoch in closed]
    assert [epoch.passive_share for epoch in closed] == pytest.approx(expected)
    assert Practical(decay=0.0).share(10**6) == 0.03
    assert Practical().share(10**9) == 0.001


def test_epochs_are_short_and_gamma_grows_with_the_root_of_all_rows() -> None:
    epochs = epochs_of(PRACTICAL, STEP, 3_000)
    assert [epoch.stop for epoch in epochs] == [REFITS.end(epoch.index) for epoch in epochs]
    for epoch in epochs[1:]:
        assert isinstance(epoch.policy, KernelPolicy)
        assert isinstance(epoch.policy.kernel, InverseGapWeighting)
        assert epoch.policy.kernel.gamma == pytest.approx(1000.0 * math.sqrt(epoch.start))


def test_the_bonus_is_the_residual_deviation_times_a_scale() -> None:
    world = LinearWorld(noise=0.2)
    for scale in (1.0, 0.5, 0.0):
        last = epochs_of(EpsilonFalcon(preset="practical", bonus=scale, classes=LINEAR), world, 5_000)[-1]
        # 4,800 rows: the residual deviation has a standard error of about 1 per cent.
        assert scorer_of(last).bonus == pytest.approx(0.2 * scale, rel=0.05)


def test_without_a_gate_the_pooled_fit_plays_and_nothing_else_is_summed() -> None:
    last = epochs_of(EpsilonFalcon(preset="practical", gate="never", classes=LINEAR), STEP, 1_000)[-1]
    state = played_state(last)
    assert state.evidence is not None
    assert state.evidence.rows.n == last.start
    assert state.evidence.passive.n == state.evidence.weighted.n == 0.0
    assert scorer_of(last).model == state.model
    assert state.gate.models == ()


def test_always_constrained_means_that_the_constrained_fit_plays() -> None:
    last = epochs_of(EpsilonFalcon(preset="practical", gate="always", classes=LINEAR), STEP, 4_000)[-1]
    gate = played_state(last).gate
    assert gate.in_use == 0
    assert scorer_of(last).model == gate.models[0]
    assert last.report is not None
    assert last.report.excess <= last.report.slack * (1 + 1e-9)


def test_the_gate_opens_where_the_pooled_fit_is_trapped_and_earns_what_it_promises() -> None:
    # Optimum .75, LinUCB .71. Over 20 seeds the last quarter was .741 with a standard error of .001 at these
    # lengths: a mean of 3 below .73 has a chance below 1 in 1,000.
    trace = simulate(PRACTICAL, STEP, 60_000, 3, seed=5, checkpoints=[45_000, 60_000])
    trapped = simulate(
        EpsilonFalcon(preset="practical", gate="never", classes=LINEAR),
        STEP,
        60_000,
        3,
        seed=5,
        checkpoints=[45_000, 60_000],
    )
    assert last_quarter(trace) > 0.73
    assert last_quarter(trapped) < 0.72
    reports = [epochs[-1].report for epochs in trace.epochs]
    assert all(report is not None and "plays" in report.details[-1] for report in reports)
    opened = [report for report in reports if report is not None and "pooled" not in report.details[-1]]
    assert len(opened) >= 2
    assert all(len(report.details) == len(NAMES) + 1 for report in opened)


def test_the_passive_share_is_larger_while_the_gate_is_open() -> None:
    epochs = epochs_of(PRACTICAL, STEP, 40_000, seed=2)
    shares = {played_state(epoch).gate.in_use >= 0: epoch.passive_share for epoch in epochs[1:]}
    assert shares.keys() == {False, True}
    assert shares[True] == pytest.approx(0.02)


def test_under_a_linear_truth_the_gate_stays_closed_mostly_and_costs_little() -> None:
    world = LinearWorld(n_actions=4, n_features=5, noise="bernoulli")
    ours, theirs = (
        simulate(learner, world, 8_000, 6, seed=3, checkpoints=[8_000]).reward[:, -1] / 8_000
        for learner in (PRACTICAL, LinUCB(alpha=0.3, schedule=REFITS))
    )
    gain = ours - theirs
    # Paired over 6 seeds; a true loss of half a point would show by more than 3 standard errors.
    assert gain.mean() > -0.005 - 3.0 * gain.std(ddof=1) / math.sqrt(6)


def test_alternatives_are_judged_by_rows_that_came_after_them() -> None:
    epochs = epochs_of(PRACTICAL, STEP, 600)
    gates = [played_state(epoch).gate for epoch in epochs[1:]]
    assert gates[0].gains is None  # fitted on these rows, so not judged by them
    judged = [gate.gains.count for gate in gates[1:] if gate.gains is not None]
    starts = [epoch.start for epoch in epochs[2:]]
    assert judged == [start - 16 for start in starts]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"slack": "paper"}, "slack is 'paper', which preset 'practical' has no use for"),
        ({"passive_design": "coin"}, "passive_design is 'coin', which preset 'practical'"),
        ({"data": "all"}, "data is 'all', which preset 'practical'"),
        ({"gate": "sometimes"}, "gate is 'sometimes'; choose one of 'value', 'always', 'never'"),
        ({"bonus": -1.0}, "bonus is -1.0"),
        ({"decay": math.nan}, "decay is nan"),
        ({"floor": 1.5}, "floor is 1.5"),
        ({"epsilon": 0.7}, "epsilon is 0.7"),
        ({"model_class": Regressor(StumpHull())}, "model_class Regressor; its bonus needs"),
    ],
)
def test_what_practical_play_has_no_use_for_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EpsilonFalcon(preset="practical", **settings)


@pytest.mark.parametrize("name", ["bonus", "decay", "floor"])
def test_its_own_settings_are_refused_elsewhere(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is 0.1, which preset 'calibrated' has no use for"):
        EpsilonFalcon(**{name: 0.1})  # type: ignore[arg-type]


def test_a_class_with_a_ridge_of_its_own_keeps_it() -> None:
    given = played_state(
        epochs_of(EpsilonFalcon(preset="practical", model_class=Linear(ridge=3.0)), STEP, 100)[-1]
    )
    default = played_state(epochs_of(PRACTICAL, STEP, 100)[-1])
    assert given.oracle is not None
    assert default.oracle is not None
    assert (given.oracle.settings.ridge, default.oracle.settings.ridge) == (3.0, 1.0)


def test_rewards_that_are_all_alike_leave_play_well_defined() -> None:
    world = LinearWorld(n_actions=2, n_features=1, noise=0.0)
    trace = simulate(PRACTICAL, world, 400, 1)
    assert np.isfinite(trace.regret).all()
