"""Every player meets the same rounds, and is shown only the rewards of its own actions."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.regret.environments import PLACES
from benchmarks.regret.players import Ours, Sums, cuts, played
from benchmarks.regret.rounds import Rounds
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.environments.synthetic.families import LinearEnvironment
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.simulation.replications import simulate
from tests.regret.players import Watching

ENVIRONMENT = LinearEnvironment(noise="bernoulli")
ROUNDS = Rounds.of(ENVIRONMENT, 500, seed=3)


def test_our_learners_earn_on_drawn_rounds_what_they_earn_in_the_environment_itself() -> None:
    learner = LinUCB(alpha=0.3)
    trace = simulate(learner, ENVIRONMENT, 500, seed=3, checkpoints=[250, 375, 500])
    sums = Ours(learner).play(ROUNDS, seed=3)
    assert sums.reward.tolist() == trace.reward[0].tolist()
    assert sums.regret.tolist() == trace.regret[0].tolist()


@pytest.mark.parametrize("batch", [1, 7, 500])
def test_an_online_player_is_shown_each_context_once_and_the_reward_of_its_action(batch: int) -> None:
    player = Watching(ROUNDS.n_actions)
    sums = played(player, ROUNDS, batch)
    X, actions, rewards = (np.concatenate(part) for part in zip(*player.lessons, strict=True))
    np.testing.assert_array_equal(np.concatenate(player.contexts), ROUNDS.X)
    np.testing.assert_array_equal(X, ROUNDS.X)
    np.testing.assert_array_equal(actions, np.arange(500) % 3)
    np.testing.assert_array_equal(rewards, [ROUNDS.rewards[t, t % 3] for t in range(500)])
    assert sums.reward[-1] == rewards.sum()


def test_rounds_can_not_be_written_to_by_a_player() -> None:
    with pytest.raises(ValueError, match="read-only"):
        ROUNDS.rewards[0, 0] = 1.0


def test_digests_tell_other_rounds_apart() -> None:
    assert Rounds.of(ENVIRONMENT, 500, seed=3).digest == ROUNDS.digest
    assert (
        len(
            {ROUNDS.digest, Rounds.of(ENVIRONMENT, 500, seed=4).digest, Rounds.of(ENVIRONMENT, 499, 3).digest}
        )
        == 3
    )


@given(st.integers(4, 200), st.integers(0, 10**6))
def test_sums_have_the_means_of_the_whole_run_its_second_half_and_its_last_quarter(n: int, seed: int) -> None:
    rounds = Rounds.of(ENVIRONMENT, n, seed=0)
    actions = np.random.default_rng(seed).integers(3, size=n)
    earned = np.array([rounds.rewards[t, actions[t]] for t in range(n)])
    regret = np.array([rounds.means[t].max() - rounds.means[t, actions[t]] for t in range(n)])
    sums = Sums.of(rounds, actions)
    for share, start in ((0.0, 0), (0.5, n // 2), (0.75, n - n // 4)):
        assert sums.reward_from(share) == pytest.approx(earned[start:].mean(), abs=1e-12)
        assert sums.regret_from(share) == pytest.approx(regret[start:].mean(), abs=1e-12)


def test_runs_without_a_last_quarter_are_refused() -> None:
    with pytest.raises(ValueError, match="n_rounds is 3"):
        cuts(3)


def test_a_real_set_shows_each_row_once_in_as_many_rounds_as_it_has_rows() -> None:
    wine = PLACES["wine"]
    rounds = wine.rounds(wine.n_rows, seed=1)
    assert len(np.unique(rounds.X, axis=0)) == wine.n_rows == 178
    assert rounds.is_binary
    assert wine.is_binary
    assert np.abs(rounds.X).max() <= 4.0
    np.testing.assert_allclose(rounds.X.mean(axis=0), 0.0, atol=0.02)


def test_families_have_another_truth_under_each_seed() -> None:
    first, second = (PLACES["xor"].environment(seed).means(ROUNDS.X) for seed in (0, 1))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("name", ["xor", "rare", "section 1.1", "heteroscedastic"])
def test_a_place_knows_whether_its_rewards_are_0_and_1(name: str) -> None:
    assert PLACES[name].is_binary == PLACES[name].rounds(200, 0).is_binary
