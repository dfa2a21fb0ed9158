"""Learners and environments of a user, checked where they enter a simulation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, PassiveDesign
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import UniformPolicy
from gyrfalcon.core.policies.validation import check_probabilities
from gyrfalcon.core.records import Log
from gyrfalcon.environments.data.logged_replay import LoggedReplay
from gyrfalcon.environments.delayed import Delayed
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.protocol import PotentialOutcomes
from gyrfalcon.environments.random_access import has_own_part
from gyrfalcon.environments.synthetic.action_features import EligibilityEnvironment
from gyrfalcon.environments.synthetic.families import LinearEnvironment
from gyrfalcon.environments.wrappers import Switching
from gyrfalcon.learners.baselines.uniform import Uniform
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.simulation.replications import simulate

STEP = StepExample()


@dataclass(frozen=True)
class Fixed:
    """A policy with these probabilities in every context, whatever they are."""

    values: Any

    def probabilities(self, contexts: Contexts) -> Floats:
        return np.tile(np.asarray(self.values, dtype=np.float64), (len(contexts), 1))


@dataclass(frozen=True)
class Raw:
    """A policy that gives the same object in every batch."""

    value: Any

    def probabilities(self, contexts: Contexts) -> Any:
        return self.value


@dataclass(frozen=True)
class Own:
    """A learner that goes over from uniform play to other policies after 100 rounds."""

    policy: Any
    passive: Any = None
    length: int = 100
    share: float = 0.0
    design: PassiveDesign = PassiveDesign.TAIL

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        everyone = UniformPolicy(problem.n_actions)
        return Epoch(index=1, start=0, stop=100, policy=everyone, passive_policy=everyone)

    def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
        return replace(
            epoch,
            index=epoch.index + 1,
            start=epoch.stop,
            stop=epoch.stop + self.length,
            policy=self.policy,
            passive_policy=self.passive or self.policy,
            passive_share=self.share,
            passive_design=self.design,
        )


def play(learner: Any, environment: Any = STEP, n_rounds: int = 300) -> Any:
    return simulate(learner, environment, n_rounds)


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        (
            Fixed([0.5, 0.6]),
            r"the policy of Own gives probabilities that sum to 1\.1 in round 100; give rows",
        ),
        (Fixed([0.5, 0.5 + 2e-9]), r"sum to 1\.000000002 in round 100"),
        (Fixed([1.2, -0.2]), r"gives action 2 the probability -0\.2 in round 100; give numbers from 0 to 1"),
        (Fixed([np.nan, 1.0]), "gives action 1 the probability nan in round 100"),
        (Fixed([np.inf, 0.0]), "sum to inf in round 100"),
        (Fixed([0.2, 0.3, 0.5]), r"an array of shape \(100, 3\) in round 100; give \(100, 2\)"),
        (Raw(np.full((1, 2), 0.5)), r"an array of shape \(1, 2\) in round 100; give \(100, 2\)"),
        (Raw([[0.5, 0.5]] * 100), "give a NumPy array of floats"),
        (Raw(np.eye(2, dtype=int)[np.zeros(100, dtype=int)]), "gives an array of int64 in round 100"),
    ],
)
def test_probabilities_that_are_none_are_refused(policy: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        play(Own(policy))


def test_probabilities_are_checked_in_epochs_of_one_round() -> None:
    with pytest.raises(ValueError, match=r"sum to 0\.9 in round 100"):
        play(Own(Fixed([0.5, 0.4]), length=1))

    class Quick(Fixed):
        def row(self, contexts: Contexts) -> list[float]:
            return [0.5, 0.2]

    with pytest.raises(ValueError, match=r"sum to 0\.7 in round 100"):
        play(Own(Quick([0.5, 0.5]), length=1))


def test_a_policy_that_goes_wrong_late_is_noticed_before_long() -> None:
    class Late(Own):
        def next_epoch(self, epoch: Epoch, log: Log) -> Epoch:
            following = super().next_epoch(epoch, log)
            return following if epoch.stop < 1_500 else replace(following, policy=Fixed([0.5, 0.4]))

    with pytest.raises(ValueError, match=r"sum to 0\.9 in round 2..."):
        play(Late(Fixed([0.5, 0.5]), length=1), n_rounds=4_000)


def test_the_passive_policy_is_checked_in_its_own_rounds() -> None:
    learner = Own(Fixed([0.5, 0.5]), Fixed([0.5, 0.4]), share=0.25)
    with pytest.raises(ValueError, match=r"sum to 0\.9 in round 175"):
        play(learner)
    with pytest.raises(ValueError, match=r"sum to 0\.9 in round 100"):
        play(replace(learner, design=PassiveDesign.COIN))


def test_ineligible_actions_have_no_probability() -> None:
    environment = EligibilityEnvironment(environment=LinearEnvironment(n_actions=2))
    with pytest.raises(ValueError, match=r"the probability 0\.5 in round 1..; the action is not eligible"):
        play(Own(Fixed([0.5, 0.5])), environment)


def test_a_log_is_replayed_by_probabilities_only() -> None:
    rewards, propensities = np.zeros(2_000), np.full(2_000, 0.5)
    log = LoggedReplay(Problem([1, 2]), None, np.resize([1, 2], 2_000), rewards, propensities)
    learner: Any = Own(Fixed([0.5, 0.4]))
    with pytest.raises(ValueError, match=r"the policy of Own gives probabilities that sum to 0\.9 in round"):
        simulate(learner, log, 300)


def test_checks_change_no_decision() -> None:
    class OwnUniform(Uniform):
        pass

    for learner in (Uniform(), OwnUniform()):
        assert (
            simulate(learner, STEP, 500, 2).reward.tolist()
            == simulate(Uniform(), STEP, 500, 2).reward.tolist()
        )


def test_a_live_bandit_can_check_one_row() -> None:
    contexts = Contexts(np.zeros((1, 0)), None, np.array([[True, False]]))
    check_probabilities(np.array([[1.0, 0.0]]), contexts, "ab", learner="Own", rounds=[3])
    with pytest.raises(ValueError, match=r"action 'b' the probability 1e-300 in round 3; the action is not"):
        check_probabilities(np.array([[1.0, 1e-300]]), contexts, "ab", learner="Own", rounds=[3])


@dataclass(frozen=True)
class Base:
    """Random rows, of which subclasses say by which stream."""

    calls: list[tuple[int, int]] = field(default_factory=list, compare=False)

    def rows(self, rng: np.random.Generator, n: int) -> PotentialOutcomes:
        means = rng.random((n, 2))
        return PotentialOutcomes(Contexts(rng.random((n, 1))), means, means)

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        self.calls.append((start, stop))
        whole = self.rows(np.random.default_rng(seed), 8_192)
        return whole.take(slice(start, stop))


class WithoutStart(Base):
    """Rows of round 0 on for every start."""

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        return super().draw(0, stop - start, seed)


class ByStart(Base):
    """Another stream for every start."""

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        return self.rows(np.random.default_rng([seed, start]), stop - start)


@pytest.mark.parametrize("n_replications", [1, 3])
@pytest.mark.parametrize("learner", [LinUCB(), Uniform()])
def test_an_environment_that_ignores_start_is_refused(learner: Any, n_replications: int) -> None:
    sentence = (
        r"draw\(50, 82, 0\) of WithoutStart gives other contexts for round 50 than draw\(0, 100, 0\); these "
        r"are the rows of round 0 on\. Rounds must have the same rows however they are cut"
    )
    with pytest.raises(ValueError, match=sentence):
        simulate(learner, WithoutStart(), 100, n_replications)


def test_an_environment_with_other_rows_for_every_cut_is_refused() -> None:
    with pytest.raises(ValueError, match=r"gives other contexts for round 1 than draw\(0, 3, 0\)\. Rounds"):
        simulate(LinUCB(), ByStart(), 3)
    with pytest.raises(ValueError, match=r"of Delayed gives other contexts"):
        simulate(LinUCB(), Delayed(ByStart(), mean=3), 100)


def test_a_round_alone_is_not_compared() -> None:
    assert simulate(LinUCB(), ByStart(), 1).n_rounds == 1


def test_an_environment_is_checked_once() -> None:
    environment = Base()
    simulate(LinUCB(), environment, 8_000, 3)
    # The first is where the problem is inferred from.
    assert environment.calls == [(0, 1), (0, 8_000), (4_000, 4_032), (0, 8_000), (0, 8_000)]


def test_environments_of_the_package_are_trusted() -> None:
    assert not has_own_part(Delayed(Switching((STEP, STEP), at=3), mean=3))
    assert has_own_part(Delayed(Switching((STEP, _Same()), at=3), mean=3))


class _Same:
    problem = STEP.problem
    draw = STEP.draw
