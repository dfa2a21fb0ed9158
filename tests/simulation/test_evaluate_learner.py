"""Values of learners from logs, against the same learners in live play."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon import EpsilonFalcon, EpsilonGreedy, Problem
from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.epochs import Epoch, Mixture, PassiveDesign, decide
from gyrfalcon.core.policies.kernel_policy import UniformPolicy
from gyrfalcon.core.records import Log
from gyrfalcon.engine.turnover import played_epochs
from gyrfalcon.environments.data.logged_replay import LoggedReplay
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.simulation import evaluate_learner
from gyrfalcon.simulation.accepted_rows import _components, visited_rows
from gyrfalcon.simulation.engine import RowBuffer

PROPENSITIES = np.array([0.5, 0.3, 0.2])
N_ROUNDS = 250
PROBLEM = Problem(["a", "b", "c"], features=["x"], reward_range=(0.0, 1.0))
LEARNERS: dict[str, Learner] = {
    "epsilon-greedy": EpsilonGreedy(epsilon=0.1),
    "Epsilon-FALCON": EpsilonFalcon(),
}


def means(x: Floats) -> Floats:
    return np.stack([0.3 + 0.0 * x, 0.2 + 0.6 * x, 0.7 - 0.5 * x], axis=1)


def logged(seed: int, n: int = 2_000) -> DecisionTable:
    rng = np.random.default_rng(seed)
    x, action = rng.random(n), rng.choice(3, n, p=PROPENSITIES)
    reward = (rng.random(n) < means(x)[np.arange(n), action]).astype(float)
    return DecisionTable(
        actions=("a", "b", "c"),
        contexts=Contexts(x[:, None]),
        action=action,
        reward=reward,
        propensity=PROPENSITIES[action],
        features=("x",),
        reward_range=(0.0, 1.0),
    )


def live(learner: Learner, seed: int) -> float:
    """The expected mean reward of the decisions in one run of live play."""
    rng = np.random.default_rng([seed, 7])
    buffer, total = RowBuffer(learner, 3, np.inf), 0.0
    for epoch in played_epochs(learner.start(PROBLEM), N_ROUNDS, buffer.next_epoch):
        rounds = np.arange(epoch.start, min(epoch.stop, N_ROUNDS))
        x = rng.random(len(rounds))
        decisions = decide(epoch, rounds, Contexts(x[:, None]), rng.random((len(rounds), 3)))
        expected = means(x)[np.arange(len(rounds)), decisions.action]
        reward = (rng.random(len(rounds)) < expected).astype(float)
        buffer.add(epoch, Log.of(Contexts(x[:, None]), decisions, reward))
        total += float(expected.sum())
    return total / N_ROUNDS


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("method", ["replay", "doubly_robust"])
def test_values_are_those_of_live_play_on_average(name: str, method: str) -> None:
    learner = LEARNERS[name]
    truth = np.array([live(learner, seed) for seed in range(150)])
    found = np.array(
        [
            evaluate_learner(learner, logged(seed), method=method, n_rounds=N_ROUNDS, seed=seed).value
            for seed in range(80)
        ]
    )
    error = np.hypot(truth.std() / np.sqrt(150), found.std() / np.sqrt(80))
    assert abs(found.mean() - truth.mean()) <= 3.5 * error


@pytest.mark.parametrize("method", ["replay", "doubly_robust"])
def test_intervals_cover_the_policies_of_the_run(method: str) -> None:
    held = []
    for seed in range(120):
        table = logged(seed)
        found = evaluate_learner(LEARNERS["epsilon-greedy"], table, method=method, n_rounds=N_ROUNDS)
        columns = table.contexts, table_labels(table), table.reward, table.propensity
        environment = LoggedReplay(PROBLEM, *columns)
        quantile = None if method == "replay" else 0.0
        visited = list(visited_rows(LEARNERS["epsilon-greedy"], environment, quantile, N_ROUNDS, 0))
        levels = np.concatenate([np.full(len(one.rows), one.level) for one in visited])
        target = np.concatenate([one.target for one in visited])
        assert len(levels) == found.n_visited
        x = table.contexts.shared[np.concatenate([one.rows for one in visited]), 0]
        values = (target * means(x)).sum(axis=1)
        held.append(np.average(values, weights=levels) in found.interval)
    assert np.mean(held) >= 0.88  # nominal 0.95; three standard errors of 120 runs are 0.06


def table_labels(table: DecisionTable) -> list[Any]:
    return [table.actions[place] for place in table.action.tolist()]


def test_the_doubly_robust_method_varies_less_and_needs_fewer_rows() -> None:
    table, learner = logged(0), LEARNERS["epsilon-greedy"]
    replayed, robust, quick = (
        evaluate_learner(learner, table, method=method, n_rounds=N_ROUNDS, quantile=quantile)
        for method, quantile in (("replay", 0.0), ("doubly_robust", 0.0), ("doubly_robust", 0.2))
    )
    assert robust.estimate.standard_error < replayed.estimate.standard_error
    assert quick.n_visited < robust.n_visited <= replayed.n_visited
    assert (replayed.cut_share, robust.cut_share) == (0.0, 0.0)
    assert quick.cut_share > 0.0
    assert "Rounds are distributed as the first 250 of live play" in replayed.bias
    assert "of the rows should have counted with a probability above 1" in quick.bias


def test_without_a_number_of_rounds_the_whole_log_is_used() -> None:
    found = evaluate_learner(LEARNERS["epsilon-greedy"], logged(1, 800), method="replay")
    assert found.n_visited == found.n_rows == 800
    assert found.n_rounds == pytest.approx(160, abs=35)  # 800 times the least propensity
    assert len(found.estimate.influence) == found.n_rounds


def test_values_are_in_the_units_of_the_log() -> None:
    table = logged(2)
    unit = evaluate_learner(LEARNERS["epsilon-greedy"], table, n_rounds=N_ROUNDS)
    costs = replace(table, reward=50.0 - 40.0 * table.reward, reward_range=(10.0, 50.0), cost=True)
    found = evaluate_learner(LEARNERS["epsilon-greedy"], costs, n_rounds=N_ROUNDS)
    assert found.value == pytest.approx(50.0 - 40.0 * unit.value)
    assert found.interval.width == pytest.approx(40.0 * unit.interval.width)


def test_the_same_seed_gives_the_same_value_and_another_one_another() -> None:
    first, again, other = (
        evaluate_learner(LEARNERS["epsilon-greedy"], logged(3), n_rounds=100, seed=seed).value
        for seed in (1, 1, 2)
    )
    assert first == again != other


def one_epoch(share: float) -> Epoch:
    everyone = UniformPolicy(2)
    return Epoch(
        index=1,
        start=0,
        stop=10,
        policy=everyone,
        passive_policy=everyone,
        passive_share=share,
        passive_design=PassiveDesign.COIN,
    )


def test_components_are_drawn_given_the_action() -> None:
    n = 4_000
    contexts = Contexts(np.zeros((n, 0)))
    rounds, action = np.zeros(n, dtype=int), np.zeros(n, dtype=int)
    uniforms = np.random.default_rng(0).random(n)
    coin: Ints = _components(one_epoch(0.25), rounds, contexts, action, uniforms)
    assert coin.mean() == pytest.approx(0.25, abs=0.02)
    mixture = Mixture(np.array([0.5, 0.5]), (one_epoch(0.5), one_epoch(0.0)))
    master = replace(one_epoch(0.0), policy=mixture)
    shares = np.bincount(_components(master, rounds, contexts, action, uniforms), minlength=4) / n
    assert shares == pytest.approx([0.25, 0.25, 0.5, 0.0], abs=0.03)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_rounds": 5_000}, r"the log of 2000 rows gave \d+ rounds, and n_rounds is 5000; ask for fewer"),
        ({"n_rounds": 1}, "n_rounds is 1"),
        ({"method": "dm"}, "method is 'dm'"),
        ({"quantile": 0.7}, "quantile is 0.7"),
        ({"level": 1.0}, "level is 1.0"),
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate_learner(LEARNERS["epsilon-greedy"], logged(0), **settings)


def test_unknown_actions_are_refused() -> None:
    table = logged(0, 50)
    table.action[7] = -1
    with pytest.raises(ValueError, match="row 7: the action is none of the table's; leave the row out"):
        evaluate_learner(LEARNERS["epsilon-greedy"], table)
