"""A problem turns what people hand in into trusted arrays, or says in a sentence why it cannot."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.inputs.columns import Numeric
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.inputs.schema import Schema

ADS = Problem(["red", "green", "blue"], features=["age", "clicks"])
PRICED = Problem(["red", "green"], features=1, action_features={"price": "numeric", "kind": ["new"]})
PRICES = {"red": {"price": 2.0, "kind": "new"}, "green": [3.0, "old"]}


def test_labels_come_back_as_they_were_given() -> None:
    labels = [("a", 1), 2.5, "three", None, np.str_("four")]
    problem = Problem(labels)
    assert all(kept is given for kept, given in zip(problem.actions, labels, strict=True))
    assert [problem.index_of(label) for label in labels] == [0, 1, 2, 3, 4]
    assert problem.n_actions == 5


@pytest.mark.parametrize(
    ("actions", "sentence"),
    [
        (["a"], "there are 1 actions; a choice needs at least 2"),
        ([], "there are 0 actions"),
        (["a", "b", "a"], "the actions 'a' and 'a' compare equal"),
        ([1, "b", True], "the actions 1 and True compare equal"),
        ([0, 0.0], "the actions 0 and 0.0 compare equal"),
        ([["a"], "b"], r"the label \['a'\] is not hashable"),
        ([("a", []), "b"], "is not hashable"),
        ([float("nan"), 1], "the label nan does not equal itself"),
        ("ab", "actions are 'ab'; give a list of labels"),
        (3, "actions are 3; give a list of labels"),
        ({"a", "b"}, "give a list of labels"),
    ],
)
def test_labels_that_cannot_serve_are_refused(actions: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Problem(actions)


def test_equal_problems_are_equal_however_they_were_written() -> None:
    one = Problem(["a", "b"], features=2, reward_range=(0, 1))
    other = Problem(("a", "b"), features={"x0": "numeric", "x1": Numeric()}, reward_range=[0.0, 1.0])  # type: ignore[arg-type]
    assert one == other
    assert hash(one) == hash(other)
    assert one != replace(one, cost=True)
    assert one != replace(one, actions=("a", "c"))


def test_a_problem_is_a_value() -> None:
    clipped = replace(ADS, out_of_range="clip", reward_range=(0, 10))
    assert clipped.rewards.to_unit([20]).tolist() == [1.0]
    assert clipped.features is ADS.features
    assert pickle.loads(pickle.dumps(PRICED)) == PRICED
    assert pickle.loads(pickle.dumps(PRICED)).index_of("green") == 1
    assert repr(ADS).startswith("Problem(actions='red', 'green', 'blue'; features=Schema(")
    wide = Problem(range(500), features=200, reward_range=(-1, 5), cost=True)
    assert repr(wide) == (
        "Problem(actions=0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 490 more; "
        "features=Schema(x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, 190 more); costs from -1 to 5)"
    )
    with pytest.raises(FrozenInstanceError):
        ADS.cost = True  # type: ignore[misc]


def test_a_wrong_reward_range_is_refused() -> None:
    with pytest.raises(ValueError, match=r"reward_range is 5; give its ends"):
        Problem(["a", "b"], reward_range=5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the lower end must come first"):
        Problem(["a", "b"], reward_range=(1.0, 0.0))


@pytest.mark.parametrize(
    "labels",
    [
        ["blue", "red"],
        ("blue", "red"),
        np.array(["blue", "red"]),
        pd.Series(["blue", "red"]),
        pl.Series(["blue", "red"]),
    ],
)
def test_indices_of_labels_of_every_kind(labels: object) -> None:
    indices = ADS.indices_of(labels)
    assert indices.tolist() == [2, 0]
    assert indices.dtype == np.int64


def test_unknown_labels_are_refused_with_the_nearest_known_ones() -> None:
    with pytest.raises(ValueError, match=r"^there is no action 'gren'; did you mean 'green'\?$"):
        ADS.index_of("gren")
    with pytest.raises(ValueError, match=r"row 1: there is no action 7; known are 'red', 'green', 'blue'\."):
        ADS.indices_of(["red", 7])
    with pytest.raises(ValueError, match=r"there is no action \['red'\]"):
        ADS.index_of(["red"])


def test_contexts_encode_their_features() -> None:
    contexts = ADS.contexts(pd.DataFrame({"clicks": [1, 2], "age": [30, 40]}))
    assert contexts.shared.tolist() == [[30.0, 1.0], [40.0, 2.0]]
    assert contexts.actions is None
    assert contexts.eligible is None


def test_context_free_problems_need_a_number_of_contexts() -> None:
    problem = Problem(["a", "b"])
    assert problem.contexts(n=3).shared.shape == (3, 0)
    assert problem.contexts(eligible=[["a"], ["b"]]).shared.shape == (2, 0)
    assert problem.contexts([{}, {}]).shared.shape == (2, 0)
    assert problem.context().shared.shape == (1, 0)
    with pytest.raises(ValueError, match="give n"):
        problem.contexts()


@pytest.mark.parametrize(
    "eligible",
    [
        np.array([[True, False, False], [True, False, True]]),
        [["red"], {"red", "blue"}],
        (("red",), np.array(["blue", "red"])),
        [np.array([True, False, False]), ["blue", "red"]],
        np.array([["red"], ["red", "blue"]], dtype=object),
    ],
)
def test_eligible_actions_are_a_mask_or_labels(eligible: object) -> None:
    mask = ADS.contexts(np.ones((2, 2)), eligible=eligible).eligible
    assert mask is not None
    assert mask.dtype == np.bool_
    assert mask.tolist() == [[True, False, False], [True, False, True]]


@pytest.mark.parametrize(
    ("eligible", "sentence"),
    [
        ([["red"], []], "row 1 has no eligible action"),
        (np.array([[True] * 3, [False] * 3]), "row 1 has no eligible action"),
        ([["red"], ["rde"]], "row 1 of eligible: there is no action 'rde'; did you mean 'red'"),
        ([["red"], "red"], "row 1 of eligible: 'red' is not a collection of labels"),
        ([["red"], {"red": True}], "row 1 of eligible: .* is not a collection"),
        ([["red"], 3], "row 1 of eligible: 3 is not a collection"),
        ([["red"]], r"the numbers of contexts differ \(shared: 2, eligible: 1\)"),
        (np.ones((2, 3)), r"eligible is a float64 array of shape \(2, 3\); give a boolean one"),
        (np.ones((2, 2), dtype=bool), r"bool array of shape \(2, 2\); give a boolean one of shape \(n, 3\)"),
        (np.ones(3, dtype=bool), r"of shape \(3,\)"),
        (5, "5 is not a column"),
    ],
)
def test_wrong_eligible_actions_are_refused(eligible: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ADS.contexts(np.ones((2, 2)), eligible=eligible)


def test_a_list_of_booleans_does_not_pass_for_labels() -> None:
    with pytest.raises(ValueError, match="True is not a label here"):
        Problem([0, 1]).context(eligible=[True, True])
    assert Problem([False, True]).context(eligible=[True]).eligible is not None


@pytest.mark.parametrize(
    "actions",
    [
        PRICES,
        [PRICES, PRICES],
        np.array([[2.0, "new"], [3.0, "old"]], dtype=object),
        [[2.0, "new"], [3.0, "old"]],
        [[[2.0, "new"], [3.0, "old"]]] * 2,
    ],
    ids=["one mapping", "a mapping per row", "an array", "a list", "a list per row"],
)
def test_features_of_actions_are_given_once_or_per_row(actions: object) -> None:
    cube = PRICED.contexts([[1.0], [2.0]], actions).actions
    assert cube is not None
    assert cube.tolist() == [[[2.0, 1.0, 0.0], [3.0, 0.0, 1.0]]] * 2
    assert cube.flags.c_contiguous
    assert cube.flags.writeable


def test_numeric_features_of_actions_may_be_an_array_per_row() -> None:
    problem = Problem(["a", "b"], action_features=3)
    array = np.arange(12.0).reshape(2, 2, 3)
    cube = problem.contexts(actions=array).actions
    assert cube is not None
    assert cube.tolist() == array.tolist()
    assert not np.shares_memory(cube, array)
    one = problem.context(actions=array[0]).actions
    assert one is not None
    assert one.tolist() == array[:1].tolist()


@pytest.mark.parametrize("actions", [[], np.zeros((0, 2, 2)), PRICES])
def test_there_may_be_no_contexts(actions: object) -> None:
    contexts = PRICED.contexts([], actions, eligible=[])
    assert contexts.shared.shape == (0, 1)
    assert contexts.actions is not None
    assert contexts.actions.shape == (0, 2, 3)
    assert contexts.eligible is not None
    assert contexts.eligible.shape == (0, 2)


def test_only_eligible_actions_need_features() -> None:
    contexts = PRICED.contexts([[1.0]], [{"red": PRICES["red"]}], eligible=[["red"]])
    assert contexts.actions is not None
    assert contexts.actions[0].tolist() == [[2.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    with pytest.raises(
        ValueError, match="row 0: action 'green' has no features; give them, or bar the action"
    ):
        PRICED.contexts([[1.0]], [{"red": PRICES["red"]}])


@pytest.mark.parametrize(
    ("actions", "sentence"),
    [
        (None, "features of actions are declared and not given"),
        (
            {**PRICES, "red": [None, "new"]},
            "row 0 of actions, action 'red': feature 'price': the value is missing",
        ),
        (
            [PRICES, {"red": {"prize": 1, "kind": "new"}}],
            r"row 1 of actions, action 'red': 'prize' is not a feature",
        ),
        ({**PRICES, "blue": [1.0, "new"]}, "there is no action 'blue'"),
        ([PRICES], r"the numbers of contexts differ \(shared: 2, actions: 1\)"),
        (np.ones((2, 3, 2)), r"actions have shape \(2, 3, 2\); give \(n, 2, 2\)"),
        (np.full((2, 2, 2), np.nan), "action 'red': row 0, feature 'price': the value is missing"),
        (7, r"actions have shape \(\)"),
        ([[[1.0, "new"]], [[1.0, "new"], [2.0, "new"]]], r"actions have shape \(2,\)"),
        ([[["1", "new"], [2.0, "new"]]] * 2, "action 'red': row 0, feature 'price': '1' .* is not a number"),
    ],
)
def test_wrong_features_of_actions_are_refused(actions: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        PRICED.contexts([[1.0], [2.0]], actions)


def test_parts_that_are_lacking_or_not_declared_are_refused() -> None:
    with pytest.raises(ValueError, match="contexts need the features 'age', 'clicks'"):
        ADS.contexts(n=2)
    with pytest.raises(ValueError, match="features of actions are given and not declared"):
        ADS.context([1.0, 2.0], actions=np.ones((3, 1)))
    with pytest.raises(ValueError, match=r"the numbers of contexts differ \(shared: 2, n: 3\)"):
        ADS.contexts(np.ones((2, 2)), n=3)
    with pytest.raises(ValueError, match=r"n is 2\.5; give the number of contexts"):
        Problem(["a", "b"]).contexts(n=2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n is -1; give the number of contexts"):
        Problem(["a", "b"]).contexts(n=-1)
    with pytest.raises(ValueError, match="'a' is not a feature"):
        Problem(["a", "b"]).context({"a": 1})
    with pytest.raises(ValueError, match="actions are of 2 contexts, where one is expected"):
        PRICED.context([1.0], [PRICES, PRICES])
    with pytest.raises(ValueError, match="row 0 has no eligible action"):
        ADS.context([1.0, 2.0], eligible=[])


def test_one_context_is_the_same_as_a_batch_of_one() -> None:
    one = PRICED.context({"x0": 0.1}, PRICES, ["green"])
    batch = PRICED.contexts([{"x0": 0.1}], PRICES, [["green"]])
    for part in ("shared", "actions", "eligible"):
        assert getattr(one, part).tobytes() == getattr(batch, part).tobytes()
        assert getattr(one, part).shape == getattr(batch, part).shape


def test_a_log_has_indices_units_and_columns() -> None:
    problem = Problem(["a", "b"], reward_range=(0.0, 10.0), cost=True)
    log = problem.log(
        problem.contexts(n=3),
        ["b", "a", "b"],
        [0, 5, 10],
        [0.5, 1, 0.25],
        epoch=4,
        rounds=[7, 8, 9],
        passive=[True, False, True],
    )
    assert log.action.tolist() == [1, 0, 1]
    assert log.reward.tolist() == [1.0, 0.5, 0.0]
    assert log.propensity.tolist() == [0.5, 1.0, 0.25]
    assert log.epoch.tolist() == [4, 4, 4]
    assert log.round.tolist() == [7, 8, 9]
    assert log.component.tolist() == [1, 0, 1]
    assert log.passive.tolist() == [True, False, True]
    assert {column.dtype for column in (log.action, log.epoch, log.round, log.component)} == {
        np.dtype("int64")
    }


def test_uniform_propensities_are_those_over_the_eligible_actions() -> None:
    contexts = ADS.contexts(np.ones((3, 2)), eligible=[["red"], ["red", "blue"], ["red", "green", "blue"]])
    log = ADS.log(contexts, ["red"] * 3, [0, 1, 0], propensities="uniform")
    assert log.propensity.tolist() == [1.0, 0.5, 1 / 3]
    assert log.round.tolist() == [0, 1, 2]
    assert log.passive.all()
    assert ADS.log(
        ADS.contexts(np.ones((1, 2))), ["red"], [0], propensities="uniform"
    ).propensity.tolist() == [1 / 3]


def test_rows_with_propensities_are_not_passive_unless_said_so() -> None:
    contexts = ADS.contexts(np.ones((2, 2)))
    assert not ADS.log(contexts, ["red", "blue"], [0, 1], [0.5, 0.2]).passive.any()
    marked = ADS.log(contexts, ["red", "blue"], [0, 1], [0.5, 1 / 3], passive=[False, True])
    assert marked.passive.tolist() == [False, True]


def test_a_log_may_be_empty() -> None:
    assert len(ADS.log(ADS.contexts([]), [], [], [])) == 0


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"actions": ["red"]}, "there are 1 actions and 2 contexts"),
        ({"actions": ["red", "rde"]}, "row 1: there is no action 'rde'"),
        ({"actions": ["red", "green"]}, "row 1: action 'green' is not eligible there"),
        ({"rewards": [0.5]}, "there are 1 rewards and 2 contexts"),
        ({"rewards": [0.5, 1.7]}, r"row 1: reward 1.7 is outside \(0, 1\)"),
        ({"rewards": [0.5, None]}, "row 1: the reward is nan; give a finite number"),
        ({"rewards": 0.5}, "0.5 is not a column"),
        ({"propensities": [0.5]}, "there are 1 propensities and 2 contexts"),
        ({"propensities": [0.5, 0.0]}, r"row 1: the propensity 0.0 is not in \(0, 1\]"),
        ({"propensities": [-0.5, 0.5]}, r"row 0: the propensity -0.5 is not in \(0, 1\]"),
        ({"propensities": [0.5, 1.5]}, r"row 1: the propensity 1.5 is not in \(0, 1\]"),
        ({"propensities": [0.5, float("nan")]}, r"row 1: the propensity nan .* propensities='unknown'"),
        ({"propensities": None}, "propensities are None; give .* 'uniform' for uniform play, or 'unknown'"),
        ({"propensities": "unifrom"}, "propensities are 'unifrom'; give .* 'uniform'"),
        (
            {"propensities": "unknown", "passive": [False, True]},
            "row 1 is passive, and propensities are 'unk",
        ),
        ({"propensities": [0.5, float("inf")]}, "propensities: row 1: inf is not finite"),
        ({"propensities": [0.5, "1"]}, "propensities: row 1: '1' .* is not a number"),
        ({"rounds": [0.5, 1]}, "row 0: rounds has 0.5; give whole numbers"),
        ({"rounds": [1, None]}, "row 1: rounds has nan"),
        ({"rounds": [1]}, "there are 1 rounds and 2 contexts"),
        ({"passive": [True, 2]}, "row 1 of passive: 2 is neither true nor false"),
        ({"rounds": [1, 2**60]}, "rounds: row 1: .* beyond .*; give finite numbers"),
        ({"epoch": 0.5}, "epoch has 0.5; give whole numbers"),
        ({"passive": True}, "passive: True is not a column"),
        ({"passive": [True]}, "there are 1 passive and 2 contexts"),
    ],
)
def test_wrong_columns_of_a_log_are_refused(columns: dict[str, Any], sentence: str) -> None:
    contexts = ADS.contexts(np.ones((2, 2)), eligible=[["red"], ["red", "blue"]])
    fine = {"actions": ["red", "blue"], "rewards": [0, 1], "propensities": [0.5, 0.5]}
    with pytest.raises(ValueError, match=sentence):
        ADS.log(contexts, **{**fine, **columns})


def test_contexts_of_another_problem_are_refused() -> None:
    with pytest.raises(ValueError, match="make them with this problem's `contexts`"):
        ADS.log(np.ones((1, 2)), ["red"], [1], propensities="uniform")  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match="the contexts have 3 shared and 0 action features, and the problem has 2"
    ):
        ADS.log(Contexts(np.ones((1, 3))), ["red"], [1], propensities="uniform")
    with pytest.raises(ValueError, match="the contexts have 2 actions and the problem 3"):
        ADS.log(
            Contexts(np.ones((1, 2)), None, np.ones((1, 2), dtype=np.bool_)),
            ["red"],
            [1],
            propensities="uniform",
        )


def test_features_may_be_a_schema() -> None:
    schema = Schema.of(2)
    assert Problem(["a", "b"], schema).features is schema
