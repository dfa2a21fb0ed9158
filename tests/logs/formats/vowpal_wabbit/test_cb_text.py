"""Text of Vowpal Wabbit's contextual bandits: one line or a block of lines for each decision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.logs import read_log, write_log

PLAIN = """1:2:0.4 | a c
3:0.5:0.2 | b:2 d
| a
2:1:0.2 first|user age:31 city=Oslo |site:2 x:0.5
"""
BLOCKS = """shared | s_1 s_2:3
0:1.0:0.5 | a_1 b_1:2
| a_2

| a_1
0:0.0:0.25 | a_2
"""


def read(tmp_path: Path, text: str, **options: Any) -> DecisionTable:
    path = tmp_path / "log.vw"
    path.write_text(text)
    return read_log(path, **options)


def test_lines_with_numbered_actions(tmp_path: Path) -> None:
    table = read(tmp_path, PLAIN, cost=True)
    assert table.actions == (1, 2, 3)
    assert table.action.tolist() == [0, 2, -1, 1]
    np.testing.assert_array_equal(table.reward, [2.0, 0.5, np.nan, 1.0])
    np.testing.assert_array_equal(table.propensity, [0.4, 0.2, np.nan, 0.2])
    assert table.features == ("a", "c", "b", "d", "user.age", "site.x", "user.city=Oslo")
    assert table.contexts.shared[3].tolist() == [0.0, 0.0, 0.0, 0.0, 31.0, 1.0, 1.0]
    assert table.contexts.shared[1].tolist() == [0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0]


def test_more_actions_than_occur(tmp_path: Path) -> None:
    assert read(tmp_path, PLAIN, n_actions=5).n_actions == 5
    with pytest.raises(ValueError, match="has action 3, and n_actions is 2; give at least 3"):
        read(tmp_path, PLAIN, n_actions=2)


def test_blocks_with_a_line_for_each_action(tmp_path: Path) -> None:
    table = read(tmp_path, BLOCKS)
    assert table.actions == (1, 2)
    assert table.action.tolist() == [0, 1]
    assert table.reward.tolist() == [-1.0, 0.0]
    assert table.features == ("s_1", "s_2")
    assert table.contexts.shared.tolist() == [[1.0, 3.0], [0.0, 0.0]]
    assert table.action_features == ("a_1", "b_1", "a_2")
    assert table.contexts.actions is not None
    assert table.contexts.actions[0].tolist() == [[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]


def test_blocks_without_a_shared_line(tmp_path: Path) -> None:
    table = read(tmp_path, BLOCKS.split("\n", 1)[1])
    assert len(table) == 2
    assert table.contexts.shared.shape == (2, 0)


def test_indicators_and_tags_name_actions(tmp_path: Path) -> None:
    assert read(tmp_path, "shared |\n0:1:0.5 |x id=red\n|x id=blue\n").actions == ("red", "blue")
    assert read(tmp_path, "shared |\n0:1:0.5 'red|x p:1\n'blue|x p:2\n").actions == ("red", "blue")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1:2:0.5 a", r"log\.vw, line 1: there is no bar"),
        ("1:2 | a", r"line 1: the label is '1:2'; give action:cost:probability"),
        ("0:2:0.5 | a", r"line 1: the action is 0; give numbers from 1 on"),
        ("1:2:0.5 | a:b", r"line 1: 'b' is not a number; give feature:number"),
        ("1:2:0.5 2:1:0.5 | a", r"line 1: 2 actions have a cost"),
        ("shared | a\n\n| b\n", r"line 1: the block has no actions"),
        ("shared | a\n0:1:1 | b\n0:1:1 | c\n", r"line 3: a second action has a cost"),
        ("shared | a\n| b\nshared | c\n", r"line 3: the shared line comes after actions"),
    ],
)
def test_lines_that_cannot_be_read_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text)


def test_names_with_signs_of_the_format_are_written_in_numbers(tmp_path: Path) -> None:
    table = DecisionTable.of(
        actions=["a b", "c"],
        action=["a b"],
        reward=[1.0],
        propensity=[0.5],
        shared=[[2.0]],
        features=["New York: 5|6%"],
    )
    write_log(table, tmp_path / "log.txt")
    assert (tmp_path / "log.txt").read_text() == "1:-1.0:0.5 |context New%20York%3A%205%7C6%25:2.0\n"
    assert read_log(tmp_path / "log.txt").features == ("New York: 5|6%",)
