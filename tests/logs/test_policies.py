from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gyrfalcon import EpsilonFalcon
from gyrfalcon.evaluation import evaluate
from gyrfalcon.evaluation.rows.evaluated_rows import evaluated_rows
from gyrfalcon.evaluation.rows.weighting import planned_uniform
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.logs import read_log, stored_policies, stored_policy
from tests.logs.helpers import played


@pytest.mark.parametrize(
    "learner", [None, EpsilonFalcon(epsilon=0.2)], ids=["default", "planned passive rows"]
)
def test_stored_policies_have_the_logged_distributions(tmp_path: Path, learner: Learner | None) -> None:
    """With eligible actions that change, and labels in the order in which the log has met them."""
    played(tmp_path, 400, learner=learner)
    rows = evaluated_rows(read_log(tmp_path))
    table, policies = rows.table, stored_policies(tmp_path)
    assert table.model is not None
    assert rows.distribution is not None
    assert set(table.model) <= set(policies)
    for model in sorted(set(table.model)):
        own = (table.model == model) & ~planned_uniform(rows)
        if own.any():
            assert np.allclose(policies[model](table.take(own)), rows.distribution[own], atol=1e-12)
    if learner is not None:
        assert planned_uniform(rows).sum() > 10


def test_a_log_is_evaluated_with_the_policies_that_it_stores(tmp_path: Path) -> None:
    bandit = played(tmp_path, 400)
    bandit.decide([0.0, 0.0])  # by the policy that rewards so far have led to
    table = read_log(tmp_path)
    assert table.model is not None
    greedy = stored_policy(tmp_path, table.model[-1][:12], greedy=True)
    policies = {"stored": greedy, "live": bandit.epoch.greedy, "uniform": "uniform"}
    with_them = evaluate(table, policies, logged_policies=stored_policies(tmp_path))
    without = evaluate(table, policies)
    assert with_them["stored"].value == with_them["live"].value
    assert with_them["uniform"].plain_value == without["uniform"].plain_value
    assert with_them["uniform"].weights.expected_rows != without["uniform"].weights.expected_rows


def test_policies_that_are_not_there_are_named(tmp_path: Path) -> None:
    played(tmp_path, 20)
    with pytest.raises(
        ValueError, match="has no policy whose hash starts with 'beef0'; give one of its policies"
    ):
        stored_policy(tmp_path, "beef0")
    assert stored_policies(tmp_path / "elsewhere") == {}
