from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gyrfalcon.evaluation.rows.evaluated_rows import evaluated_rows
from tests.evaluation.logs import log_of


def flags(n: int, *rows: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    marked = np.zeros(n, dtype=np.bool_)
    marked[list(rows)] = True
    return marked


def test_rows_that_cannot_be_used_are_set_aside_and_counted_once() -> None:
    table = log_of(10)
    reward, propensity, action = table.reward.copy(), table.propensity.copy(), table.action.copy()
    reward[[2, 3]], reward[4], propensity[5], propensity[6], action[7] = np.nan, np.inf, np.nan, 1.5, -1
    broken = replace(
        table,
        reward=reward,
        propensity=propensity,
        action=action,
        overridden=flags(10, 0, 2),
        shadow=flags(10, 1),
    )
    rows = evaluated_rows(broken)
    assert rows.set_aside == {
        "another action was shown": 2,
        "logged and never shown": 1,
        "unknown action": 1,
        "no reward": 1,
        "infinite reward": 1,
        "unknown propensity": 1,
        "impossible propensity": 1,
    }
    assert rows.places.tolist() == [8, 9]
    assert rows.missing_share == pytest.approx(1 / 3)
    assert evaluated_rows(broken, propensities=False).places.tolist() == [5, 6, 8, 9]


def test_actions_that_were_not_eligible_are_set_aside() -> None:
    table = log_of(6)
    eligible = np.ones((6, 3), dtype=np.bool_)
    eligible[4, table.action[4]] = False
    masked = replace(table, contexts=replace(table.contexts, eligible=eligible))
    assert evaluated_rows(masked).set_aside == {"ineligible action": 1}
    assert evaluated_rows(masked).places.tolist() == [0, 1, 2, 3, 5]


def test_rows_come_in_the_order_of_their_times_where_all_are_known() -> None:
    table = replace(log_of(4), time=np.array([3.0, 1.0, 2.0, 0.0]))
    assert evaluated_rows(table).places.tolist() == [3, 1, 2, 0]
    assert evaluated_rows(table).table.rows.tolist() == [3, 1, 2, 0]
    unknown = replace(table, time=np.array([3.0, np.nan, 2.0, 0.0]))
    assert evaluated_rows(unknown).places.tolist() == [0, 1, 2, 3]


def test_distributions_that_contradict_the_propensity_count_as_unknown() -> None:
    table = log_of(3)
    assert table.distribution is not None
    wrong = table.distribution.copy()
    wrong[0] = [0.2, 0.2, 0.6]
    wrong[1] = [0.9, 0.9, -0.8]
    propensity = np.full(3, 0.25)
    given = np.tile([0.25, 0.25, 0.5], (3, 1))
    given[:, 2] = 0.5
    rows = evaluated_rows(
        replace(
            table,
            action=np.zeros(3, dtype=np.int64),
            propensity=propensity,
            distribution=np.stack([wrong[0], wrong[1], given[2]]),
        )
    )
    assert rows.known.tolist() == [False, False, True]


def test_distributions_follow_from_propensities_where_draws_were_uniform_or_between_two() -> None:
    table = replace(log_of(50), distribution=None)
    rows = evaluated_rows(table)
    assert rows.distribution is not None
    assert np.allclose(rows.distribution, 1 / 3)
    eligible = np.tile([True, True, False], (50, 1))
    action = np.arange(50) % 2
    propensity = np.where(action == 0, 0.2, 0.8)
    pairs = replace(
        table, action=action, propensity=propensity, contexts=replace(table.contexts, eligible=eligible)
    )
    implied = evaluated_rows(pairs).distribution
    assert implied is not None
    assert np.allclose(implied, [0.2, 0.8, 0.0])
    three = replace(table, propensity=np.full(50, 0.2))
    assert evaluated_rows(three).distribution is None


def test_fixed_shares_of_an_epoch_are_its_distribution() -> None:
    shares = np.array([0.5, 0.3, 0.2])
    first, second = log_of(300, propensities=shares), log_of(300, propensities=shares[::-1], seed=1)
    action = np.concatenate([first.action, second.action])
    table = replace(
        log_of(600),
        action=action,
        propensity=np.concatenate([first.propensity, second.propensity]),
        distribution=None,
        epoch=np.repeat([1, 2], 300),
    )
    found = evaluated_rows(table).distribution
    assert found is not None
    assert np.allclose(found, np.repeat([shares, shares[::-1]], 300, axis=0))
    assert evaluated_rows(replace(table, epoch=None)).distribution is None
    changed = replace(table, propensity=np.where(np.arange(600) == 7, 0.31, table.propensity))
    known = evaluated_rows(changed).known
    assert not known[:300].any()
    assert known[300:].all()


def test_propensities_that_nothing_drawn_can_have_are_set_aside() -> None:
    table = log_of(50)
    propensity = table.propensity.copy()
    propensity[[3, 8]] = [1e-300, 0.0]
    rows = evaluated_rows(replace(table, propensity=propensity, distribution=None))
    assert rows.set_aside == {"impossible propensity": 2}


def test_logs_without_a_usable_row_are_refused() -> None:
    table = log_of(4)
    with pytest.raises(ValueError, match="the log has no rows; give one with decisions"):
        evaluated_rows(table.take(slice(0, 0)))
    with pytest.raises(ValueError, match="4 of 4 rows have no propensity, and no other can be used"):
        evaluated_rows(replace(table, propensity=np.full(4, np.nan)))
    with pytest.raises(ValueError, match=r"none of 4 rows can be used \(no reward: 4\)"):
        evaluated_rows(replace(table, reward=np.full(4, np.nan)))
