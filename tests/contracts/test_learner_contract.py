"""What every learner owes: one suite over the four throw-away learners and all of the library's own."""

from __future__ import annotations

import copy
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, Mixture, action_probabilities, decide
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.elimination import EliminationPolicy
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy
from gyrfalcon.core.policies.limited import unlimited
from gyrfalcon.core.policies.thompson import SampledPolicy, ThompsonPolicy
from gyrfalcon.core.policies.untried import without_trying
from gyrfalcon.core.records import Decisions, Log
from gyrfalcon.learners.baselines.uniform import Uniform
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.storage.files import load, save
from tests.contracts.environments import Lines, Play, started, uniform_log
from tests.contracts.learners import (
    CHOOSY,
    CONTROLLED,
    DETERMINISTIC,
    HYBRID_WIDTHS,
    LEARNERS,
    LEARNING,
    PLAIN,
    REPRESENTATIVES,
    THROWAWAY,
    WITH_ACTION_FEATURES,
    cases,
)
from tests.contracts.throwaway import Advice, gate_state

# With a handful of rows the lasso's solver gives up, and says so; fit reports do as well.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
every_learner = pytest.mark.parametrize("name", cases(LEARNERS))
every_learning_one = pytest.mark.parametrize("name", cases(LEARNING))

N = 600
TRIED_WITHIN = 300


def environment_for(name: str, base: Lines = Lines()) -> Lines:
    return replace(base, n_action_features=2) if name in WITH_ACTION_FEATURES else base


def length(name: str) -> int:
    """Rounds of a run, fewer where every round is an epoch."""
    return 150 if name in ("exponential weights", "squarecb online") else N


@cache
def played(name: str, base: Lines = Lines()) -> Play:
    """A finished run; nobody changes it."""
    return started(LEARNERS[name], environment_for(name, base)).until(length(name))


@cache
def played_late(name: str) -> Play:
    return started(LEARNERS[name], environment_for(name, Lines(masked=True))).late_until(length(name))


def rows_at(epoch: Epoch, environment: Lines, n: int = 100) -> tuple[Decisions, Floats, Contexts]:
    """Decisions of rows around the epoch's end, where its passive tail is, and all probabilities."""
    rounds = np.arange(epoch.stop - n // 2, epoch.stop + n // 2)
    contexts = environment.draw(5000, 5000 + n, seed=1).contexts
    uniforms = np.random.default_rng(5).random((n, 3))
    return decide(epoch, rounds, contexts, uniforms), action_probabilities(epoch, rounds, contexts), contexts


def assert_valid(epoch: Epoch, environment: Lines) -> None:
    decisions, probabilities, contexts = rows_at(epoch, environment)
    chosen = probabilities[np.arange(len(decisions)), decisions.action]
    assert np.array_equal(decisions.propensity, chosen)
    assert (decisions.propensity > 0.0).all()
    assert (decisions.propensity <= 1.0).all()
    assert (probabilities >= 0.0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=0, atol=1e-14)
    if contexts.eligible is not None:
        assert (probabilities[~contexts.eligible] == 0.0).all()
        alone = contexts.eligible.sum(axis=1) == 1
        assert alone.any()
        assert (decisions.propensity[alone] == 1.0).all()


def same_decisions(one: Epoch, other: Epoch, environment: Lines) -> bool:
    left, right = rows_at(one, environment), rows_at(other, environment)
    columns = [field.name for field in fields(Decisions) if field.name != "epoch"]
    equal = [np.array_equal(getattr(left[0], name), getattr(right[0], name)) for name in columns]
    return all(equal) and np.array_equal(left[1], right[1])


def identical(one: object, other: object) -> bool:
    """Equal to the last bit, through dataclasses, arrays and tuples; of what is opaque, the type."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(identical, one, other))
    if is_dataclass(one) and type(one) is type(other):
        return all(identical(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    return type(one) is type(other) and (type(one).__eq__ is object.__eq__ or one == other)


def score_tables(policy: Policy, contexts: Contexts) -> list[Floats]:
    """The scores behind a policy, (n, K) each."""
    policy = without_trying(unlimited(policy))
    if isinstance(policy, KernelPolicy):
        return [policy.scorer.scores(contexts)]
    if isinstance(policy, Mixture):
        return [table for base in policy.bases for table in score_tables(base.policy, contexts)]
    if isinstance(policy, EliminationPolicy):
        return list(policy.scorer.bounds(contexts))
    if isinstance(policy, ThompsonPolicy):
        return [policy.scorer.means(contexts), policy.scale * policy.scorer.widths(contexts)]
    if isinstance(policy, SampledPolicy):
        return list(policy.scorers.draws(contexts))
    if isinstance(policy, Advice):
        return [np.broadcast_to(policy.gains[:-1], (len(contexts), len(policy.gains) - 1))]
    return []


def kinds(name: str) -> set[object]:
    """What a learner is an example of: an algorithm, a class of models, its layout, a policy, a kernel."""
    learner: Any = LEARNERS[name]
    epoch = learner.start(environment_for(name).problem, uniform_log(environment_for(name), 300))
    parts = (
        learner,
        model_class := getattr(learner, "model_class", None),
        getattr(model_class, "basis", None),
        epoch.policy,
        getattr(epoch.policy, "kernel", None),
        getattr(epoch.policy, "scorer", None),
        epoch.state,
    )
    return {getattr(model_class, "layout", None), epoch.passive_design, *map(type, parts)}


def test_the_representatives_of_every_run_are_of_all_kinds() -> None:
    represented = set().union(*map(kinds, REPRESENTATIVES))
    assert set().union(*map(kinds, LEARNERS)) == represented


ENVIRONMENTS = {
    "2 actions": Lines(n_actions=2),
    "10 actions": Lines(n_actions=10),
    "masks": Lines(masked=True),
    "2 actions and masks": Lines(n_actions=2, masked=True),
    "no features": Lines(n_features=0),
    "constant rewards": Lines(constant=True),
    "rewards without noise": Lines(noise=0.0),
    "a timestamp": Lines(n_features=1, origin=1.7e9, scale=86400.0),
}


@pytest.mark.parametrize(("name", "environment"), cases(LEARNERS, ENVIRONMENTS))
def test_propensities_are_valid_and_masks_respected(name: str, environment: str) -> None:
    play = played(name, ENVIRONMENTS[environment])
    assert_valid(play.epoch, play.environment)
    for decisions in play.decisions:
        assert (decisions.propensity > 0.0).all()
        assert (decisions.propensity <= 1.0).all()


@pytest.mark.invariance
@every_learner
def test_a_row_alone_gets_the_bits_that_it_gets_in_a_batch(name: str) -> None:
    play = played(name, Lines(masked=True))
    contexts = play.environment.draw(0, 40, seed=2).contexts
    rounds, uniforms = (
        np.arange(play.epoch.start, play.epoch.start + 40),
        np.random.default_rng(1).random((40, 3)),
    )
    batch = decide(play.epoch, rounds, contexts, uniforms)
    for row in range(40):
        one = slice(row, row + 1)
        alone = decide(play.epoch, rounds[one], contexts.take(one), uniforms[one])
        assert alone.action[0] == batch.action[row]
        assert alone.propensity[0] == batch.propensity[row]
        assert alone.component[0] == batch.component[row]


@every_learner
def test_rewards_may_come_epochs_late_and_out_of_order(name: str) -> None:
    play = played_late(name)
    assert_valid(play.epoch, play.environment)
    assert play.waiting


@every_learning_one
def test_late_rewards_are_learned_from(name: str) -> None:
    environment, learner = environment_for(name), LEARNERS[name]
    play = started(learner, environment)
    logs = []
    for _ in range(3):
        logs.append(play.decide())
        play.learn(logs[-1].where(np.zeros(len(logs[-1]), dtype=np.bool_)))
    play.learn(Log.concat(logs, environment.n_actions))
    assert not same_decisions(
        play.epoch, replace(learner.start(environment.problem), stop=play.epoch.stop), environment
    )


@every_learner
def test_an_empty_log_gives_a_valid_next_epoch(name: str) -> None:
    for play in (started(LEARNERS[name], environment_for(name)), played(name)):
        nothing = uniform_log(play.environment, 10).where(np.zeros(10, dtype=np.bool_))
        following = play.learner.next_epoch(play.epoch, nothing)
        assert following.index == play.epoch.index + 1
        assert following.start == play.epoch.stop < following.stop
        assert_valid(following, play.environment)
        assert np.array_equal(
            following.policy.probabilities(uniform_log(play.environment, 50).contexts),
            play.epoch.policy.probabilities(uniform_log(play.environment, 50).contexts),
        )


@every_learner
@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_handful_of_rows_is_enough_to_go_on(name: str, n: int) -> None:
    play = started(LEARNERS[name], environment_for(name))
    play.learn(uniform_log(play.environment, n))
    assert_valid(play.epoch, play.environment)
    play.learn(uniform_log(play.environment, 50, seed=3))
    assert_valid(play.epoch, play.environment)


@every_learner
@pytest.mark.parametrize("passive", [True, False])
def test_rows_may_be_all_passive_or_all_active(name: str, passive: bool) -> None:
    play = started(LEARNERS[name], environment_for(name))
    log = uniform_log(play.environment, 200)
    play.learn(replace(log, component=np.full(200, int(passive))))
    assert_valid(play.epoch, play.environment)


@every_learner
def test_an_action_without_data_is_tried_soon_after_it_may_be_chosen(name: str) -> None:
    base = Lines(last_action_from=N // 2)
    play = started(LEARNERS[name], environment_for(name, base)).until(N // 2 + TRIED_WITHIN)
    rounds = np.concatenate([decisions.round for decisions in play.decisions])
    actions = np.concatenate([decisions.action for decisions in play.decisions])
    tried = rounds[actions == play.environment.n_actions - 1]
    assert N // 2 <= tried.min() < N // 2 + TRIED_WITHIN


@pytest.mark.parametrize("name", cases(name for name in LEARNERS if name not in DETERMINISTIC | CHOOSY))
def test_learners_that_randomise_keep_every_action_possible(name: str) -> None:
    environment = environment_for(name, Lines(last_action_from=10_000))
    play = started(LEARNERS[name], environment).until(N)
    open_environment = environment_for(name)
    contexts = open_environment.draw(0, 200, seed=3).contexts
    assert (play.epoch.policy.probabilities(contexts) > 0.0).all()


@every_learner
def test_the_next_epoch_is_a_pure_function(name: str) -> None:
    play = played(name)
    log = uniform_log(play.environment, 200)
    before = copy.deepcopy((play.epoch, log))
    once = play.learner.next_epoch(play.epoch, log)
    twice = play.learner.next_epoch(play.epoch, log)
    assert identical((play.epoch, log), before)
    assert identical(once, twice)
    assert same_decisions(once, twice, play.environment)


@every_learner
def test_a_simulation_can_be_repeated(name: str) -> None:
    environment = environment_for(name)
    once, twice = (simulate(LEARNERS[name], environment, 400, seed=4, keep_policies=True) for _ in range(2))
    assert np.array_equal(once.regret, twice.regret)
    assert identical(once.epochs, twice.epochs)
    assert not np.array_equal(once.regret, simulate(LEARNERS[name], environment, 400, seed=5).regret)


@pytest.mark.parametrize("name", cases(name for name in LEARNERS if name not in THROWAWAY))
def test_a_file_in_mid_run_changes_nothing(name: str, tmp_path: Path) -> None:
    play = played(name, Lines(masked=True))
    save(tmp_path / "run", (play.learner, play.epoch))
    learner, epoch = load(tmp_path / "run")
    assert learner == play.learner
    assert same_decisions(epoch, play.epoch, play.environment)
    log = uniform_log(play.environment, 100, seed=3)
    ours, theirs = (one.next_epoch(two, log) for one, two in ((play.learner, play.epoch), (learner, epoch)))
    assert same_decisions(ours, theirs, play.environment)
    assert identical(ours.report, theirs.report)


def changed(problem: Problem) -> Problem:
    """Action 1 retired, a new action added, the others in another order."""
    return Problem(
        ["action 2", "new", "action 0"], problem.features, problem.action_features, out_of_range="accept"
    )


@pytest.mark.invariance
@every_learner
def test_remaining_actions_keep_their_scores_when_others_come_and_go(name: str) -> None:
    play = played(name)
    adapted = play.learner.adapt(play.epoch, changed(play.environment.problem))
    assert_valid(adapted, play.environment)
    contexts = play.environment.draw(0, 100, seed=3).contexts
    cube = contexts.actions
    moved = Contexts(contexts.shared, None if cube is None else np.ascontiguousarray(cube[:, [2, 1, 0]]))
    before, after = score_tables(play.epoch.policy, contexts), score_tables(adapted.policy, moved)
    assert len(before) == len(after)
    assert bool(before) == (name != "uniform")
    tolerance = 1e-14 if name in HYBRID_WIDTHS else 0.0
    for old, new in zip(before, after, strict=True):
        np.testing.assert_allclose(new[:, [0, 2]], old[:, [2, 0]], rtol=0, atol=tolerance)


@every_learner
def test_an_action_that_is_added_gets_tried_and_learning_goes_on(name: str) -> None:
    play = played(name)
    problem = changed(play.environment.problem)
    adapted = play.learner.adapt(play.epoch, problem)
    on = Play(play.learner, play.environment, adapted).until(adapted.start + 2 * TRIED_WITHIN)
    rounds = np.concatenate([decisions.round for decisions in on.decisions])
    actions = np.concatenate([decisions.action for decisions in on.decisions])
    assert rounds[actions == 1].min() < adapted.start + TRIED_WITHIN
    assert_valid(on.epoch, on.environment)


@pytest.mark.parametrize("name", cases(name for name in LEARNERS if name not in CONTROLLED))
@pytest.mark.parametrize("labels", [("x", "y"), ("action 0", "action 1", "action 2", "new")])
def test_all_actions_may_be_replaced_and_epoch_1_adapted(name: str, labels: tuple[str, ...]) -> None:
    for play in (played(name), started(LEARNERS[name], environment_for(name))):
        features = play.environment.problem.features, play.environment.problem.action_features
        problem = Problem(labels, *features, out_of_range="accept")
        environment = replace(play.environment, n_actions=len(labels))
        adapted = play.learner.adapt(play.epoch, problem)
        assert_valid(adapted, environment)
        on = Play(play.learner, environment, adapted)
        on.learn(uniform_log(environment, 100))
        assert_valid(on.epoch, environment)


@every_learning_one
def test_a_log_warms_up_the_first_epoch(name: str) -> None:
    environment, learner = environment_for(name), LEARNERS[name]
    cold, warm = (
        learner.start(environment.problem),
        learner.start(environment.problem, uniform_log(environment, 300)),
    )
    assert (warm.index, warm.start, warm.stop) == (cold.index, cold.start, cold.stop)
    assert_valid(warm, environment)
    contexts = environment.draw(0, 100, seed=3).contexts
    assert not np.array_equal(warm.policy.probabilities(contexts), cold.policy.probabilities(contexts))
    empty = uniform_log(environment, 1).where(np.zeros(1, dtype=np.bool_))
    assert same_decisions(learner.start(environment.problem, empty), cold, environment)


# With the paper's constants a run of this length is uniform play, on purpose.
@pytest.mark.parametrize("name", cases(name for name in LEARNING if "paper" not in name))
def test_a_learner_earns_more_than_uniform_play(name: str) -> None:
    environment = environment_for(name, Lines(noise=0.05))
    regret = simulate(LEARNERS[name], environment, 1600, checkpoints=[800]).late_regret(0.5)
    assert regret < 0.7 * simulate(Uniform(), environment, 1600).late_regret(1.0)


@pytest.mark.parametrize("name", cases(PLAIN))
def test_a_raw_timestamp_serves_as_well_as_a_centred_one(name: str) -> None:
    centred = Lines(n_features=1, scale=86400.0)
    raw = replace(centred, origin=1.7e9)
    tables = []
    for environment in (centred, raw):
        play = started(LEARNERS[name], environment)
        # Rounding a timestamp moves it by 1e-7 seconds: both environments get the rounded ones.
        log = uniform_log(raw, 800)
        shared = log.contexts.shared - (raw.origin - environment.origin)
        play.learn(replace(log, contexts=Contexts(shared)))
        tables.append(play.epoch.policy.probabilities(Contexts(shared[:100])))
    np.testing.assert_allclose(tables[1], tables[0], rtol=0, atol=1e-8)


@every_learner
def test_constant_rewards_leave_no_action_behind(name: str) -> None:
    play = played(name, Lines(constant=True))
    contexts = play.environment.draw(0, 50, seed=3).contexts
    for table in score_tables(play.epoch.policy, contexts):
        assert np.isfinite(table).all()
    report = play.epoch.report
    assert report is None or report.excess <= report.slack * (1.0 + 1e-9) + 1e-15


@every_learner
def test_settings_are_frozen_values(name: str) -> None:
    learner: Any = LEARNERS[name]
    again = replace(learner)
    assert again == learner
    assert hash(again) == hash(learner)
    assert repr(again) == repr(learner)
    with pytest.raises(FrozenInstanceError):
        setattr(learner, fields(learner)[0].name, None)


def test_the_gate_lets_the_model_play_that_earned_most_on_rows_it_had_not_seen() -> None:
    play = played("gate")
    state = gate_state(play.epoch)
    assert play.epoch.policy is state.epochs[int(np.argmax(state.earned))].policy
    assert len(set(state.earned.tolist())) == 3


def test_each_base_of_a_master_counts_its_own_rounds() -> None:
    play = played("master")
    assert isinstance(play.epoch.policy, Mixture)
    components = np.concatenate([decisions.component for decisions in play.decisions])
    for j, base in enumerate(play.epoch.policy.bases):
        own = int(np.sum(components // 2 == j))
        assert base.index > 1
        assert base.start <= own < base.stop + play.epoch.n_rounds


@every_learner
def test_rows_of_unknown_propensity_are_fitted_and_never_weighted(name: str) -> None:
    """Nothing that divides by a propensity may take such a row: one nan would be in every number after it."""
    environment, learner = environment_for(name), LEARNERS[name]
    known = uniform_log(environment, 200)
    nobody = np.zeros(200, dtype=np.int64)
    unknown = replace(known, propensity=np.full(200, np.nan), component=nobody)
    epoch = learner.start(environment.problem, unknown)
    for log in (unknown, Log.concat([unknown, known], environment.n_actions), known):
        epoch = learner.next_epoch(epoch, log)
        probabilities = action_probabilities(epoch, np.full(200, epoch.start), known.contexts)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-9)
        if epoch.report is not None:
            assert not any("nan" in str(detail) for detail in epoch.report.details)
