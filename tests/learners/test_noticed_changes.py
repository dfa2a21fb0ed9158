"""Changes of the environment are noticed without a half-life, and nothing is forgotten where none happens."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon import AdaptiveFalcon, Bandit, Problem, simulate
from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.records import Log
from gyrfalcon.environments import LinearEnvironment, SinusoidEnvironment, Switching, dataset
from gyrfalcon.environments.protocol import Environment
from gyrfalcon.learners import decide
from gyrfalcon.learners.adaptive.forgetting import HALF_LIVES, Forgetting, RecentErrors, Shadow
from gyrfalcon.learners.adaptive.state import adaptive_state
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.linear.penalties import Penalties
from gyrfalcon.storage import files

LINEAR = Switching((LinearEnvironment(environment_seed=0), LinearEnvironment(environment_seed=1)), at=3_000)
SINUSOID = Switching(
    (SinusoidEnvironment(environment_seed=0), SinusoidEnvironment(environment_seed=1)), at=3_000
)


def late_regret(environment: Environment, learner: AdaptiveFalcon) -> float:
    """Regret a round in the last quarter of 6,000 rounds, half of them after the change."""
    trace = simulate(learner, environment, 6_000, n_replications=2, seed=3, checkpoints=[4_500, 6_000])
    return float(trace.regret_per_round[:, -1].mean())


def played(environment: Environment, n: int, learner: AdaptiveFalcon, seed: int = 1) -> Epoch:
    """The epoch after n rounds."""
    return played_on(environment, learner.start(environment.problem), n, learner, seed)


def played_on(
    environment: Environment, epoch: Epoch, n: int, learner: AdaptiveFalcon, seed: int = 1
) -> Epoch:
    """The epoch after n rounds in all, those of this epoch among them."""
    drawn, uniforms = environment.draw(0, n, seed), np.random.default_rng(seed).random((n, 3))
    while epoch.start < n:
        rounds = np.arange(epoch.start, min(epoch.stop, n))
        contexts = drawn.contexts.take(rounds)
        decisions = decide(epoch, rounds, contexts, uniforms[rounds])
        log = Log.of(contexts, decisions, drawn.rewards[rounds, decisions.action])
        epoch = learner.next_epoch(epoch, log)
    return epoch


def test_after_a_change_the_default_learns_the_new_environment() -> None:
    # Over ten other runs 0.000 to 0.003 against 0.09 to 0.25 where all rows count.
    assert late_regret(LINEAR, AdaptiveFalcon()) < 0.02
    assert late_regret(LINEAR, AdaptiveFalcon(half_life=None)) > 0.05


def test_after_a_change_a_wide_class_starts_anew() -> None:
    # Over ten other runs 0.005 to 0.04 against 0.2 to 0.4 where all rows count.
    assert late_regret(SINUSOID, AdaptiveFalcon()) < 0.08
    assert late_regret(SINUSOID, AdaptiveFalcon(half_life=None)) > 0.12


def test_the_report_says_how_often_rows_were_forgotten() -> None:
    epoch = played(LINEAR, 4_500, AdaptiveFalcon())
    n_changes = adaptive_state(epoch).forgetting.n_changes
    assert n_changes > 0
    assert epoch.report is not None
    assert f"changes after which earlier rows were forgotten: {n_changes}" in epoch.report.details
    linear = adaptive_state(epoch).linear
    assert linear is not None
    assert linear.statistics.pooled.n < 2_500.0


@pytest.mark.parametrize("name", ["ring", "segment", "vowel"])
def test_nothing_is_forgotten_where_only_the_policy_moves(name: str) -> None:
    # The linear class is wrong in these sets: of late, with another policy, other linear models fit better.
    with_notice = played(dataset(name), 4_000, AdaptiveFalcon())
    without = played(dataset(name), 4_000, AdaptiveFalcon(half_life=None))
    assert adaptive_state(with_notice).forgetting.n_changes == 0
    ours, theirs = adaptive_state(with_notice).linear, adaptive_state(without).linear
    assert ours is not None
    assert theirs is not None
    np.testing.assert_array_equal(ours.statistics.pooled.gram, theirs.statistics.pooled.gram)


def test_a_given_half_life_and_the_last_epoch_have_no_shadows() -> None:
    for learner in (
        AdaptiveFalcon(half_life=None),
        AdaptiveFalcon(half_life=700.0),
        AdaptiveFalcon(data="last_epoch"),
    ):
        assert not adaptive_state(played(LINEAR, 1_000, learner)).forgetting.shadows
    assert len(adaptive_state(played(LINEAR, 2_500, AdaptiveFalcon())).forgetting.shadows) == 2


def test_half_life_must_be_a_number_or_auto() -> None:
    with pytest.raises(ValueError, match="half_life is 'automatic'; give a number of rows, 'auto' or None"):
        AdaptiveFalcon(half_life="automatic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="half_life"):
        AdaptiveFalcon(half_life=-1.0)


def shadow_of(rewards: Floats, half_life: float, batch: int) -> tuple[Shadow, Floats]:
    """A shadow of rewards in batches, and the weights that its rows should have by now."""
    problem = Problem(["a", "b"])
    oracle = Linear(ridge=1.0).oracle(problem.contexts(n=1), 2)
    shadow = Shadow(half_life, oracle.empty(), Penalties.of(oracle.design))
    for start in range(0, len(rewards), batch):
        part = rewards[start : start + batch]
        log = problem.log(problem.contexts(n=len(part)), ["a"] * len(part), part, propensities="unknown")
        shadow = shadow.refitted(oracle, oracle.sums(log), len(part))
    last = np.minimum((np.arange(len(rewards)) // batch + 1) * batch, len(rewards))
    return shadow, np.power(0.5, (len(rewards) - last) / half_life)


@given(st.integers(1, 60), st.integers(1, 20), st.floats(2.0, 1e4))
def test_a_shadow_weighs_rows_by_their_age_in_whole_batches(n: int, batch: int, half_life: float) -> None:
    rewards = np.random.default_rng(n).random(n)
    shadow, weights = shadow_of(rewards, half_life, batch)
    assert shadow.rows.n == pytest.approx(weights.sum())
    assert float(shadow.rows.cross[0, 0]) == pytest.approx(weights @ rewards)


@given(st.lists(st.lists(st.floats(0.0, 10.0), min_size=1, max_size=30), min_size=1, max_size=5))
def test_recent_errors_are_discounted_sums(batches: list[list[float]]) -> None:
    errors, weights, kept = RecentErrors(), np.zeros(0), np.zeros(0)
    for batch in batches:
        new = np.array(batch)
        if errors.total > 0.0:
            new = np.minimum(new, 25.0 * errors.total / errors.n)
        weights = np.concatenate([weights * math.pow(0.5, len(new) / HALF_LIVES[0]), np.ones(len(new))])
        kept = np.concatenate([kept, new])
        errors = errors.updated(np.array(batch))
    assert errors.n == len(kept)
    assert errors.recent_total == pytest.approx(weights @ kept)
    assert errors.recent_weights == pytest.approx(weights @ weights)
    assert errors.z == 0.0  # too few rows to say anything


def test_errors_that_stay_alike_hardly_ever_look_grown() -> None:
    # Chi-square errors in batches of 200, up to 20,000 rows: none of 40 runs may reach four standard errors.
    for seed in range(40):
        rng, errors = np.random.default_rng(seed), RecentErrors()
        for _ in range(100):
            errors = errors.updated(rng.standard_normal(200) ** 2)
            assert errors.z < 4.0, seed


def test_one_absurd_reward_is_no_change() -> None:
    errors = RecentErrors().updated(np.random.default_rng(0).standard_normal(5_000) ** 2)
    assert errors.updated(np.array([1e9])).z < 2.0
    assert errors.updated(np.full(500, 4.0)).z > 4.0


GROWN = RecentErrors().updated(np.tile([0.8, 1.2], 1000)).updated(np.tile([1.8, 2.2], 250))
SHRUNK = RecentErrors().updated(np.tile([0.8, 1.2], 1000)).updated(np.tile([0.4, 0.6], 250))


def test_shadows_that_forget_less_go_on_from_the_winner() -> None:
    state = adaptive_state(played(LINEAR, 2_500, AdaptiveFalcon()))
    linear = state.linear
    assert linear is not None
    short, long = state.forgetting.shadows
    won = replace(short, log_score_gap=10.0, log_score_gap_squares=1.0)
    before = Forgetting((won, long), GROWN)
    assert before.winner is won
    after = before.followed(won, linear.statistics.pooled, linear.penalties, linear.model)
    assert (after.n_changes, after.n_returns) == (1, 0)
    assert after.shadows[0].log_score_gap == 0.0
    assert after.shadows[1].rows is won.rows
    assert after.shadows[1].model is None
    assert after.winner is None
    aside = after.set_aside
    assert aside is not None
    assert aside.rows.gram is linear.statistics.pooled.gram
    assert aside.model is linear.model


def test_shadows_decide_only_where_the_errors_of_the_linear_class_have_grown() -> None:
    shadow = adaptive_state(played(LINEAR, 1_000, AdaptiveFalcon())).forgetting.shadows[0]
    won = replace(shadow, log_score_gap=10.0, log_score_gap_squares=1.0)
    assert Forgetting((won,), GROWN).winner is won
    for errors in (SHRUNK, RecentErrors()):
        assert Forgetting((won,), errors).winner is None
        assert Forgetting((shadow,), errors, set_aside=won).winner is won  # it takes no growth to return


def test_a_return_changes_the_places_of_the_fit_and_of_the_one_set_aside() -> None:
    state = adaptive_state(played(LINEAR, 4_500, AdaptiveFalcon(classes="linear")))
    linear, aside = state.linear, state.forgetting.set_aside
    assert linear is not None
    assert aside is not None
    won = replace(aside, log_score_gap=10.0, log_score_gap_squares=1.0)
    before = replace(state.forgetting, set_aside=won, errors=SHRUNK)
    assert before.winner is won
    after = before.followed(won, linear.statistics.pooled, linear.penalties, linear.model)
    assert (after.n_changes, after.n_returns) == (before.n_changes, before.n_returns + 1)
    assert after.set_aside is not None
    assert after.set_aside.rows.gram is linear.statistics.pooled.gram
    assert after.set_aside.z == 0.0
    assert all(one.rows is was.rows for one, was in zip(after.shadows, before.shadows, strict=True))
    gone_on = linear.forgotten(won, 1.0)
    assert gone_on.statistics.pooled is aside.rows


def test_rows_set_aside_stay_as_they_are() -> None:
    problem = LINEAR.problem
    state = adaptive_state(played(LINEAR, 4_500, AdaptiveFalcon(classes="linear")))
    linear, aside = state.linear, state.forgetting.set_aside
    assert linear is not None
    assert aside is not None
    contexts = LINEAR.draw(0, 50, 0).contexts
    log = problem.log(contexts, [problem.actions[0]] * 50, np.zeros(50), propensities="unknown")
    after = state.forgetting.refitted(linear.oracle, log, linear.statistics.pooled, linear.penalties)
    assert after.set_aside is aside
    moved = state.forgetting.reindexed(linear.oracle, linear.oracle, np.arange(problem.n_actions))
    assert moved.set_aside is not None
    assert moved.set_aside.model is None
    refitted = moved.refitted(linear.oracle, log, linear.statistics.pooled, linear.penalties).set_aside
    assert refitted is not None
    assert refitted.model is not None
    np.testing.assert_array_equal(refitted.rows.gram, aside.rows.gram)


def test_rows_set_aside_are_stored_and_follow_the_actions(tmp_path: Path) -> None:
    learner = AdaptiveFalcon(classes="linear")
    epoch = played(LINEAR, 4_500, learner)
    files.save(tmp_path / "epoch", epoch)
    ours = adaptive_state(epoch).forgetting.set_aside
    theirs = adaptive_state(files.load(tmp_path / "epoch")).forgetting.set_aside
    assert ours is not None
    assert theirs is not None
    np.testing.assert_array_equal(theirs.rows.gram, ours.rows.gram)
    assert theirs.log_score_gap == ours.log_score_gap
    _, *others = LINEAR.problem.actions
    adapted = learner.adapt(epoch, replace(LINEAR.problem, actions=(*others, "new")))
    moved = adaptive_state(adapted).forgetting.set_aside
    assert moved is not None
    np.testing.assert_array_equal(moved.rows.weight[:-1], ours.rows.weight[1:])
    assert moved.rows.weight[-1] == 0.0


def test_a_season_that_returns_finds_its_rows() -> None:
    before, after = LinearEnvironment(environment_seed=0), LinearEnvironment(environment_seed=1)
    seasons = Switching((before, after), every=3_000)
    epoch = played(seasons, 7_000, AdaptiveFalcon(classes="linear"))
    forgetting = adaptive_state(epoch).forgetting
    assert forgetting.n_returns > 0
    assert epoch.report is not None
    assert f"returns to rows that had been set aside: {forgetting.n_returns}" in epoch.report.details


def test_a_false_alarm_is_revoked() -> None:
    environment = LinearEnvironment()
    epoch = played(environment, 3_000, AdaptiveFalcon(classes="linear"))
    state = adaptive_state(epoch)
    linear = state.linear
    assert linear is not None
    nothing = replace(state.forgetting.shadows[0], rows=linear.oracle.empty())
    forgetting = state.forgetting.followed(nothing, linear.statistics.pooled, linear.penalties, linear.model)
    misled = replace(state, linear=linear.forgotten(nothing, 0.0), forgetting=forgetting)
    epoch = played_on(environment, replace(epoch, state=misled), 4_000, AdaptiveFalcon(classes="linear"))
    assert adaptive_state(epoch).forgetting.n_returns == 1
    assert adaptive_state(epoch).linear.statistics.pooled.n > 3_000.0  # type: ignore[union-attr]


@pytest.mark.parametrize("seed", range(3))
def test_a_policy_that_moves_is_no_change_for_the_linear_class_alone(seed: int) -> None:
    # The linear class is wrong there, and had forgotten by round 3,000 with each of these seeds: it compares
    # better of late, with smaller errors.
    epoch = played(dataset("texture"), 3_000, AdaptiveFalcon(classes="linear"), seed)
    assert adaptive_state(epoch).forgetting.n_changes == 0


def test_a_live_bandit_keeps_its_shadows_when_actions_come_and_after_it_was_saved(tmp_path: Path) -> None:
    bandit, rng = Bandit(["a", "b"], features=["x"], seed=1), np.random.default_rng(0)

    def visits(n: int) -> None:
        for _ in range(n):
            x = float(rng.normal())
            decision = bandit.decide({"x": x})
            bandit.reward(decision.event_id, float(rng.random() < (0.7 if decision.action == "b" else 0.4)))

    visits(900)
    assert len(adaptive_state(bandit.epoch).forgetting.shadows) == 1
    bandit.add_actions(["c"])
    shadow = adaptive_state(bandit.epoch).forgetting.shadows[0]
    assert shadow.rows.weight.shape == (3,)
    assert shadow.model is None
    visits(400)
    bandit.save(tmp_path / "bandit.gyrfalcon")
    loaded = adaptive_state(Bandit.load(tmp_path / "bandit.gyrfalcon").epoch).forgetting.shadows[0]
    ours = adaptive_state(bandit.epoch).forgetting.shadows[0]
    np.testing.assert_array_equal(loaded.rows.gram, ours.rows.gram)
    assert loaded.log_score_gap == ours.log_score_gap
