"""Real logs of two policies: what one says of the other is what that one earned, or is not trusted."""

from __future__ import annotations

import numpy as np
import pytest

from gyrfalcon.core.arrays import Ints
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation import check_log, evaluate
from gyrfalcon.logs import open_bandit_data
from tests.open_bandit_data import needed

CAMPAIGNS = ("all", "men", "women")


def positions(table: DecisionTable) -> Ints:
    columns = [table.features.index(f"position={number}") for number in (1, 2, 3)]
    return np.asarray(table.contexts.shared[:, columns].argmax(axis=1), dtype=np.int64)


@pytest.mark.parametrize("campaign", CAMPAIGNS)
def test_the_random_log_passes_and_says_what_thompson_sampling_earned(campaign: str) -> None:
    random, bts = (open_bandit_data(needed(), policy, campaign) for policy in ("random", "bts"))
    assert check_log(random).passed
    counts = np.zeros((3, bts.n_actions))
    np.add.at(counts, (positions(bts), bts.action), 1.0)
    shares = counts / counts.sum(axis=1, keepdims=True)
    value = evaluate(random, {"bts": shares[positions(random)]})["bts"]
    assert value.verdict.level == "trust"
    assert value.interval.low < bts.reward.mean() < value.interval.high


@pytest.mark.parametrize("estimator", ["dr", "snips", "ips", "switch", "dros"])
def test_one_row_of_a_millionth_is_not_trusted_whatever_the_estimator(estimator: str) -> None:
    women = open_bandit_data(needed(), "bts", "women")
    found = evaluate(women, {"uniform": "uniform"}, estimator=estimator)["uniform"]
    assert found.verdict.level == "do not trust"
    (reason,) = [one for one in found.verdict.reasons if one.check == "mean weight"]
    assert reason.level == "do not trust"
    assert "3.13" in reason.text
