"""Settings that could not work are refused when they are given, not in the middle of play."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from gyrfalcon.core.epochs import Epoch, Mixture, PassiveDesign
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import UniformPolicy
from gyrfalcon.core.schedules import Doubling, FixedBatch, Geometric, KnownHorizon
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.oracles.linear.linear import Linear


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Linear(layout="foo"), "layout is 'foo'"),  # type: ignore[arg-type]
        (lambda: Linear(basis=5), "basis is 5"),  # type: ignore[arg-type]
        (lambda: Linear(ridge=-1.0), "ridge is -1.0"),
        (lambda: EpsilonFalcon(tau_1=4.5), "tau_1 is 4.5"),  # type: ignore[arg-type]
        (lambda: EpsilonFalcon(tau_1=50, schedule=Doubling(8)), "tau_1 is 50"),
        (lambda: LinUCB(model_class=Linear(ridge=7.0)), "model_class has 7.0"),
        (lambda: AdaptiveFalcon(model_class="linear"), "model_class is 'linear'"),  # type: ignore[arg-type]
        (lambda: Falcon(schedule=100), "schedule is 100"),  # type: ignore[arg-type]
        (lambda: FixedBatch(2.5), "size is 2.5"),  # type: ignore[arg-type]
        (lambda: Geometric(True, 2.0), "first is True"),
        (lambda: KnownHorizon(1e4), "horizon is 10000.0"),  # type: ignore[arg-type]
    ],
)
def test_a_setting_that_cannot_work_is_named(make: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make()


@pytest.mark.parametrize("learner", [EpsilonFalcon, Falcon, LinUCB])
def test_a_model_class_that_does_not_fit_the_problem_is_refused_at_the_start(
    learner: Callable[..., EpsilonFalcon | Falcon | LinUCB],
) -> None:
    problem = Problem(["a", "b"], 2)
    with pytest.raises(ValueError, match="no features to share coefficients over"):
        learner(model_class=Linear(layout="shared")).start(problem)
    with pytest.raises(ValueError, match="nothing is left to fit"):
        learner(model_class=Linear(intercept=False)).start(Problem(["a", "b"]))


def base(**settings: object) -> Epoch:
    everyone = UniformPolicy(2)
    return Epoch(index=1, start=0, stop=10, policy=everyone, passive_policy=everyone, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("weights", [[0.5, 0.6], [1.5, -0.5], [math.nan, 0.5], [1.0]])
def test_weights_of_a_mixture_are_shares(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weights are"):
        Mixture(np.array(weights), (base(), base()))


def test_a_mixture_has_no_tails_and_no_share_of_its_own() -> None:
    with pytest.raises(ValueError, match="passive tail"):
        Mixture(np.array([0.5, 0.5]), (base(), base(passive_share=0.1)))
    mixture = Mixture(
        np.array([0.5, 0.5]), (base(), base(passive_share=0.1, passive_design=PassiveDesign.COIN))
    )
    with pytest.raises(ValueError, match="passive_share is"):
        Epoch(index=1, start=0, stop=10, policy=mixture, passive_policy=UniformPolicy(2), passive_share=0.2)
