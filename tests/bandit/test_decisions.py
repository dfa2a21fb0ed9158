"""Decide: any label, any kind of context, many at once as one by one, reproducible from seed and calls."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gyrfalcon import Bandit, Decision
from gyrfalcon.core.epochs import action_probabilities
from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.learners.baselines.epsilon_greedy import EpsilonGreedy
from gyrfalcon.learners.baselines.uniform import Uniform
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner

LEARNERS: dict[str, Learner] = {
    "epsilon-falcon, tail": EpsilonFalcon(tau_1=8, epsilon=0.2),
    "epsilon-falcon, coin": EpsilonFalcon(tau_1=8, epsilon=0.2, passive_design="coin"),
    "falcon": Falcon(schedule=FixedBatch(8)),
    "linucb": LinUCB(schedule=FixedBatch(8), mixing=0.1),
    "epsilon-greedy": EpsilonGreedy(schedule=FixedBatch(8)),
    "uniform": Uniform(schedule=FixedBatch(8)),
}


def trained(learner: Learner, n: int = 40, seed: int = 5) -> Bandit:
    bandit = Bandit(learner=learner, actions=["a", "b", "c"], features=2, seed=seed)
    rng = np.random.default_rng(0)
    for x in rng.normal(size=(n, 2)):
        decision = bandit.decide(x)
        bandit.reward(decision.event_id, float(0.5 + 0.4 * np.tanh(x[0]) * (decision.action == "a")))
    return bandit


@pytest.mark.parametrize("name", LEARNERS)
def test_a_bandit_decides_is_rewarded_and_goes_through_epochs(name: str) -> None:
    bandit = trained(LEARNERS[name])
    assert bandit.epoch.index > 2
    assert bandit.n_pending == 0
    assert bandit.decide([0.0, 0.0]).round == 40


def test_a_bandit_learns_which_action_is_better() -> None:
    bandit = Bandit(
        learner=EpsilonGreedy(schedule=FixedBatch(20)), actions=["bad", "good"], features=1, seed=3
    )
    for _ in range(200):
        decision = bandit.decide([1.0])
        bandit.reward(decision.event_id, float(decision.action == "good"))
    assert bandit.decide([1.0], eligible=["bad", "good"]).propensity in (pytest.approx(0.95), 0.05)
    assert sum(bandit.decide([1.0]).action == "good" for _ in range(100)) > 80


class Colour(Enum):
    RED = "red"


def test_labels_of_any_hashable_kind_are_given_back_as_given() -> None:
    labels: list[Any] = ["text", 7, 0.5, None, True, ("a", 1), b"bytes", frozenset({1}), Colour.RED, object()]
    bandit = Bandit(actions=labels, seed=1)
    chosen = [bandit.decide().action for _ in range(300)] + list(bandit.decide_many(n=300).action)
    assert {id(label) for label in chosen} == {id(label) for label in labels}


CONTEXTS: dict[str, Callable[[float, float], object]] = {
    "dict": lambda a, b: {"age": a, "height": b},
    "dict in another order": lambda a, b: {"height": b, "age": a},
    "array": lambda a, b: np.array([a, b]),
    "array of one row": lambda a, b: np.array([[a, b]]),
    "float32 array": lambda a, b: np.array([a, b], dtype=np.float32),
    "list": lambda a, b: [a, b],
    "tuple": lambda a, b: (a, b),
    "pandas row": lambda a, b: pd.Series({"age": a, "height": b}),
}
TABLES: dict[str, Callable[[Any], object]] = {
    "matrix": lambda rows: rows,
    "lists": lambda rows: rows.tolist(),
    "dicts": lambda rows: [{"x0": a, "x1": b} for a, b in rows.tolist()],
    "columns": lambda rows: {"x1": rows[:, 1], "x0": rows[:, 0]},
    "pandas": lambda rows: pd.DataFrame(rows, columns=["x0", "x1"]),
    "polars": lambda rows: pl.DataFrame(rows, schema=["x0", "x1"]),
    "arrow": lambda rows: pa.table({"x0": rows[:, 0], "x1": rows[:, 1]}),
}


@pytest.mark.parametrize("kind", CONTEXTS)
def test_one_context_may_come_in_any_kind(kind: str) -> None:
    given = Bandit(actions=["a", "b", "c"], features=["age", "height"], seed=2)
    plain = Bandit(actions=["a", "b", "c"], features=["age", "height"], seed=2)
    for a, b in [(0.5, 1.0), (3.0, -2.0)]:
        assert given.decide(CONTEXTS[kind](a, b)) == plain.decide([a, b])


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("kind", TABLES)
def test_many_contexts_in_any_kind_of_table_are_decided_as_one_by_one(kind: str, learner: str) -> None:
    rows = np.random.default_rng(1).normal(size=(5, 2))
    many, single = trained(LEARNERS[learner]), trained(LEARNERS[learner])
    assert list(many.decide_many(TABLES[kind](rows))) == [single.decide(row) for row in rows]
    assert many.epoch.index == single.epoch.index


def test_a_batch_is_columns_and_single_decisions_at_once() -> None:
    batch = Bandit(actions=["a", "b"], features=1, seed=1).decide_many([[1.0], [2.0], [3.0]])
    assert len(batch) == 3
    assert isinstance(batch[0], Decision)
    assert [one.event_id for one in batch] == list(batch.event_id)
    assert batch[-1].round == 2
    assert [type(value) for value in batch[1]] == [str, float, str, int, int, bool, tuple, str, bool]


def test_no_contexts_at_all_are_decided_too() -> None:
    bandit = Bandit(actions=["a", "b"], features=1, seed=1)
    assert len(bandit.decide_many(np.empty((0, 1)))) == 0
    assert bandit.decide([1.0]).round == 0


def test_the_same_seed_and_calls_give_the_same_decisions_and_another_seed_others() -> None:
    first, again, other = (trained(LEARNERS["epsilon-falcon, coin"], seed=seed) for seed in (5, 5, 6))
    rows = np.random.default_rng(2).normal(size=(50, 2))
    decisions = [list(bandit.decide_many(rows)) for bandit in (first, again, other)]
    assert decisions[0] == decisions[1]
    assert [one.action for one in decisions[0]] != [one.action for one in decisions[2]]


def test_bandits_without_a_seed_differ() -> None:
    one, two = (Bandit(actions=["a", "b"]) for _ in range(2))
    assert [one.decide().action for _ in range(64)] != [two.decide().action for _ in range(64)]


@pytest.mark.parametrize("name", LEARNERS)
def test_the_propensity_is_the_probability_of_the_action_at_its_round(name: str) -> None:
    bandit = trained(LEARNERS[name], n=41)
    for x in np.random.default_rng(4).normal(size=(7, 2)):
        epoch, contexts = bandit.epoch, bandit.problem.context(x)
        decision = bandit.decide(x)
        row = action_probabilities(epoch, np.array([decision.round]), contexts)[0]
        assert decision.propensity == row[bandit.problem.index_of(decision.action)]


def test_an_event_id_may_be_brought_and_decides_the_draw() -> None:
    bandit = Bandit(actions=list(range(50)), seed=9)
    decision = bandit.decide(event_id="visit 1")
    assert decision.event_id == "visit 1"
    later = Bandit(actions=list(range(50)), seed=9)
    later.decide()
    assert later.decide(event_id="visit 1").action == decision.action
    assert bandit.decide_many(n=2, event_ids=np.array(["x", "y"])).event_id == ["x", "y"]  # type: ignore[arg-type]
    bandit.reward("y", 1.0)
    assert bandit.n_pending == 2


def test_an_id_that_looks_like_the_next_of_ours_does_not_stop_the_bandit() -> None:
    bandit = Bandit(actions=["a", "b"], seed=1)
    brought = bandit.decide(event_id="00000001-1").event_id
    assert {bandit.decide().event_id, brought, *bandit.decide_many(n=2).event_id} == {
        "00000001-1",
        "00000001-1+",
        "00000001-2",
        "00000001-3",
    }


@pytest.mark.parametrize("name", LEARNERS)
def test_probabilities_are_those_of_the_next_decision(name: str) -> None:
    rng = np.random.default_rng(5)
    bandit = Bandit(["a", "b", "c"], learner=LEARNERS[name], features=2, seed=1)
    for visit in range(150):
        context, eligible = rng.normal(size=2), ["b", "c"] if visit % 5 == 0 else None
        told = bandit.probabilities(context, eligible=eligible)
        decision = bandit.decide(context, eligible=eligible)
        assert tuple(told.values()) == decision.distribution
        assert told[decision.action] == decision.propensity
        bandit.reward(decision.event_id, float(rng.random()))
