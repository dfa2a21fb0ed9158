from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from gyrfalcon import Bandit, Uniform
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, Mixture
from gyrfalcon.core.policies.greedy import GreedyPolicy, LikeliestPolicy, greedy_policy_of
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, UniformPolicy
from gyrfalcon.core.policies.kernels import EpsilonGreedyKernel
from gyrfalcon.core.policies.thompson import SampledPolicy
from gyrfalcon.core.policies.untried import trying
from gyrfalcon.storage import files

ONE = Contexts(np.zeros((1, 0)))


def optimist(means: list[float], scores: list[float], known: list[bool] | None = None) -> SimpleNamespace:
    return SimpleNamespace(
        means=lambda _: np.array([means]),
        scores=lambda _: np.array([scores]),
        known=None if known is None else np.array(known),
    )


def test_the_bonus_of_an_optimist_does_not_count() -> None:
    policy = KernelPolicy(optimist([0.2, 0.5, 0.1], [0.9, 0.6, 0.1]), EpsilonGreedyKernel(0.3))
    assert greedy_policy_of(policy).probabilities(ONE).tolist() == [[0.0, 1.0, 0.0]]
    masked = replace(ONE, eligible=np.array([[True, False, True]]))
    assert greedy_policy_of(policy).probabilities(masked).tolist() == [[1.0, 0.0, 0.0]]


def test_actions_without_data_come_last() -> None:
    scorer = optimist([0.2, 0.1, 0.9], [0.2, 0.1, 0.9], known=[True, True, False])
    greedy = greedy_policy_of(KernelPolicy(scorer, EpsilonGreedyKernel(0.0)))
    assert greedy.probabilities(ONE).tolist() == [[1.0, 0.0, 0.0]]
    only = replace(ONE, eligible=np.array([[False, False, True]]))
    assert greedy.probabilities(only).tolist() == [[0.0, 0.0, 1.0]]
    tried = trying(KernelPolicy(optimist([1, 2], [1, 2]), EpsilonGreedyKernel(0.0)), np.array([True, False]))
    assert greedy_policy_of(tried).probabilities(ONE).tolist() == [[1.0, 0.0]]


def test_a_policy_without_estimates_gives_its_likeliest_actions() -> None:
    epoch = Epoch(index=1, start=0, stop=9, policy=UniformPolicy(2), passive_policy=UniformPolicy(2))
    certain = replace(epoch, policy=KernelPolicy(optimist([0, 1], [0, 1]), EpsilonGreedyKernel(0.0)))
    mixture = replace(epoch, policy=Mixture(np.array([0.3, 0.7]), (epoch, certain)))
    assert isinstance(mixture.greedy, LikeliestPolicy)
    assert mixture.greedy.probabilities(ONE).tolist() == [[0.0, 1.0]]
    assert epoch.greedy.probabilities(ONE).tolist() == [[0.5, 0.5]]


def test_draws_of_a_posterior_count_by_the_model_that_they_are_drawn_around() -> None:
    draws = SimpleNamespace(draws=lambda _: np.array([[[0.9, 0.1]]]), model=optimist([0.1, 0.2], [0.1, 0.2]))
    assert greedy_policy_of(SampledPolicy(draws)).probabilities(ONE).tolist() == [[0.0, 1.0]]


def test_the_running_policy_counts_where_it_shares_the_rounds() -> None:
    running = KernelPolicy(optimist([0.0, 1.0], [0.0, 1.0]), EpsilonGreedyKernel(0.0))
    shared = SimpleNamespace(running=running, reference=UniformPolicy(2), probabilities=None)
    assert greedy_policy_of(shared).probabilities(ONE).tolist() == [[0.0, 1.0]]


def test_greedy_policies_are_stored_with_the_names_of_their_problem(tmp_path: Path) -> None:
    for number, learner in enumerate((None, Uniform())):
        bandit = Bandit(["red", "blue"], features=["x"], seed=1, learner=learner)
        for x in (0.1, 0.9, 0.4):
            bandit.reward(bandit.decide([x]).event_id, x)
        greedy = bandit.epoch.greedy
        files.save(tmp_path / f"{number}", greedy)
        restored = files.load(tmp_path / f"{number}")
        assert type(restored) is type(greedy)
        assert isinstance(restored, GreedyPolicy | LikeliestPolicy)
        assert restored.problem == bandit.problem
        contexts = bandit.problem.contexts(np.array([[0.2], [0.7]]))
        assert np.array_equal(restored.probabilities(contexts), greedy.probabilities(contexts))
