"""Lines of dsjson as Vowpal Wabbit's services write them: what is read of each, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.logs import read_log, write_log

LINE: dict[str, Any] = {
    "_label_cost": -1.5,
    "_label_probability": 0.8,
    "_label_Action": 2,
    "_labelIndex": 1,
    "o": [{"v": 1.5, "EventId": "e1", "ActionTaken": False}],
    "Timestamp": "2024-05-31T12:00:00.2500000Z",
    "Version": "1",
    "EventId": "e1",
    "a": [2, 1],
    "c": {
        "User": {"age": 31, "country": "NO", "member": True, "_ignored": 3},
        "_multi": [
            {"Article": {"id": "sport", "topic": "a", "length": 2.5}},
            {"Article": {"id": "news", "topic": "a", "length": 1}},
        ],
    },
    "p": [0.8, 0.2],
    "VWState": {"m": "model/1"},
}


def read(tmp_path: Path, *lines: dict[str, Any], **options: Any) -> DecisionTable:
    path = tmp_path / "log.json"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return read_log(path, **options)


def without(*names: str, **changes: Any) -> dict[str, Any]:
    return {name: value for name, value in {**LINE, **changes}.items() if name not in names}


def test_a_line_of_a_service(tmp_path: Path) -> None:
    table = read(tmp_path, LINE)
    assert table.actions == ("sport", "news")
    assert table.action.tolist() == [1]
    assert table.reward.tolist() == [1.5]
    assert table.propensity.tolist() == [0.8]
    assert table.distribution is not None
    assert table.distribution.tolist() == [[0.2, 0.8]]
    assert table.features == ("age", "member", "country=NO")
    assert table.contexts.shared.tolist() == [[31.0, 1.0, 1.0]]
    assert table.action_features == ("length", "topic=a")
    assert table.contexts.actions is not None
    assert table.contexts.actions.tolist() == [[[2.5, 1.0], [1.0, 1.0]]]
    assert table.event_id is not None
    assert table.model is not None
    assert table.time is not None
    assert (table.event_id[0], table.model[0], table.time[0]) == ("e1", "model/1", 1717156800.25)
    assert table.defaulted is not None
    assert not table.defaulted[0]


def test_costs_stay_costs_on_request(tmp_path: Path) -> None:
    table = read(tmp_path, LINE, cost=True)
    assert table.cost
    assert table.reward.tolist() == [-1.5]


@pytest.mark.parametrize(
    ("action", "labels"),
    [("position", (1, 2)), ("Article.id", ("sport", "news")), ("auto", ("sport", "news"))],
)
def test_actions_are_called_as_requested(tmp_path: Path, action: str, labels: tuple[object, ...]) -> None:
    assert read(tmp_path, LINE, action=action).actions == labels


def test_tags_come_first(tmp_path: Path) -> None:
    multi = [{"_tag": "7", "f": {"id": "a"}}, {"_tag": "8", "f": {"id": "b"}}]
    line = without(c={"_multi": multi})
    table = read(tmp_path, line)
    assert table.actions == (7, 8)
    assert table.action_features == ("id=a", "id=b")
    with pytest.raises(ValueError, match=r"action is 'f\.name', which does not tell the actions .*'f\.id'"):
        read(tmp_path, line, action="f.name")
    with pytest.raises(ValueError, match="some actions have no tag"):
        read(tmp_path, LINE, action="tag")


def test_fewer_actions_are_fewer_eligible_ones(tmp_path: Path) -> None:
    shorter = without(c={"_multi": LINE["c"]["_multi"][1:]}, _label_Action=1, _labelIndex=0, a=[1], p=[1.0])
    table = read(tmp_path, LINE, shorter)
    assert table.eligible.tolist() == [[True, True], [False, True]]
    assert table.action.tolist() == [1, 1]
    assert table.contexts.shared[1].tolist() == [0.0, 0.0, 0.0]


def test_a_default_is_a_line_without_an_observation_where_others_have_one(tmp_path: Path) -> None:
    table = read(tmp_path, LINE, without("o", _label_cost=0))
    assert table.defaulted is not None
    assert table.defaulted.tolist() == [False, True]
    assert read(tmp_path, without("o")).defaulted is None


def test_observations_of_their_own_join_their_decision_or_are_late(tmp_path: Path) -> None:
    open_one = without("_label_cost", "o", EventId="e2")
    early = {"RewardValue": 3.0, "EventId": "e2", "Observations": [{"v": 1.0, "EventId": "e2"}]}
    late = {"Observations": [{"v": "text"}, {"v": 5, "EventId": "e1"}], "EventId": "e1"}
    table = read(tmp_path, early, LINE, open_one, late)
    assert table.reward.tolist() == [1.5, 3.0]
    assert table.late is not None
    assert table.late.tolist() == [True, False]


def test_observations_without_a_decision_are_counted(tmp_path: Path) -> None:
    with pytest.warns(RuntimeWarning, match="1 observed rewards belong to no decision of the log"):
        read(tmp_path, LINE, {"RewardValue": 3.0, "EventId": "unknown"})


def test_decisions_that_were_not_shown_are_shadow(tmp_path: Path) -> None:
    table = read(tmp_path, LINE, without(_skipLearn=True))
    assert table.shadow is not None
    assert table.shadow.tolist() == [False, True]


def test_events_dropped_alike_are_read_and_others_refused(tmp_path: Path) -> None:
    assert len(read(tmp_path, without(pdrop=0.5), without(pdrop=0.5))) == 2
    with pytest.raises(ValueError, match=r"line 2: pdrop is 0\.25, and 0\.5 before"):
        read(tmp_path, without(pdrop=0.5), without(pdrop=0.25))
    assert len(read(tmp_path, without(pdrop=0.5), without(pdrop=0.25), pdrop="ignore")) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (without(_label_Action=3), r"line 2: _label_Action is 3, and `_multi` has 2 actions"),
        (without(c={"User": {}}), r"line 2: `c` has no actions in `_multi`"),
        (without(p=[0.1, 0.2, 0.7]), r"line 2: `a` is \[2, 1\] and `p` has 3 probabilities for 2 actions"),
        (without(a=[1, 1]), r"line 2: `a` is \[1, 1\]"),
        (without(_label_cost="free"), r"line 2: the decision can't be read .*'free'"),
        (without(Timestamp="noon"), r"line 2: the decision can't be read .*'noon'"),
        (without(_outcomes=[]), r"line 2: the decision is one of several slots"),
        (without("c"), r"line 2: the line has neither a decision .* nor an observation"),
    ],
)
def test_lines_that_cannot_be_read_are_named(tmp_path: Path, line: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(tmp_path, LINE, line)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"propensity": [0.5, np.nan]},
            r"row 1: the propensity is nan, which is not in \(0, 1\]; give it, or",
        ),
        ({"propensity": [0.5, 1.7]}, r"row 1: the propensity is 1\.7"),
        ({"action": ["x", "?"]}, r"row 1: the action is none of the table's"),
        ({"reward": [np.inf, 0.0]}, r"row 0: the reward is inf; give a finite one"),
        ({"actions": ["1", 1], "action": [1, 1]}, r"two actions are '1' as text"),
    ],
)
def test_rows_that_cannot_be_written_are_refused_and_nothing_is(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    given = {"actions": ["x", "y"], "action": ["x", "y"], "reward": [0.0, 1.0], "propensity": [0.5, 0.5]}
    path = tmp_path / "log.dsjson"
    path.write_text("before")
    with pytest.raises(ValueError, match=message):
        write_log(DecisionTable.of(**{**given, **changes}), path)
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["log.dsjson"]


def test_names_that_vowpal_wabbit_passes_over_are_refused(tmp_path: Path) -> None:
    table = DecisionTable.of(
        actions=["x"], action=["x"], reward=[0.0], propensity=[1.0], shared=[[1.0]], features=["_x"]
    )
    with pytest.raises(ValueError, match="the feature '_x' starts with _"):
        write_log(table, tmp_path / "log.dsjson")
