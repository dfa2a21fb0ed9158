"""Policies of a user's own learner are checked where a live bandit draws by them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from gyrfalcon import Bandit
from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, PassiveDesign
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import UniformPolicy
from gyrfalcon.core.records import Log


@dataclass(frozen=True)
class Constant:
    row: tuple[float, ...]

    def probabilities(self, contexts: Contexts) -> Floats:
        return np.tile(np.array(self.row, dtype=np.float64), (len(contexts), 1))


@dataclass(frozen=True)
class OwnLearner:
    """Plays one row of probabilities, from the second epoch on."""

    row: tuple[float, ...]
    share: float = 0.0
    design: PassiveDesign = PassiveDesign.COIN

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        everyone = UniformPolicy(problem.n_actions)
        return Epoch(index=1, start=0, stop=4, policy=everyone, passive_policy=everyone)

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        return Epoch(
            index=epoch.index + 1,
            start=epoch.stop,
            stop=epoch.stop + 4,
            policy=Constant(self.row),
            passive_policy=Constant(self.row),
            passive_share=self.share,
            passive_design=self.design,
        )

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        return epoch


def second_epoch(learner: OwnLearner) -> Bandit:
    bandit = Bandit(["a", "b"], learner=learner, features=["x"], seed=1)
    for _ in range(4):
        bandit.reward(bandit.decide([1.0]).event_id, 1.0)
    return bandit


BAD = [
    ((0.7, 0.7), "the policy of OwnLearner gives probabilities that sum to 1.4 in round 4"),
    ((0.2, 0.2), "that sum to 0.4 in round 4"),
    ((-0.5, 1.5), "action 'a' the probability -0.5 in round 4"),
    ((math.nan, 1.0), "action 'a' the probability nan in round 4"),
    ((1.0, 0.0, 0.0), r"an array of shape \(\d, 3\) in round 4"),
]


@pytest.mark.parametrize(("row", "told"), BAD)
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_probabilities_by_which_no_action_can_be_drawn_are_refused(
    row: tuple[float, ...], told: str, share: float
) -> None:
    bandit = second_epoch(OwnLearner(row, share))
    for attempt in (
        lambda: bandit.decide([1.0]),
        lambda: bandit.decide_many([[1.0]] * 3),
        lambda: bandit.probabilities([1.0]),
    ):
        with pytest.raises(ValueError, match=told):
            attempt()
    assert (bandit.status().n_decided, bandit.n_pending) == (4, 0)


@pytest.mark.parametrize("design", PassiveDesign)
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_probabilities_that_can_be_drawn_by_are_those_of_the_decisions(
    share: float, design: PassiveDesign
) -> None:
    bandit = second_epoch(OwnLearner((0.25, 0.75), share, design))
    told = bandit.probabilities([1.0])
    assert bandit.decide([1.0]).distribution == (0.25, 0.75) == tuple(told.values())
    many = bandit.decide_many([[1.0]] * 5).distribution
    assert many is not None
    assert many.tolist() == [[0.25, 0.75]] * 5


def test_new_actions_that_a_policy_does_not_know_are_noticed() -> None:
    bandit = second_epoch(OwnLearner((0.25, 0.75)))
    bandit.add_actions(["c"])
    with pytest.raises(ValueError, match=r"an array of shape \(1, 2\) in round 4; give \(1, 3\)"):
        bandit.decide([1.0])


def test_a_probability_for_an_action_that_is_not_eligible_is_refused() -> None:
    bandit = second_epoch(OwnLearner((0.25, 0.75)))
    with pytest.raises(ValueError, match=r"'a' the probability 0\.25 in round 4; the action is not eligible"):
        bandit.decide([1.0], eligible=["b"])
