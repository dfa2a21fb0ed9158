"""Tables of logs, decisions and traces: the same columns in pandas, Polars and Arrow."""

from __future__ import annotations

import sys
from dataclasses import replace
from enum import Enum
from typing import Any

import numpy as np
import pytest

from gyrfalcon import Bandit
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import Log
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.frames import Column, Lists, Tabular, label_column
from gyrfalcon.learners.baselines.uniform import Uniform
from gyrfalcon.simulation.replications import simulate

PROBLEM = Problem(
    ["red", "blue", "green"],
    features={"age": "numeric", "country": ["NO", "SE"]},
    action_features=["price", "size"],
    reward_range=(-1.0, 3.0),
    cost=True,
)
PRICES = {"red": [1.0, 2.0], "blue": [3.0, 4.0], "green": [5.0, 6.0]}


def a_log(propensities: Any = (0.5, 0.25), n: int = 2) -> Log:
    people = [{"age": 31, "country": "SE"}, {"age": 44, "country": "FI"}][:n]
    contexts = PROBLEM.contexts(people, PRICES, [["blue", "red"], ["green"]][:n])
    chosen, costs = ["blue", "green"][:n], [0.0, 2.5][:n]
    given = propensities if isinstance(propensities, str) else list(propensities)[:n]
    return PROBLEM.log(contexts, chosen, costs, given, epoch=2, rounds=[7, 9][:n], passive=None)


EXPECTED = [
    {
        "context.age": 31.0,
        "context.country=NO": 0.0,
        "context.country=SE": 1.0,
        "context.country=other": 0.0,
        "action_features": [{"price": 1.0, "size": 2.0}, {"price": 3.0, "size": 4.0}],
        "eligible": ["red", "blue"],
        "action": "blue",
        "propensity": 0.5,
        "reward": 0.0,
        "phase": "policy",
        "epoch": 2,
        "round": 7,
    },
    {
        "context.age": 44.0,
        "context.country=NO": 0.0,
        "context.country=SE": 0.0,
        "context.country=other": 1.0,
        "action_features": [{"price": 5.0, "size": 6.0}],
        "eligible": ["green"],
        "action": "green",
        "propensity": 0.25,
        "reward": 2.5,
        "phase": "policy",
        "epoch": 2,
        "round": 9,
    },
]


def records(table: Tabular) -> list[list[dict[str, Any]]]:
    """The rows by each library."""
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    return [
        table.to_pandas().to_dict(orient="records"),
        table.to_polars().to_dicts(),
        table.to_arrow().to_pylist(),
    ]


def test_a_log_is_in_labels_and_in_the_problems_units_in_every_library() -> None:
    for rows in records(a_log()):
        assert rows == EXPECTED
        assert list(rows[0]) == list(EXPECTED[0])


def test_an_unknown_propensity_is_missing_and_uniform_play_is_passive() -> None:
    by_pandas, by_polars, by_arrow = records(a_log("unknown"))
    assert np.isnan(by_pandas[0]["propensity"])
    assert by_polars[0]["propensity"] is None
    assert by_arrow[1]["propensity"] is None
    assert [row["phase"] for row in by_arrow] == ["policy", "policy"]
    assert [row["phase"] for row in a_log("uniform").to_arrow().to_pylist()] == ["passive", "passive"]


def test_a_table_without_rows_has_the_same_kinds_of_columns() -> None:
    some, none = a_log(), a_log(n=0)
    assert none.to_arrow().schema == some.to_arrow().schema
    assert none.to_polars().schema == some.to_polars().schema
    assert list(none.to_pandas()) == list(some.to_pandas())
    assert none.to_pandas().dtypes.to_dict() == some.to_pandas().dtypes.to_dict()


def test_without_a_mask_all_actions_are_eligible() -> None:
    problem = Problem([1, 2])
    log = problem.log(problem.contexts(n=2), [2, 1], [0, 1], "uniform")
    for rows in records(log):
        assert [row["eligible"] for row in rows] == [[1, 2], [1, 2]]
        assert [row["action"] for row in rows] == [2, 1]
        assert "action_features" not in rows[0]


class Ragged(Tabular):
    def columns(self) -> dict[str, Column]:
        some = np.array([2, 0, 1])
        structs = {"left": np.array([1.0, 2.0, np.nan]), "right": label_column(["a", "b", "c"])}
        return {"plain": Lists(np.array([1, 2, 3]), some), "structs": Lists(structs, some)}


def test_lists_may_be_empty_and_hold_what_is_missing() -> None:
    by_pandas, by_polars, by_arrow = records(Ragged())
    assert by_polars == by_arrow
    assert [row["plain"] for row in by_pandas] == [row["plain"] for row in by_arrow] == [[1, 2], [], [3]]
    assert [len(row["structs"]) for row in by_pandas] == [2, 0, 1]
    assert by_arrow[2]["structs"] == [{"left": None, "right": "c"}]


def test_rows_without_a_problem_have_no_labels_to_show() -> None:
    log = replace(a_log(), problem=None)
    with pytest.raises(ValueError, match=r"the log has no problem, .* give it the one it belongs to"):
        log.to_pandas()


def test_decisions_have_ids_labels_and_phases() -> None:
    batch = Bandit(["a", "b"], learner=Uniform(), seed=1).decide_many(n=3, event_ids=["x", "y\0", "z"])
    for rows in records(batch):
        assert [row["event_id"] for row in rows] == ["x", "y\0", "z"]
        assert [row["action"] for row in rows] == list(batch.action)
        assert {row["propensity"] for row in rows} == {0.5}
        assert list(rows[0]) == ["event_id", "action", "propensity", "phase", "epoch", "round"]
        assert [row["round"] for row in rows] == [0, 1, 2]


def test_a_trace_has_a_row_for_each_replication_and_checkpoint() -> None:
    trace = simulate(Uniform(), StepExample(), 50, n_replications=2, checkpoints=[10, 20])
    for rows in records(trace):
        assert [(row["replication"], row["round"]) for row in rows] == [
            (replication, round_) for replication in (0, 1) for round_ in (10, 20, 50)
        ]
        for name in ("regret", "regret_per_round", "reward", "reward_per_round", "least_propensity"):
            assert [row[name] for row in rows] == getattr(trace, name).ravel().tolist()


class Colour(Enum):
    RED = 1


class Tone(str, Enum):  # noqa: UP042 - as users write it
    DARK = "dark"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["a", np.str_("b"), Tone.DARK], ["a", "b", "dark"]),
        ([1, np.int64(2)], [1, 2]),
        ([2**70, 1], [str(2**70), "1"]),
        ([0.5, np.float64(1.5)], [0.5, 1.5]),
        ([True, np.False_], [True, False]),
        ([True, 2], ["True", "2"]),
        ([1, "1"], ["1", "'1'"]),
        ([None, ("a", 1), Colour.RED], ["None", "('a', 1)", "Colour.RED"]),
        ([], []),
    ],
)
def test_labels_keep_their_kind_or_become_text(labels: list[Any], expected: list[Any]) -> None:
    column = label_column(labels).tolist()
    assert column == expected
    assert [type(label) for label in column] == [type(label) for label in expected]


@pytest.mark.parametrize(
    ("method", "library", "extra"),
    [
        ("to_pandas", "pandas", "pandas"),
        ("to_polars", "polars", "polars"),
        ("to_arrow", "pyarrow", "arrow"),
    ],
)
def test_a_library_that_is_not_installed_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, method: str, library: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    told = rf'{method} needs {library}; install it: pip install "gyrfalcon\[{extra}\]"\.'
    with pytest.raises(ImportError, match=told):
        getattr(a_log(), method)()
