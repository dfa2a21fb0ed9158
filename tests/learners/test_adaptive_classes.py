"""Choice of the model class in play: when classes are admitted, deferred and active, and what is kept."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from gyrfalcon.bandit.bandit import Bandit
from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, action_probabilities
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.policies.kernels import InverseGapWeighting
from gyrfalcon.core.records import Log
from gyrfalcon.environments.data.named import dataset
from gyrfalcon.environments.protocol import Environment
from gyrfalcon.environments.synthetic.families import LinearEnvironment, SinusoidEnvironment, XorEnvironment
from gyrfalcon.learners.adaptive.class_fit import ClassFit
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.adaptive.state import AdaptiveState, adaptive_state
from gyrfalcon.learners.baselines.uniform import Uniform
from gyrfalcon.oracles.features.bases import Polynomial
from gyrfalcon.oracles.features.smooth import Splines
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.oracles.linear.models import OptimisticModel
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.simulation.trace import Trace
from gyrfalcon.storage.files import load, save
from tests.contracts.environments import Lines, Play, renumbered

AUTO = AdaptiveFalcon()
LINEAR = AdaptiveFalcon(classes=("linear",))
FOURIER = AdaptiveFalcon(classes=("fourier",))
QUADRATIC = AdaptiveFalcon(classes=("linear", "quadratic"))
SEVERAL = AdaptiveFalcon(classes=("linear", "quadratic", "splines", "fourier"))
SINUS = SinusoidEnvironment(n_actions=2, n_features=2, noise="bernoulli")
STEPS = tuple[tuple[Epoch, Log], ...]
"""Epochs, each with the rows that it played."""


@cache
def steps(
    learner: AdaptiveFalcon, environment: Lines | LinearEnvironment, n_rounds: int, seed: int = 0
) -> STEPS:
    """A run, step by step; the last epoch has played nothing that anybody has learned from."""
    play, made = Play(learner, cast("Lines", environment), learner.start(environment.problem), seed), []
    while True:
        log = play.decide()
        made.append((play.epoch, log))
        if play.epoch.stop >= n_rounds:
            return tuple(made)
        play.learn(log)


def last_of(run: STEPS) -> tuple[Epoch, AdaptiveState]:
    epoch = run[-1][0]
    return epoch, adaptive_state(epoch)


def rows_before(run: STEPS, place: int) -> Log:
    """All rows that the epoch at this place has learned from, with rewards in the units of its fits."""
    scale, logs = adaptive_state(run[0][0]).scale, []
    for _, log in run[:place]:
        scale, converted = scale.converted(log)
        logs.append(converted)
    return Log.concat(logs, int(max(log.action.max() for log in logs)) + 1)


def in_units_of_fits(log: Log, state: AdaptiveState) -> Log:
    return replace(log, reward=(log.reward - state.scale.anchor) / state.scale.unit)


def drawn(n: int, seed: int, share: float = 0.5, n_actions: int = 2) -> Log:
    """n rows of uniform play, rewarded with 1 in a share of them whatever is done."""
    rng = np.random.default_rng(seed)
    zeros, ones = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    x, action = rng.normal(size=(n, 2)), rng.integers(0, n_actions, n)
    reward = (rng.random(n) < share).astype(np.float64)
    return Log(Contexts(x), action, reward, np.full(n, 1.0 / n_actions), zeros, np.arange(n), ones)


def learned(learner: AdaptiveFalcon, epoch: Epoch, *logs: Log) -> Epoch:
    for log in logs:
        epoch = learner.next_epoch(epoch, log)
    return epoch


def details_of(trace: Trace) -> list[tuple[str, ...]]:
    reports = [epochs[-1].report for epochs in trace.epochs]
    return [report.details for report in reports if report is not None]


# Over 4 replications of 2,500 rounds gains were 0.141 (standard error 0.003), 0.134 (0.003), 0.300 (0.014).
@pytest.mark.parametrize(
    ("environment", "margin"),
    [
        (XorEnvironment(n_actions=3, n_features=2), 0.06),
        pytest.param(SinusoidEnvironment(n_actions=2, n_features=2), 0.03, marks=pytest.mark.long),
        pytest.param("banana", 0.15, marks=pytest.mark.long),
    ],
    ids=["xor", "sinusoid", "banana"],
)
def test_where_lines_are_wrong_a_larger_class_plays_and_earns_more(
    environment: Environment | str, margin: float
) -> None:
    given = dataset(environment) if isinstance(environment, str) else environment
    ours, theirs = (simulate(one, given, 2_500, 2, seed=1, checkpoints=[2_500]) for one in (AUTO, LINEAR))
    assert ((ours.reward - theirs.reward)[:, -1] / 2_500).min() > margin
    for details in details_of(ours):
        assert "active class: linear" not in details
        assert any(line.startswith("active class: ") for line in details)


@pytest.mark.parametrize(("n_rounds", "n_runs"), [(1_000, 2), pytest.param(2_000, 4, marks=pytest.mark.long)])
def test_where_lines_are_right_nothing_much_is_lost(n_rounds: int, n_runs: int) -> None:
    environment = LinearEnvironment(n_actions=3, n_features=3, noise=0.2)
    ours, theirs = (
        simulate(one, environment, n_rounds, n_runs, seed=2, checkpoints=[n_rounds]).regret[:, -1] / n_rounds
        for one in (AUTO, LINEAR)
    )
    # Regrets of .005 a round; over 12 seeds it lost nothing in all, and .0001 at most. Over 1,000 rounds
    # regrets are 0.013, and 10 seeds lost nothing.
    assert (ours - theirs).mean() < 0.002


def admissions(learner: AdaptiveFalcon, share: float, n_actions: int = 2) -> list[int]:
    """With how many rows each class was admitted, in blocks of 10 with this share of rewards."""
    epoch = learner.start(Problem(range(n_actions), features=2))
    found = [0] * (len(learner.names) - 1)
    for block in itertools.count(1):
        epoch = learned(learner, epoch, drawn(10, block, share, n_actions=n_actions))
        for place, fit in enumerate(adaptive_state(epoch).candidates.fits):
            if fit is not None and not found[place]:
                found[place] = 10 * block
                assert fit.n == 10 * block  # all early rows are in it
        if all(found):
            return found
    raise AssertionError


def test_classes_are_admitted_with_forty_rows_and_rare_rewards_make_them_wait() -> None:
    # A row counts as 4 variances of rewards, which are 0.19 where one in twenty is rewarded.
    assert admissions(SEVERAL, 0.5) == [50, 50, 50]
    rarely, logistic = admissions(AUTO, 0.05)
    assert logistic == rarely
    assert rarely == pytest.approx(40 / 0.19, rel=0.5)
    mixed = AdaptiveFalcon(classes=("linear", "mixed"))
    assert admissions(mixed, 0.5, n_actions=50)[0] >= 3 * 50


def test_rare_rewards_do_not_keep_a_class_out_for_ever() -> None:
    rare = [drawn(1_000, block, 0.001) for block in range(5)]
    epoch = learned(AUTO, AUTO.start(Problem(["a", "b"], features=2)), *rare[:4])
    assert adaptive_state(epoch).candidates.fits == (None, None)
    state = adaptive_state(learned(AUTO, epoch, rare[4]))
    assert state.candidates.fits[0] is not None
    assert state.candidates.fits[0].n == 5_000.0
    assert state.candidates.next_map == (math.inf, math.inf)


def test_feature_maps_are_made_anew_at_doublings_up_to_a_thousand_rows() -> None:
    run = steps(AUTO, SINUS, 2_500)
    maps, made_at = None, []
    for epoch, _ in run[1:]:
        fit = adaptive_state(epoch).candidates.fits[0]
        if isinstance(fit, ClassFit) and fit.oracle.design.basis is not maps:
            maps = fit.oracle.design.basis
            made_at.append(epoch.start)
    assert 40 <= made_at[0] < 60
    assert made_at[-1] >= 1_000 > made_at[-2]
    for before, after in itertools.pairwise(made_at[:-1]):
        assert 2.0 * before <= after < 2.5 * before


def test_early_rows_are_kept_until_the_last_feature_map_and_then_dropped() -> None:
    run = steps(AUTO, SINUS, 2_500)
    places = [place for place in range(1, len(run)) if run[place][0].start < 1_000]
    for place in places[::5]:
        early = Log.concat(adaptive_state(run[place][0]).candidates.buffered_logs, 2)
        assert np.array_equal(early.reward, rows_before(run, place).reward)
        assert np.array_equal(early.contexts.shared, rows_before(run, place).contexts.shared)
    for epoch, _ in run[places[-1] + 2 :]:
        assert adaptive_state(epoch).candidates.buffered_logs == ()


def by_hand(fit: ClassFit, rows: Log) -> Floats:
    """(n, K): estimates of a fit of these rows with the penalties of the latest one, by least squares."""
    basis, penalties = fit.oracle.design.basis, fit.penalties.of_columns
    phi = np.column_stack([np.ones(len(rows)), basis.expand(rows.contexts.shared)])
    estimates = []
    for action in range(fit.oracle.design.n_actions):
        own = rows.action == action
        stacked = np.vstack([phi[own], np.diag(np.sqrt(penalties))])
        target = np.concatenate([rows.reward[own] - fit.penalties.center, np.zeros(len(penalties))])
        theta: Floats = np.linalg.lstsq(stacked, target, rcond=None)[0]
        estimates.append(fit.penalties.center + phi @ theta)
    return np.stack(estimates, axis=1)


def refitted_now(fit: ClassFit) -> ClassFit:
    """The fit of all its rows, whether it is due or not, with the penalties that it has."""
    return replace(fit, model=None, inverses=None, n_fitted=0.0).refitted()


def test_every_class_has_the_fit_of_all_rows_whether_it_was_deferred_or_not() -> None:
    run = steps(SEVERAL, SinusoidEnvironment(n_actions=2, n_features=2), 4_000)
    states = [adaptive_state(epoch) for epoch, _ in run[1:]]
    resumed = [
        (place, number)
        for place in range(1, len(states))
        for number in range(3)
        if states[place - 1].candidates.deferred[number] and not states[place].candidates.deferred[number]
    ]
    assert resumed
    for place, number in [*resumed, (len(states) - 1, 2)]:
        fit = states[place].candidates.fits[number]
        assert isinstance(fit, ClassFit)
        rows = rows_before(run, place + 1)
        assert fit.n == len(rows)
        model = refitted_now(fit).model
        assert model is not None
        np.testing.assert_allclose(model.scores(rows.contexts), by_hand(fit, rows), atol=1e-6)


def test_a_class_is_deferred_only_while_it_can_gain_nothing_and_never_while_it_is_active() -> None:
    run = steps(SEVERAL, SinusoidEnvironment(n_actions=2, n_features=2), 4_000)
    states = [adaptive_state(epoch) for epoch, _ in run[1:]]
    assert any(any(state.candidates.deferred) for state in states)
    for before, after in itertools.pairwise(states):
        for place in range(3):
            if after.candidates.deferred[place]:
                assert after.active != place + 1
                assert before.candidates.deferred[place] or after.comparison.hopeless(after.active)[place + 1]
                # No rows are compared, but none is lost.
                if before.candidates.deferred[place]:
                    n_rows = [state.comparison.n_rows[0, place + 1] for state in (before, after)]
                    assert n_rows[0] == n_rows[1]


def test_with_a_half_life_deferred_classes_still_resume() -> None:
    # The sum of weights stays below 400 / ln 2 = 577 then, however many rows there are.
    learner = replace(AUTO, classes=("linear", "quadratic", "splines"), half_life=400.0)
    run = steps(learner, SinusoidEnvironment(n_actions=2, n_features=2), 8_000)
    late = [(epoch, adaptive_state(epoch)) for epoch, _ in run if epoch.start > 4_000]
    assert any(any(state.candidates.deferred) for _, state in late)
    for place in range(2):
        assert not all(state.candidates.deferred[place] for _, state in late)
        assert all(state.candidates.next_review[place] <= epoch.start + 400.0 for epoch, state in late)


def test_fourier_features_alone_are_active_as_soon_as_they_are_admitted_and_lines_never_again() -> None:
    run = steps(FOURIER, SINUS, 1_500)
    states = [adaptive_state(epoch) for epoch, _ in run[1:]]
    active = [state.active for state in states]
    first = active.index(1)
    assert 0 < first < len(active) - 5
    assert active == [0] * first + [1] * (len(active) - first)
    for state in states:
        assert (state.active == 1) == (state.candidates.fits[0] is not None)


def test_lines_that_were_not_chosen_are_not_active_even_where_they_are_right() -> None:
    environment = LinearEnvironment(n_actions=2, n_features=2, noise=0.1)
    states = [adaptive_state(epoch) for epoch, _ in steps(FOURIER, environment, 5_000)[1:]]
    admitted = [state for state in states if state.candidates.fits[0] is not None]
    assert max(state.comparison.z[1, 0] for state in admitted) > 1.0  # lines would become active
    assert all(state.active == 1 for state in admitted)


def test_scores_are_estimates_of_the_active_class_with_bonus_and_widths_of_the_linear_one() -> None:
    run = steps(FOURIER, SINUS, 1_500)
    epoch, state = last_of(run)
    rows = rows_before(run, len(run) - 1)
    fit, linear = state.candidates.fits[0], state.linear
    assert fit is not None
    assert fit.model is not None
    assert linear is not None
    assert isinstance(epoch.policy, KernelPolicy)
    scorer = epoch.policy.scorer
    assert isinstance(scorer, OptimisticModel)
    clipped = fit.model.scores(rows.contexts).clip(state.scale.low, state.scale.high)
    assert np.array_equal(scorer.means(rows.contexts), clipped)
    assert np.array_equal(scorer.widths(rows.contexts), linear.model.widths(rows.contexts))
    assert scorer.bonus == pytest.approx(2.0 * math.sqrt(fit.penalties.noise))
    # Coins have variances of 0.25 at most, in units of fits: the noise is what the class leaves of them.
    assert 0.1 < fit.penalties.noise * state.scale.unit**2 < 0.26
    assert isinstance(epoch.policy.kernel, InverseGapWeighting)
    assert epoch.policy.kernel.gamma * state.scale.spread == pytest.approx(10_000.0 * math.sqrt(len(rows)))
    assert epoch.passive_share == pytest.approx(0.03 * (epoch.start + 1) ** (-1 / 3))


def test_the_bonus_falls_with_the_root_of_the_number_of_many_actions() -> None:
    for n_actions, factor in ((25, 1.0), (100, 0.5)):
        epoch, state = last_of(steps(LINEAR, Lines(n_actions=n_actions), 300))
        assert isinstance(epoch.policy, KernelPolicy)
        assert isinstance(epoch.policy.scorer, OptimisticModel)
        assert epoch.policy.scorer.bonus == pytest.approx(2.0 * factor * math.sqrt(state.noise))


def test_without_any_features_there_are_no_classes_to_choose_from() -> None:
    ours, theirs = (steps(one, Lines(n_features=0), 600) for one in (AUTO, LINEAR))
    epoch, state = last_of(ours)
    assert state.candidates.fits == ()
    assert state.candidates.buffered_logs == ()
    assert epoch.report is not None
    assert epoch.report.details[0].startswith("linear only")
    for (_, log), (_, other) in zip(ours, theirs, strict=True):
        assert np.array_equal(log.action, other.action)


def test_features_of_actions_alone_are_enough_for_a_choice() -> None:
    _, state = last_of(steps(AUTO, Lines(n_features=0, n_action_features=2), 300))
    fit = state.candidates.fits[0]
    assert isinstance(fit, ClassFit)
    assert fit.oracle.design.joint_basis is not None
    assert fit.oracle.design.joint_basis.n_inputs == 2


def test_a_class_that_is_too_large_for_this_number_of_actions_is_excluded() -> None:
    rng = np.random.default_rng(0)
    problem = Problem(range(4096), features=20)  # room for 32 columns
    contexts = problem.contexts(rng.normal(size=(4_200, 20)))
    actions = rng.integers(0, 4096, 4_200).tolist()
    log = problem.log(contexts, actions, rng.random(4_200), propensities="uniform")
    state = adaptive_state(learned(SEVERAL, SEVERAL.start(problem), log))
    assert state.candidates.fits == (None, None, None)
    assert state.candidates.next_map == (math.inf,) * 3
    assert state.candidates.excluded == [True, True, True]
    assert state.candidates.buffered_logs == ()


def scores_of(epoch: Epoch, contexts: Contexts) -> Floats:
    assert isinstance(epoch.policy, KernelPolicy)
    return np.asarray(epoch.policy.scorer.scores(contexts))


def known_scores(epoch: Epoch, contexts: Contexts, action: int) -> Floats:
    return scores_of(epoch, contexts)[:, action]


@pytest.mark.parametrize("learner", [FOURIER, QUADRATIC, AUTO], ids=["fourier", "quadratic", "auto"])
def test_remaining_actions_keep_their_scores_when_others_come_and_go(learner: AdaptiveFalcon) -> None:
    environment = SinusoidEnvironment(n_actions=3, n_features=2, noise="bernoulli")
    epoch, state = last_of(steps(learner, environment, 1_500))
    assert state.active > 0
    kept = environment.problem.actions
    problem = Problem([kept[2], "new", kept[0]], features=2)
    adapted = learner.adapt(epoch, problem)
    contexts = environment.draw(0, 200, seed=4).contexts
    assert np.array_equal(known_scores(adapted, contexts, 0), known_scores(epoch, contexts, 2))
    assert np.array_equal(known_scores(adapted, contexts, 2), known_scores(epoch, contexts, 0))
    assert (
        known_scores(adapted, contexts, 1) > scores_of(adapted, contexts)[:, [0, 2]].max(axis=1)
    ).mean() > 0.9
    assert (adapted.index, adapted.start, adapted.stop) == (epoch.index, epoch.start, epoch.stop)
    assert adapted.passive_policy.probabilities(contexts).shape == (200, 3)
    assert adaptive_state(adapted).active == state.active


def test_rows_of_retired_actions_are_forgotten_and_the_others_go_on() -> None:
    environment = SinusoidEnvironment(n_actions=3, n_features=2, noise="bernoulli")
    run = steps(QUADRATIC, environment, 600)
    epoch, _ = last_of(run)
    kept = environment.problem.actions
    problem = Problem([kept[2], "new", kept[0]], features=2)
    adapted = QUADRATIC.adapt(epoch, problem)
    rows = renumbered(rows_before(run, len(run) - 1), environment.problem, problem)
    fit = adaptive_state(adapted).candidates.fits[0]
    assert isinstance(fit, ClassFit)
    assert fit.n == len(rows)
    model = refitted_now(fit).model
    assert model is not None
    known = [0, 2]
    np.testing.assert_allclose(model.scores(rows.contexts)[:, known], by_hand(fit, rows)[:, known], atol=1e-7)
    log = run[-1][1]
    state = adaptive_state(learned(QUADRATIC, adapted, log))
    after = state.candidates.fits[0]
    assert isinstance(after, ClassFit)
    more = Log.concat([rows, replace(in_units_of_fits(log, state), contexts=all_eligible(log))], 3)
    assert after.n == len(more)
    model = refitted_now(after).model
    assert model is not None
    np.testing.assert_allclose(model.scores(more.contexts), by_hand(after, more), atol=1e-7)


def all_eligible(log: Log) -> Contexts:
    return Contexts(log.contexts.shared, eligible=np.ones((len(log), 3), dtype=np.bool_))


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("labels", [("action 2", "new", "action 0", "newer"), ("action 1", "new")])
def test_actions_may_come_and_go_while_a_class_waits_for_rows(masked: bool, labels: tuple[str, ...]) -> None:
    environment = Lines(masked=masked, noise=0.3)
    run = steps(FOURIER, environment, 40)
    epoch, state = last_of(run)
    assert state.candidates.fits == (None,)
    problem = Problem(labels, features=2, out_of_range="accept")
    adapted = FOURIER.adapt(epoch, problem)
    rows = renumbered(rows_before(run, len(run) - 1), environment.problem, problem)
    early = Log.concat(adaptive_state(adapted).candidates.buffered_logs, len(labels))
    assert np.array_equal(early.action, rows.action)
    assert np.array_equal(early.reward, rows.reward)
    rng = np.random.default_rng(0)
    many = problem.contexts(
        rng.normal(size=(4_100, 2)),
        eligible=np.ones((4_100, len(labels)), dtype=np.bool_) if masked else None,
    )
    log = problem.log(many, rng.choice(labels, 4_100).tolist(), rng.random(4_100), propensities="uniform")
    fit = adaptive_state(learned(FOURIER, adapted, log)).candidates.fits[0]
    assert isinstance(fit, ClassFit)
    counts = np.bincount(np.concatenate([rows.action, log.action]), minlength=len(labels))
    assert fit.summed().rows.weight.tolist() == counts.tolist()


def test_a_deferred_class_adapts_as_well() -> None:
    run = steps(SEVERAL, SinusoidEnvironment(n_actions=2, n_features=2), 4_000)
    epoch, state = next(
        (epoch, adaptive_state(epoch))
        for epoch, _ in run[1:]
        if any(adaptive_state(epoch).candidates.deferred)
    )
    (first, second), place = (1, 2), state.candidates.deferred.index(True)
    problem = Problem([second, "new", first], features=2, out_of_range="accept")
    adapted = adaptive_state(SEVERAL.adapt(epoch, problem)).candidates
    assert adapted.deferred == state.candidates.deferred
    moved, before = adapted.fits[place], state.candidates.fits[place]
    assert isinstance(moved, ClassFit)
    assert isinstance(before, ClassFit)
    ours, theirs = (refitted_now(fit).model for fit in (moved, before))
    assert ours is not None
    assert theirs is not None
    contexts = run[-1][1].contexts
    np.testing.assert_allclose(
        ours.scores(contexts)[:, [0, 2]], theirs.scores(contexts)[:, [1, 0]], atol=1e-9
    )
    assert ours.known is not None
    assert ours.known.tolist() == [True, False, True]


@pytest.mark.parametrize("place", [3, -30, -1], ids=["buffered", "compared", "active"])
def test_a_file_in_mid_run_changes_no_decision(place: int, tmp_path: Path) -> None:
    run = steps(AUTO, SinusoidEnvironment(n_actions=2, n_features=2), 4_000)
    save(tmp_path / "run", (AUTO, run[place][0]))
    learner, epoch = load(tmp_path / "run")
    assert learner == AUTO
    ours = run[place][0]
    for _, log in run[place:][:4] if place != -1 else [run[-1]] * 3:
        rounds = np.arange(epoch.start, epoch.start + len(log))
        one, other = (action_probabilities(each, rounds, log.contexts) for each in (ours, epoch))
        assert one.tobytes() == other.tobytes()
        ours, epoch = learned(AUTO, ours, log), learned(learner, epoch, log)
    assert ours.report == epoch.report


def test_a_bandit_that_was_saved_goes_on_as_it_would_have(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.0, 1.0, size=(900, 2))
    bandit = Bandit(learner=QUADRATIC, actions=["left", "right"], features=2, seed=3)

    def reward_of(action: object, row: Floats) -> float:
        return float((action == "left") == (row[0] * row[1] > 0.0))

    def played(one: Bandit, rows: Floats) -> list[object]:
        actions = []
        for row in rows:
            decision = one.decide(row, event_id=repr(row.tolist()))  # a loaded bandit would make another id
            one.reward(decision.event_id, reward_of(decision.action, row))
            actions.append(decision.action)
        return actions

    played(bandit, x[:400])
    bandit.save(tmp_path / "bandit")
    again = Bandit.load(tmp_path / "bandit")
    assert played(again, x[400:]) == played(bandit, x[400:])


def test_a_log_warms_all_classes_up() -> None:
    environment = SINUS
    run = steps(LINEAR, environment, 1_500)
    rows = Log.concat([log for _, log in run[:-1]], 2)
    warm = FOURIER.start(environment.problem, rows)
    cold = FOURIER.start(environment.problem)
    state = adaptive_state(warm)
    assert (warm.index, warm.start, warm.stop) == (cold.index, cold.start, cold.stop)
    assert state.active == 1
    assert state.candidates.buffered_logs == ()
    fit = state.candidates.fits[0]
    assert isinstance(fit, ClassFit)
    model, log = refitted_now(fit).model, in_units_of_fits(rows, state)
    assert model is not None
    np.testing.assert_allclose(model.scores(rows.contexts), by_hand(fit, log), atol=1e-6)
    # Nothing has been compared yet: of several classes the linear one goes on.
    assert adaptive_state(AUTO.start(environment.problem, rows)).active == 0


def test_classes_are_compared_on_rows_that_came_after_their_fits() -> None:
    run = steps(QUADRATIC, SINUS, 600)
    states = [adaptive_state(epoch) for epoch, _ in run[1:]]
    first = next(place for place, state in enumerate(states) if state.candidates.fits[0] is not None)
    assert not states[first].comparison.weights.any()  # fitted to these rows, so not compared on them
    sizes = np.array([len(log) for _, log in run[:-1]])
    weights = (np.cumsum(sizes) * sizes)[first + 1 :]  # each row by the number of rows up to its block
    compared = [not state.candidates.deferred[0] for state in states[first:-1]]
    expected = np.cumsum(weights * compared)
    assert [state.comparison.weights[0, 1] for state in states[first + 1 :]] == expected.tolist()


def test_own_classes_take_part_with_their_own_ridge() -> None:
    own = Linear(basis=Splines(3, 2), ridge=7.0)
    learner = replace(AUTO, classes=("linear", own, "quadratic"))
    state = last_of(steps(learner, SINUS, 300))[1]
    fits = [fit for fit in state.candidates.fits if fit is not None]
    assert [fit.penalties.least for fit in fits] == [7.0, 1.0]
    assert all((fit.penalties.values >= fit.penalties.least).all() for fit in fits)
    assert learner.names == ("linear", "Splines(n_knots=3, degree=2), ridge 7", "quadratic")


def test_the_report_names_every_class() -> None:
    run = steps(SEVERAL, SINUS, 1_000)
    early, late = run[2][0].report, run[-1][0].report
    assert early is not None
    assert late is not None
    assert any(line == "fourier: too few rows" for line in early.details)
    names = [line.removeprefix("active class: ").split(":")[0] for line in late.details[:4]]
    assert names == ["linear", "quadratic", "splines", "fourier"]
    assert sum(line.startswith("active class: ") for line in late.details) == 1


def test_one_class_that_is_linear_needs_no_choice() -> None:
    assert LINEAR.names == ("linear",)
    assert replace(AUTO, classes="auto") == AUTO
    assert hash(replace(AUTO, classes="auto")) == hash(AUTO)
    own = replace(AUTO, model_class=Linear(basis=Polynomial(2)))
    assert own.names == ("linear",)


def test_a_list_of_classes_is_as_good_as_a_tuple(tmp_path: Path) -> None:
    listed = AdaptiveFalcon(classes=["linear", "quadratic"])
    assert listed == QUADRATIC
    assert hash(listed) == hash(QUADRATIC)
    save(tmp_path / "learner", listed)
    assert load(tmp_path / "learner") == QUADRATIC


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ("fourrier", "classes names 'fourrier', which is no model class: did you mean 'fourier'"),
        (("linear", "trees of steel"), "classes names 'trees of steel', which is no model class"),
        ((), r"classes is \(\); give 'auto', or a list such as"),
        (("fourier", "fourier"), "classes holds 'fourier' twice"),
        (("auto", "linear"), "classes holds 'linear' twice"),
        ((3,), "classes holds 3; give names such as 'splines'"),
        (7, "classes is 7; give 'auto'"),
        ((Linear(layout="shared"),), "coefficients per action and an intercept only"),
        ((Linear(intercept=False),), "coefficients per action and an intercept only"),
    ],
)
def test_classes_that_cannot_be_tried_are_refused(classes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AdaptiveFalcon(classes=classes)


def test_epochs_of_other_learners_are_refused() -> None:
    with pytest.raises(TypeError, match="carries Fitted; give AdaptiveFalcon its own epochs"):
        adaptive_state(Uniform().start(Problem(["a", "b"], features=1)))


def test_no_rows_change_nothing() -> None:
    epoch, state = last_of(steps(QUADRATIC, SINUS, 600))
    after = learned(QUADRATIC, epoch, run_of_nothing())
    assert adaptive_state(after) is state
    assert after.policy is epoch.policy


def run_of_nothing() -> Log:
    return drawn(1, 0).take(slice(0, 0))
