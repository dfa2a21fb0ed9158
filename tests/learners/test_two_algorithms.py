"""Settings of EpsilonFalcon and AdaptiveFalcon: what each has, its defaults, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from gyrfalcon.core.epochs import Epoch, PassiveDesign
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.schedules import Doubling, Geometric
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.synthetic.families import LinearEnvironment
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.steps import Summing
from gyrfalcon.oracles.features.smooth import Splines
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.regressors.regressor import Regressor
from gyrfalcon.simulation.replications import simulate
from tests.contracts.environments import epochs_of

STEP = StepExample()
REGRESSOR = Regressor(Ridge(alpha=0.1))
OF_ALGORITHM_ONE = (
    "constants",
    "tau_1",
    "slack",
    "c_beta",
    "monotone_gamma",
    "C",
    "rho",
    "rho_prime",
    "comp",
)
OF_ADAPTIVE = ("bonus", "decay", "floor", "gate", "half_life", "classes", "ridge")


@pytest.mark.parametrize("name", OF_ALGORITHM_ONE)
def test_adaptive_falcon_has_no_setting_of_algorithm_1_alone(name: str) -> None:
    with pytest.raises(TypeError, match=name):
        AdaptiveFalcon(**{name: 1.0})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", OF_ADAPTIVE)
def test_algorithm_1_has_no_setting_of_adaptive_falcon_alone(name: str) -> None:
    with pytest.raises(TypeError, match=name):
        EpsilonFalcon(**{name: 1.0})  # type: ignore[arg-type]


def test_constants_decide_what_is_left_open() -> None:
    paper, calibrated = EpsilonFalcon(constants="paper"), EpsilonFalcon()
    assert (paper.slack_rule, calibrated.slack_rule) == ("paper", "calibrated")
    assert (paper.epoch_schedule, calibrated.epoch_schedule) == (Doubling(4), Doubling(100))
    assert calibrated.c_gamma_value == 10.0
    assert 0.0 < paper.c_gamma_value < 1e-3
    assert replace(paper, constants="calibrated") == calibrated


@pytest.mark.parametrize("constants", ["paper", "calibrated"])
def test_a_setting_that_is_given_goes_before_the_constants(constants: Any) -> None:
    learner = EpsilonFalcon(constants=constants, slack="chi_square", tau_1=8, c_gamma=3.0)
    assert (learner.slack_rule, learner.c_gamma_value) == ("chi_square", 3.0)
    assert learner.epoch_schedule == Doubling(8)


def test_adaptive_falcon_has_one_schedule_and_one_state_whatever_its_classes() -> None:
    assert AdaptiveFalcon().schedule == Geometric(16, 1.1, longest=200)
    states = [
        AdaptiveFalcon(classes=classes).start(Problem(["a", "b"], features=1)).state
        for classes in ("linear", "auto")
    ]
    assert type(states[0]) is type(states[1])


def test_passive_rounds_may_be_at_the_end_of_epochs() -> None:
    first, *later = epochs_of(AdaptiveFalcon(passive_design="tail", classes="linear"), STEP, 300)
    assert all(epoch.passive_design is PassiveDesign.TAIL for epoch in later)
    assert first.passive_share == 1.0


@pytest.mark.parametrize("classes", ["auto", ("linear", "fourier"), (Linear(basis=Splines()),)], ids=str)
def test_only_the_linear_class_can_be_fitted_to_the_last_epoch(classes: Any) -> None:
    assert AdaptiveFalcon(data="last_epoch", classes=("linear",)).names == ("linear",)
    assert AdaptiveFalcon(data="last_epoch").names == ("linear",)
    assert len(AdaptiveFalcon(data="all", classes=classes).names) > 1
    with pytest.raises(ValueError, match=r"data is 'last_epoch' and classes .*; only the linear class"):
        AdaptiveFalcon(data="last_epoch", classes=classes)


@pytest.mark.parametrize("learner", [EpsilonFalcon, AdaptiveFalcon])
@pytest.mark.parametrize(
    "wrong",
    [{"epsilon": "atuo"}, {"epsilon": 0.5}, {"epsilon": True}, {"data": "last"}, {"passive_design": "head"}],
    ids=str,
)
def test_a_setting_of_both_is_refused_by_both_where_it_is_wrong(learner: Any, wrong: dict[str, Any]) -> None:
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"{name} is {value!r}; "):
        learner(**wrong)


def test_auto_is_a_share_of_adaptive_falcon_alone() -> None:
    with pytest.raises(ValueError, match="epsilon is 'auto'; give a share in"):
        EpsilonFalcon(epsilon="auto")  # type: ignore[arg-type]


@pytest.mark.parametrize(("epsilon", "share"), [("auto", 0.03), ("corollary", 0.03), (0.1, 0.1)])
def test_the_first_passive_share_of_adaptive_falcon(epsilon: Any, share: float) -> None:
    assert AdaptiveFalcon(epsilon=epsilon).share(0) == share


@pytest.mark.parametrize(("epsilon", "share"), [("corollary", 0.05), (0.1, 0.1)])
@pytest.mark.parametrize("constants", ["paper", "calibrated"])
def test_the_first_passive_share_of_algorithm_1(constants: Any, epsilon: Any, share: float) -> None:
    assert EpsilonFalcon(constants=constants, epsilon=epsilon).passive_share == share
    assert EpsilonFalcon(constants=constants).passive_share == 0.05


def shares(epochs: list[Epoch]) -> list[float]:
    return [epoch.passive_share for epoch in epochs]


def test_a_share_by_the_corollary_is_larger_where_the_class_is_wrong() -> None:
    learner = EpsilonFalcon(epsilon="corollary")
    last = {}
    for environment in (STEP, LinearEnvironment(n_features=1)):
        runs = [epochs_of(learner, environment, 12_800, seed) for seed in range(3)]
        assert all(run[0].passive_share == 0.05 for run in runs)
        last[environment] = np.median([run[-1].passive_share for run in runs])
    # Corollary 1 has 0.144 at the step's b = 1/32 and K = 2, and the least share, 0.001, at b = 0.
    assert last[STEP] == pytest.approx(0.144, rel=0.2)
    assert last[LinearEnvironment(n_features=1)] < 0.5 * last[STEP]


def test_the_report_says_why_the_corollary_has_this_share() -> None:
    epochs = epochs_of(EpsilonFalcon(epsilon="corollary"), STEP, 3_200)
    for epoch in epochs[1:]:
        assert epoch.report is not None
        assert f"{epoch.passive_share:.4f}" in epoch.report.details[-1]
    assert epochs[-1].passive_share != 0.05


def test_a_share_that_cannot_be_estimated_stays() -> None:
    learner = EpsilonFalcon(epsilon="corollary", tau_1=4)
    assert shares(epochs_of(learner, STEP, 8)) == [0.05, 0.05]


def test_a_share_by_the_corollary_needs_rows_whatever_the_class() -> None:
    learner = EpsilonFalcon(epsilon="corollary")
    assert isinstance(learner, Summing)
    last = epochs_of(learner, STEP, 800)[-1]
    assert not learner.can_sum(last)
    assert replace(learner, epsilon=0.05).can_sum(last)
    assert not isinstance(AdaptiveFalcon(), Summing)
    trees = EpsilonFalcon(epsilon="corollary", model_class=REGRESSOR)
    assert all(0.0 < share < 0.5 for share in shares(epochs_of(trees, STEP, 1600)))


def test_simulations_of_a_share_by_the_corollary_are_reproducible() -> None:
    learner = EpsilonFalcon(epsilon="corollary")
    together = simulate(learner, STEP, 3_000, 2, seed=3)
    second = simulate(learner, STEP, 3_000, 1, seed=3, first_replication=1)
    assert np.array_equal(together.regret[1:], second.regret)


def test_classes_are_kept_as_given_and_have_an_order() -> None:
    given = ["linear", "fourier"]
    assert AdaptiveFalcon(classes=given).classes is given
    for unordered in ({"linear", "fourier"}, iter(given)):
        with pytest.raises(ValueError, match="give 'auto', or a list such as"):
            AdaptiveFalcon(classes=unordered)  # type: ignore[arg-type]


@pytest.mark.parametrize("settings", [{}, {"gate": "never"}, {"passive_data": "last_epoch"}])
def test_reports_count_the_rows_of_the_fit_and_of_its_constraint(settings: dict[str, Any]) -> None:
    learner = AdaptiveFalcon(classes=("linear",), **settings)
    problem, rng = Problem(["a", "b", "c"], features=1), np.random.default_rng(0)
    epoch, n_passive = learner.start(problem), 0
    for _ in range(3):
        passive = rng.random(50) < 0.3
        labels = rng.choice(["a", "b", "c"], 50).tolist()
        log = problem.log(
            problem.contexts(rng.normal(size=(50, 1))),
            labels,
            rng.random(50),
            passive=passive,
            propensities="uniform",
        )
        n_passive += int(passive.sum())
        epoch = learner.next_epoch(epoch, log)
    assert epoch.report is not None
    assert epoch.report.n_active == 150 - n_passive
    assert epoch.report.n_passive == (int(passive.sum()) if "passive_data" in settings else n_passive)
