"""Feedback dicts of the Open Bandit Pipeline, to tables and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.logs import obp_feedback, open_bandit_data, table_from_obp
from tests.open_bandit_data import needed

RNG = np.random.default_rng(0)
PI_B = RNG.dirichlet(np.ones(3), size=(5, 2)).transpose(0, 2, 1)
FEEDBACK: dict[str, Any] = {
    "n_rounds": 5,
    "n_actions": 3,
    "context": RNG.standard_normal((5, 2)),
    "action_context": RNG.standard_normal((3, 4)),
    "action": np.array([0, 2, 1, 1, 0]),
    "position": np.array([0, 1, 0, 1, 1]),
    "reward": np.array([0.0, 1.0, 0.0, 0.0, 1.0]),
    "expected_reward": RNG.random((5, 3)),
    "pi_b": PI_B,
    "pscore": PI_B[np.arange(5), [0, 2, 1, 1, 0], [0, 1, 0, 1, 1]],
}


def test_a_dict_with_positions_is_a_table_with_their_indicators() -> None:
    table = table_from_obp(FEEDBACK)
    assert table.features == ("position=0", "position=1", "x0", "x1")
    assert table.contexts.shared[:, 1].tolist() == [0.0, 1.0, 0.0, 1.0, 1.0]
    assert table.action_features == ("a0", "a1", "a2", "a3")
    assert table.distribution is not None
    chosen = table.distribution[np.arange(5), table.action]
    np.testing.assert_array_equal(chosen, table.propensity)
    np.testing.assert_allclose(table.distribution.sum(axis=1), 1.0)


def test_back_and_forth() -> None:
    again = obp_feedback(table_from_obp(FEEDBACK))
    assert list(again) == list(FEEDBACK)
    for key in (
        "n_rounds",
        "n_actions",
        "context",
        "action_context",
        "action",
        "position",
        "reward",
        "pscore",
    ):
        np.testing.assert_array_equal(again[key], FEEDBACK[key], key)
    rows = np.arange(5)
    np.testing.assert_array_equal(
        again["pi_b"][rows, :, FEEDBACK["position"]], PI_B[rows, :, FEEDBACK["position"]]
    )
    assert again["expected_reward"] is None


def test_one_position_is_none() -> None:
    feedback = {
        **FEEDBACK,
        "position": None,
        "pi_b": PI_B[:, :, :1],
        "pscore": PI_B[np.arange(5), FEEDBACK["action"], 0],
    }
    table = table_from_obp(feedback, actions=["a", "b", "c"], features=["u", "v"])
    assert table.actions == ("a", "b", "c")
    assert table.features == ("u", "v")
    again = obp_feedback(table)
    assert again["position"] is None
    np.testing.assert_array_equal(again["pi_b"], feedback["pi_b"])


@pytest.mark.parametrize("policy", ["random", "bts"])
def test_the_open_bandit_data_as_feedback(policy: str) -> None:
    table = open_bandit_data(needed(), policy, "men")
    feedback = obp_feedback(table)
    assert np.bincount(feedback["position"]).min() > 3_000
    assert feedback["context"].shape == (10_000, len(table.features) - 3)
    again = table_from_obp(feedback)
    np.testing.assert_array_equal(again.contexts.shared, table.contexts.shared)
    np.testing.assert_array_equal(again.propensity, table.propensity)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"actions": 3}, r"the feedback has 'actions'; did you mean .*'action'"),
        ({"action": None}, r"the feedback has no 'action'; give it"),
        ({"action": [0, 1, 2, 3, 0]}, r"row 3: action is 3; give numbers from 0 to 2"),
        ({"action": [0, 1, 0.5, 1, 0]}, r"row 2: action is 0\.5; give whole numbers"),
        ({"reward": [1.0]}, r"reward has shape \(1,\); give \(5\)"),
        ({"context": np.zeros(5)}, r"context has shape \(5,\); give \(5, any\)"),
        ({"action_context": np.zeros((2, 2))}, r"action_context has shape \(2, 2\); give \(3, any\)"),
        ({"pi_b": PI_B[:, :, :1]}, r"pi_b has shape \(5, 3, 1\); give \(5, 3, 2\)"),
        ({"position": [0, 0, -1, 0, 0]}, r"row 2: position is -1\.0"),
    ],
)
def test_wrong_dicts_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        table_from_obp({**FEEDBACK, **changes})


def test_what_a_dict_cannot_say_is_refused() -> None:
    table = DecisionTable.of(
        actions=["a", "b"], action=["a", "b"], reward=[1.0, np.nan], propensity=[0.5, 0.5]
    )
    with pytest.raises(ValueError, match="row 1: there is no reward, and the format has no way to say so"):
        obp_feedback(table)
    cube = np.zeros((5, 3, 4))
    cube[3, 1, 2] = 1.0
    given = table_from_obp(FEEDBACK)
    assert given.contexts.actions is not None
    given.contexts.actions[...] = cube
    with pytest.raises(ValueError, match="row 3: features of actions are others than in row 0"):
        obp_feedback(given)
