"""Trees among the classes: when they are grown, what they earn, and that nothing gets lost on the way."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gyrfalcon.bandit.bandit import Bandit
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.environments.data.named import dataset
from gyrfalcon.learners.adaptive.class_fit import ClassFit
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.adaptive.state import adaptive_state
from gyrfalcon.oracles.regressors.forest_features import ForestMap, grown
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.storage.files import load, save

TREES = AdaptiveFalcon(classes=("linear", "trees"))
PROBLEM = Problem(["a", "b"], features=2)


def checks(n: int, seed: int) -> Log:
    """Uniform play on a chessboard, which lines and parabolas know nothing of."""
    rng = np.random.default_rng([seed, 7])
    x, action = rng.uniform(0.0, 4.0, size=(n, 2)), rng.integers(0, 2, n)
    reward = (np.floor(x).sum(axis=1) % 2 == action).astype(np.float64)
    return PROBLEM.log(
        PROBLEM.contexts(x), np.array(["a", "b"])[action].tolist(), reward, propensities="uniform"
    )


@cache
def epochs(n_blocks: int = 19, size: int = 100) -> tuple[Epoch, ...]:
    made = [TREES.start(PROBLEM)]
    for seed in range(n_blocks):
        made.append(TREES.next_epoch(made[-1], checks(size, seed)))
    return tuple(made)


def fit_of(epoch: Epoch) -> ClassFit | None:
    fit = adaptive_state(epoch).candidates.fits[0]
    assert fit is None or isinstance(fit, ClassFit)
    return fit


def trees_of(epoch: Epoch) -> ForestMap | None:
    fit = fit_of(epoch)
    if fit is None:
        return None
    assert isinstance(fit.oracle.design.basis, ForestMap)
    return fit.oracle.design.basis


def test_trees_are_grown_at_300_rows_and_at_every_doubling() -> None:
    maps = [trees_of(epoch) for epoch in epochs()]
    grown_at = [place for place in range(1, len(maps)) if maps[place] is not maps[place - 1]]
    # A row is at first worth a little less than 1, as rewards are not just as often 1 as 0.
    assert [100 * place for place in grown_at] == [400, 800, 1600]


def test_all_rows_are_in_the_fit_and_are_kept_for_the_next_trees() -> None:
    for place, epoch in enumerate(epochs()):
        fit, kept = fit_of(epoch), adaptive_state(epoch).candidates.buffered_logs
        assert sum(len(log) for log in kept) == 100 * place
        assert fit is None or fit.n == 100.0 * place


def test_the_chessboard_is_played_by_trees() -> None:
    last = epochs()[-1]
    assert adaptive_state(last).active == 1
    assert last.report is not None
    assert "active class: trees" in last.report.details
    x = np.random.default_rng(0).uniform(0.0, 4.0, size=(500, 2))
    chosen = last.policy.probabilities(Contexts(x)).argmax(axis=1)
    # Trees of 1,200 rows were right in 93 to 96 of 100.
    assert float((chosen == np.floor(x).sum(axis=1) % 2).mean()) > 0.85


@pytest.mark.long
def test_they_earn_what_other_classes_do_not() -> None:
    environment = dataset("contraceptive")
    ours, theirs = (
        simulate(
            AdaptiveFalcon(classes=classes),
            environment,
            4_000,
            1,
            checkpoints=[2_000, 4_000],
        )
        for classes in ("auto_trees", "auto")
    )
    gain = np.diff((ours.reward - theirs.reward)[0])[0] / 2_000
    # Rows come back, and trees know them: .10 to .14 over 4 seeds.
    assert gain > 0.05


def test_trees_that_gain_nothing_are_dropped_and_the_next_are_not_grown() -> None:
    state, choices = adaptive_state(epochs()[7]), ("trees",)
    others = state.candidates
    assert others.fits[0] is not None
    kept = others.reviewed(choices, active=-1, hopeless=np.array([False]), n_seen=700)
    assert kept == others
    dropped = others.reviewed(choices, active=-1, hopeless=np.array([True]), n_seen=700)
    assert dropped.fits == (None,)
    assert dropped.next_map == (2.0 * others.next_map[0],)
    later, admitted_at = dropped, []
    for seed in range(7, 20):
        log = state.scale.converted(checks(100, seed))[1]
        later = later.admitted(choices, log, n_actions=2, ridge=1.0)
        admitted_at.append(later.fits[0] is not None)
    # At 400 they were grown, at 800 they would have been, and they are at 1,600 rows of a fair coin.
    assert 800 + 100 * admitted_at.index(True) == 1_700
    assert sum(len(log) for log in later.buffered_logs) == 2_000


def test_a_file_in_mid_run_changes_nothing(tmp_path: Path) -> None:
    epoch = epochs()[-1]
    save(tmp_path / "epoch.zip", epoch)
    again = load(tmp_path / "epoch.zip")
    contexts = Contexts(np.random.default_rng(0).uniform(0.0, 4.0, size=(50, 2)))
    after = [TREES.next_epoch(one, checks(100, 99)) for one in (epoch, again)]
    for one, other in ((epoch, again), after):
        assert np.array_equal(one.policy.probabilities(contexts), other.policy.probabilities(contexts))


def test_actions_come_and_go_while_trees_play() -> None:
    epoch = epochs()[-1]
    wider = TREES.adapt(epoch, Problem(["b", "c", "a"], features=2))
    fit, before = fit_of(wider), fit_of(epoch)
    assert fit is not None
    assert before is not None
    counts = before.summed().rows.weight
    assert fit.summed().rows.weight.tolist() == [counts[1], 0.0, counts[0]]
    x = Contexts(np.random.default_rng(0).uniform(0.0, 4.0, size=(50, 2)))
    one, other = wider.policy.scorer.scores(x), epoch.policy.scorer.scores(x)  # type: ignore[attr-defined]
    assert np.array_equal(one[:, [0, 2]], other[:, [1, 0]])
    rows = Log.concat(adaptive_state(wider).candidates.buffered_logs, 3)
    assert sorted(set(rows.action.tolist())) == [0, 2]
    log = checks(700, 50)
    renumbered = replace(log, action=np.array([2, 0])[log.action])
    after = TREES.next_epoch(wider, renumbered)
    regrown = fit_of(after)
    assert regrown is not None
    assert regrown.n == len(rows) + 700.0


@pytest.mark.parametrize(("half_life", "n_grown"), [(1.0, 300), (200.0, 400)])
def test_where_rows_are_forgotten_trees_are_grown_on_the_latest(half_life: float, n_grown: int) -> None:
    forgetful = replace(TREES, half_life=half_life)
    epoch = forgetful.start(PROBLEM)
    for seed in range(13):
        epoch = forgetful.next_epoch(epoch, checks(100, seed))
    basis = trees_of(epoch)
    assert basis is not None
    fit = fit_of(epoch)
    assert fit is not None
    kept = Log.concat(adaptive_state(epoch).candidates.buffered_logs, 2)
    latest = [grown(kept.take(slice(end - n_grown, end)), 2)[0] for end in range(n_grown, 1_301, 100)]
    assert any(np.array_equal(one.forest.values, basis.forest.values) for one in latest)


def test_under_a_half_life_trees_that_are_dropped_come_back_as_soon_as_others() -> None:
    others = replace(adaptive_state(epochs()[7]).candidates, next_map=(100_000.0,))
    hopeless = np.array([True])
    dropped = others.reviewed(("trees",), active=-1, hopeless=hopeless, n_seen=99_000, half_life=20.0)
    assert dropped.next_map == (100_020.0,)


def test_rewards_that_are_rare_keep_trees_out_for_4096_rows_and_no_longer() -> None:
    epoch, entered = TREES.start(PROBLEM), []
    for seed in range(5):
        log = checks(1_000, seed)
        log = replace(log, reward=log.reward * (np.arange(len(log)) % 50 == 0))
        epoch = TREES.next_epoch(epoch, log)
        entered.append(trees_of(epoch) is not None)
    assert entered == [False, False, False, False, True]


def test_where_actions_have_features_trees_are_excluded_and_the_report_says_so() -> None:
    problem, rng = Problem(["a", "b"], action_features=1), np.random.default_rng(0)
    log = problem.log(
        problem.contexts(actions=rng.normal(size=(40, 2, 1))),
        ["a", "b"] * 20,
        rng.random(40).round(),
        propensities="uniform",
    )
    report = TREES.next_epoch(TREES.start(problem, log), log).report
    assert report is not None
    assert report.details[:2] == (
        "active class: linear",
        "trees: excluded, of no use for these features or rewards, or too large",
    )
    bare = TREES.start(Problem(["a", "b"]), replace(log, contexts=Contexts(np.empty((40, 0))))).report
    assert bare is not None
    assert bare.details[0].startswith("linear only")


def test_a_context_beyond_single_precision_gets_a_decision() -> None:
    play = epochs()[-1].policy.probabilities(Contexts(np.array([[1e60, -1e60]])))
    assert play.sum() == pytest.approx(1.0)


def test_a_bandit_takes_trees_by_name() -> None:
    bandit = Bandit(actions=["a", "b"], features=2, learner=AdaptiveFalcon(classes="auto_trees"), seed=1)
    rng = np.random.default_rng(0)
    for _ in range(4):
        decisions = bandit.decide_many(rng.normal(size=(100, 2)))
        bandit.reward_many(dict(zip(decisions.event_id, rng.random(100).round().tolist(), strict=True)))
    assert bandit.epoch.report is not None
    assert any(line.startswith("trees") for line in bandit.epoch.report.details)
