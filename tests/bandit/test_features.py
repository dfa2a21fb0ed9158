"""Features: inferred from the first context and then fixed, none at all, of actions, and who is eligible."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from gyrfalcon import Bandit
from gyrfalcon.core.inputs.columns import Numeric
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.inputs.schema import Schema
from tests.bandit.helpers import batches, refused


def test_the_first_context_says_what_features_there_are() -> None:
    bandit = Bandit(actions=["a", "b"], seed=1)
    bandit.decide({"age": 31.0, "member": True, "city": "Oslo"})
    assert [name for name, _ in bandit.problem.features.columns] == ["age", "member", "city"]
    with refused(bandit, "height"):
        bandit.decide({"age": 31.0, "member": True, "city": "Oslo", "height": 1.7})
    assert bandit.decide({"city": "Bodø", "member": False, "age": 50}).round == 1


def test_the_first_table_says_what_features_there_are() -> None:
    bandit = Bandit(actions=["a", "b"], seed=1)
    bandit.decide_many([{"age": 31.0}, {"age": None}, {"age": 3.0}])
    assert bandit.problem.features.columns == (("age", Numeric(missing=True)),)


BAD_CONTEXTS = {
    "inf": {"age": float("inf")},
    "age": {"age": float("nan")},
    "object": {"age": object()},
    "age'": {"age": [1.0, 2.0]},
    "Oslo": "Oslo",
    "2 rows": np.zeros((2, 3)),
}


@pytest.mark.parametrize("told", BAD_CONTEXTS)
def test_a_refused_first_context_fixes_nothing(told: str) -> None:
    bandit = Bandit(actions=["a", "b"], seed=1)
    with refused(bandit, told, whole=False):
        bandit.decide(BAD_CONTEXTS[told])
    assert bandit.decide({"height": 1.7}).round == 0


def test_a_first_context_fixes_nothing_when_anything_else_is_refused() -> None:
    bandit = Bandit(actions=["a", "b"], seed=1, max_pending=2)
    with refused(bandit, "there is no action 'c'"):
        bandit.decide({"age": 31.0}, eligible=["c"])
    with refused(bandit, "features of actions"):
        bandit.decide({"age": 31.0}, actions=np.zeros((2, 1)))
    with refused(bandit, "give text", TypeError):
        bandit.decide({"age": 31.0}, event_id=0.5)  # type: ignore[arg-type]
    with refused(bandit, "2 event ids for 1"):
        bandit.decide_many([{"age": 31.0}], event_ids=["a", "b"])
    with refused(bandit, "3 contexts at once"):
        bandit.decide_many([{"age": 31.0}] * 3)
    assert bandit.decide({"height": 1.7}).round == 0


def test_a_bandit_without_contexts_plays_and_learns() -> None:
    bandit = Bandit(learner=batches(20), actions=["a", "b"], seed=1)
    for _ in range(40):
        decision = bandit.decide()
        bandit.reward(decision.event_id, float(decision.action == "b"))
    assert bandit.epoch.index == 3
    assert sum(bandit.decide().action == "b" for _ in range(100)) > 80
    with refused(bandit, "none"):
        bandit.decide({"age": 31.0})


def test_declared_features_need_no_first_context() -> None:
    bandit = Bandit(actions=["a", "b"], features={"country": ["NO", "SE"]}, seed=1)
    assert bandit.problem.features.names == ("country=NO", "country=SE", "country=other")
    with refused(bandit, "no value.*country|country.*no value"):
        bandit.decide({})


def test_a_problem_may_be_given_and_then_says_everything() -> None:
    problem = Problem(["a", "b"], features=2, reward_range=(0, 5))
    bandit = Bandit(problem=problem)
    assert bandit.problem is problem
    with pytest.raises(ValueError, match=r"reward_range, cost would be ignored"):
        Bandit(problem=problem, reward_range=(0, 2), cost=True)
    with pytest.raises(ValueError, match="either actions or a problem"):
        Bandit(actions=["a", "b"], problem=problem)
    with pytest.raises(ValueError, match="either actions or a problem"):
        Bandit()
    with pytest.raises(TypeError, match="give a Problem"):
        Bandit(problem=["a", "b"])  # type: ignore[arg-type]


def _eligible(row: int) -> NDArray[np.bool_]:
    mask = np.ones(3, dtype=np.bool_)
    mask[row % 3] = False
    return mask


def test_only_eligible_actions_are_chosen_alone_and_in_batches() -> None:
    bandit = Bandit(learner=batches(30), actions=["a", "b", "c"], features=1, seed=4)
    for row in range(60):
        decision = bandit.decide([float(row)], eligible=_eligible(row))
        assert decision.action != "abc"[row % 3]
        bandit.reward(decision.event_id, 0.5)
    masks = np.stack([_eligible(row) for row in range(60)])
    batch = bandit.decide_many(np.ones((60, 1)), eligible=masks)
    assert all(action != "abc"[row % 3] for row, action in enumerate(batch.action))
    assert bandit.decide([1.0], eligible=["b"])[:2] == ("b", 1.0)


def test_actions_may_have_features_with_and_without_shared_ones() -> None:
    for context in (None, {"age": 30.0}):
        bandit = Bandit(learner=batches(30), actions=["a", "b"], action_features=["price"], seed=4)
        for _ in range(60):
            decision = bandit.decide(context, actions={"a": [1.0], "b": [2.0]})
            bandit.reward(decision.event_id, float(decision.action == "b"))
        batch = bandit.decide_many(context and [context] * 100, actions=np.array([[1.0], [2.0]]), n=100)
        assert sum(action == "b" for action in batch.action) > 80
        with refused(bandit, "features of actions"):
            bandit.decide(context)


def test_unknown_features_are_ignored_alone_in_frames_and_of_actions_where_that_was_asked_for(
    tmp_path: Path,
) -> None:
    settings: dict[str, Any] = {"features": {"age": "numeric", "country": ["NO", "SE"]}, "seed": 1}
    settings |= {"action_features": ["price"], "learner": batches(10)}
    lenient = Bandit(["a", "b"], unknown_features="ignore", **settings)
    strict = Bandit(["a", "b"], **settings)
    context, prices = {"age": 31.0, "country": "FI"}, {"a": {"price": 1.0}, "b": {"price": 2.0}}
    noisy = {label: {**row, "stock": object()} for label, row in prices.items()}
    expected = strict.decide(context, actions=prices)
    assert lenient.decide({**context, "session": ["any", "thing"]}, actions=noisy) == expected
    with refused(strict, "'session' is not a feature"):
        strict.decide({**context, "session": 1}, actions=prices)
    with refused(strict, "'stock' is not a feature"):
        strict.decide(context, actions=noisy)
    lenient.save(tmp_path / "bandit")
    loaded = Bandit.load(tmp_path / "bandit")
    frame = {"age": [1.0, 2.0], "country": ["NO", "FI"]}
    table = pd.DataFrame({**frame, "nested": [{"x": 1}, [2]]})
    for bandit in (lenient, loaded):
        for given in (table, {**frame, "note": "no column"}, table.to_dict("records")):
            batch = bandit.decide_many(given, actions=noisy)
            assert len(batch.action) == 2
        with refused(bandit, "no value for 'country'"):
            bandit.decide({"age": 3.0, "county": "NO"}, actions=prices)
        with refused(bandit, "there is no action 'c'"):
            bandit.decide(context, actions={**noisy, "c": {"price": 1.0}})


def test_features_that_the_first_context_shows_ignore_unknown_ones_too() -> None:
    bandit = Bandit(["a", "b"], unknown_features="ignore", seed=1)
    bandit.decide({"age": 31.0})
    bandit.decide({"age": 44.0, "referrer": "mail"})
    assert bandit.problem.features.names == ("age",)
    with pytest.raises(ValueError, match="unknown_features is 'drop'; choose 'error' or 'ignore'"):
        Bandit(["a", "b"], unknown_features="drop")  # type: ignore[arg-type]


def test_a_schema_may_say_itself_that_unknown_features_are_ignored() -> None:
    schema = replace(Schema.of(["age"]), unknown_features="ignore")
    assert schema == Schema.of(["age"])  # they encode alike
    problem = Problem(["a", "b"], features=schema)
    assert problem.context({"age": 3.0, "other": None}).shared.tolist() == [[3.0]]
    problem = Problem(["a", "b"], features=schema, unknown_features="error")
    with pytest.raises(ValueError, match="'other' is not a feature"):
        problem.context({"age": 3.0, "other": None})
