"""Every kind of fault is planted into a log without faults, and found with exactly its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation import check_log
from tests.evaluation.checks.logs import experiment

CLEAN = experiment()
CLEAN_CHECK = check_log(CLEAN)
ROWS = np.array([7, 70, 701])
LEARNED = np.flatnonzero((CLEAN.epoch == 4) & ~np.asarray(CLEAN.passive) & CLEAN.eligible.all(axis=1))[
    [3, 30]
]
Plant = Callable[[DecisionTable], DecisionTable]


def with_values(name: str, value: Any, rows: Any = ROWS) -> Plant:
    """Put a value into some rows of a column."""

    def plant(table: DecisionTable) -> DecisionTable:
        column = np.array(getattr(table, name))
        if isinstance(value, float) and column.dtype.kind in "iu":
            column = column.astype(float)
        column[rows] = value(column[rows]) if callable(value) else value
        changes: dict[str, Any] = {name: column}
        return replace(table, **changes)

    return plant


def without_distribution(plant: Plant) -> Plant:
    return lambda table: plant(replace(table, distribution=None))


def chances(change: Callable[[Any], None]) -> Plant:
    """Change distributions in the planted rows, whose propensity stays theirs."""

    def plant(table: DecisionTable) -> DecisionTable:
        assert table.distribution is not None
        distribution = table.distribution.copy()
        part = distribution[ROWS]
        change(part)
        distribution[ROWS] = part
        return replace(table, distribution=distribution)

    return plant


def of_another_action(table: DecisionTable) -> DecisionTable:
    """The propensity is the probability of the next action."""
    assert table.distribution is not None
    others = table.distribution[LEARNED, (table.action[LEARNED] + 1) % 3]
    return with_values("propensity", others, LEARNED)(table)


def never_logged(part: Any) -> None:
    """An action that was not logged there was not eligible, and has its probability."""
    part[np.arange(len(part)), (CLEAN.action[ROWS] + 1) % 2] = False


def contexts(**parts: Any) -> Plant:
    return lambda table: replace(table, contexts=replace(table.contexts, **parts))


def shared(value: float) -> Any:
    column = CLEAN.contexts.shared.copy()
    column[ROWS, 1] = value
    return column


def cube(value: float) -> Any:
    values = np.array(CLEAN.contexts.actions)
    values[ROWS, 0, 0] = value
    return values


def eligible(change: Callable[[Any], None]) -> Any:
    mask = CLEAN.eligible.copy()
    part = mask[ROWS]
    change(part)
    mask[ROWS] = part
    return mask


def logged_out(part: Any) -> None:
    part[np.arange(len(part)), CLEAN.action[ROWS]] = False


def none_left(part: Any) -> None:
    part[:] = False


def copied(table: DecisionTable, change: Plant | None = None) -> DecisionTable:
    """The log with its row 70 once more in row 701."""
    order = np.arange(len(table))
    order[701] = 70
    table = replace(table.take(order), source_row=None)
    return table if change is None else change(table)


PASSIVE = np.flatnonzero(CLEAN.passive)[[5, 30]]  # type: ignore[arg-type]
REWARDED = np.flatnonzero(~np.isnan(CLEAN.reward) & ~np.asarray(CLEAN.defaulted))[[5, 50, 500]]
DEFAULTED = np.flatnonzero(np.asarray(CLEAN.defaulted))[[2]]

FAULTS: dict[str, tuple[str, Plant, Any]] = {
    "zero": ("propensity_zero", without_distribution(with_values("propensity", 0.0)), ROWS),
    "negative": ("propensity_negative", without_distribution(with_values("propensity", -0.25)), ROWS),
    "above one": ("propensity_above_one", without_distribution(with_values("propensity", 1.7)), ROWS),
    "percentage": ("propensity_above_one", with_values("propensity", lambda p: 100.0 * p), ROWS),
    "no propensity": ("propensity_missing", with_values("propensity", np.nan), ROWS),
    "infinite": ("propensity_infinite", with_values("propensity", np.inf), ROWS),
    "minus infinity": ("propensity_infinite", with_values("propensity", -np.inf), ROWS),
    "not the entry": ("propensity_mismatch", with_values("propensity", lambda p: 0.9 * p), ROWS),
    "entry of another action": ("propensity_mismatch", of_another_action, LEARNED),
    "sum": ("distribution_sum", chances(lambda part: np.multiply(part, 1.01, out=part)), ROWS),
    "negative entry": (
        "distribution_negative",
        chances(lambda part: part.__isub__(np.array([0.0, 1.0, 0.0]))),
        ROWS,
    ),
    "missing entry": ("distribution_missing", chances(lambda part: part.__setitem__((..., 0), np.nan)), ROWS),
    "infinite entry": (
        "distribution_infinite",
        chances(lambda part: part.__setitem__((..., 1), np.inf)),
        ROWS,
    ),
    "chance of an ineligible action": (
        "distribution_ineligible",
        contexts(eligible=eligible(never_logged)),
        ROWS,
    ),
    "unknown action": ("action_unknown", with_values("action", -1), ROWS),
    "position out of bounds": ("action_unknown", with_values("action", 3), ROWS),
    "not eligible": ("action_ineligible", contexts(eligible=eligible(logged_out)), ROWS),
    "none eligible": ("no_eligible_action", contexts(eligible=eligible(none_left)), ROWS),
    "no event id": ("event_id_missing", with_values("event_id", None), ROWS),
    "empty event id": ("event_id_missing", with_values("event_id", " "), ROWS),
    "event again": ("event_repeated", copied, [701]),
    "event again, rewarded otherwise": (
        "event_conflicting",
        lambda table: copied(table, with_values("reward", 0.123, [701])),
        [70, 701],
    ),
    "same id for other events": ("event_conflicting", with_values("event_id", "same"), ROWS),
    "infinite reward": ("reward_infinite", with_values("reward", np.inf), ROWS),
    "out of range": ("reward_out_of_range", with_values("reward", 1.5), ROWS),
    "below the range": ("reward_out_of_range", with_values("reward", -0.5), ROWS),
    "flipped": ("reward_sign", with_values("reward", np.negative, slice(None)), None),
    "reward first": (
        "reward_before_decision",
        lambda table: with_values("reward_time", np.asarray(table.time)[REWARDED] - 60.0, REWARDED)(table),
        REWARDED,
    ),
    "reward in milliseconds": ("reward_time_unit", with_values("reward_time", 1.7e12, REWARDED), REWARDED),
    "no time": ("time_missing", with_values("time", np.nan), ROWS),
    "time back": ("time_backwards", with_values("time", lambda t: t - 1e4, [701]), [701]),
    "time ahead": ("time_backwards", with_values("time", lambda t: t + 1e6, [70]), [70]),
    "milliseconds": ("time_unit", with_values("time", lambda t: 1000.0 * t), ROWS),
    "milliseconds from here": (
        "time_unit",
        with_values("time", lambda t: 1000.0 * t, slice(900, None)),
        range(900, 1000),
    ),
    "all milliseconds": (
        "time_not_in_seconds",
        with_values("time", lambda t: 1000.0 * t, slice(None)),
        range(1000),
    ),
    "unsorted": ("time_unsorted", with_values("time", lambda t: t[::-1], slice(None)), None),
    "milliseconds of a clock from 0": (
        "time_unit",
        lambda table: replace(
            table,
            time=np.where(np.arange(1000) < 700, 1.0, 1000.0) * (np.arange(1000) + 1.0),
            reward_time=None,
        ),
        range(700, 1000),
    ),
    "round again": ("round_repeated", with_values("round", 69, [70]), [70]),
    "round lost": (
        "rounds_missing",
        lambda table: replace(table.take(np.delete(np.arange(1000), range(300, 320))), source_row=None),
        [300],
    ),
    "epoch back": ("epoch_backwards", with_values("epoch", 1, [701]), [701]),
    "epoch ahead": ("epoch_backwards", with_values("epoch", 9, [70]), [70]),
    "two policies": ("epoch_with_two_models", with_values("model", "hash1", [701]), [701]),
    "two epochs": (
        "model_with_two_epochs",
        with_values("model", "hash3", slice(750, None)),
        None,
    ),
    "no feature": ("feature_missing", contexts(shared=shared(np.nan)), ROWS),
    "infinite feature": ("feature_infinite", contexts(shared=shared(-np.inf)), ROWS),
    "no feature of an action": ("feature_missing", contexts(actions=cube(np.nan)), ROWS),
    "infinite feature of an action": ("feature_infinite", contexts(actions=cube(np.inf)), ROWS),
    "code for unknown": ("feature_far", contexts(shared=shared(-999.0)), ROWS),
    "unknown price": ("feature_far", contexts(actions=cube(1e6)), ROWS),
    "constant feature": (
        "feature_constant",
        contexts(shared=np.column_stack([CLEAN.contexts.shared[:, 0], np.full(1000, 3.0)])),
        range(1000),
    ),
    "no rewards": ("reward_missing", with_values("reward", np.nan, slice(None)), None),
    "default of another value": ("default_reward_differs", with_values("reward", 0.4, DEFAULTED), DEFAULTED),
    "late and counted": (
        "late_reward_counted",
        with_values("late", True, REWARDED),
        REWARDED,
    ),
    "defaults of any value": (
        "default_reward_differs",
        lambda table: replace(table, defaulted=np.isin(np.arange(1000), REWARDED), late=None),
        REWARDED,
    ),
    "no epoch": (
        "epoch_missing",
        lambda table: with_values("epoch", np.nan)(
            replace(table, epoch=np.asarray(table.epoch, dtype=float))
        ),
        ROWS,
    ),
    "reward without a time": ("reward_time_missing", with_values("reward_time", np.nan, REWARDED), REWARDED),
    "neither 0 nor 1": (
        "reward_uncommon",
        lambda table: with_values("reward", 2.0)(
            replace(
                table, reward=np.tile([0.0, 1.0], 500), reward_range=None, defaulted=None, overridden=None
            )
        ),
        ROWS,
    ),
    "overridden": ("overridden_with_reward", with_values("overridden", True, REWARDED), REWARDED),
    "shadow": ("shadow_with_reward", with_values("shadow", True, REWARDED), REWARDED),
    "passive": (
        "passive_not_uniform",
        without_distribution(with_values("propensity", 0.9, PASSIVE)),
        PASSIVE,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_with_its_rows_and_no_other(name: str) -> None:
    kind, plant, rows = FAULTS[name]
    assert not CLEAN_CHECK.of_kind(kind) or kind == "reward_missing"
    check = check_log(plant(CLEAN))
    (finding,) = check.of_kind(kind)
    if rows is not None:
        assert finding.rows.tolist() == list(rows)
        if finding.severity == "error":
            # A fault may show in several ways, but not in other rows.
            assert set().union(*(one.rows.tolist() for one in check.errors)) == set(rows)
            assert not check.usable[list(rows)].any()
            assert check.n_set_aside == len(rows)


@pytest.mark.parametrize("name", FAULTS)
def test_usable_rows_have_no_fault_that_sets_rows_aside(name: str) -> None:
    planted = FAULTS[name][1](CLEAN)
    check = check_log(planted)
    good, bad = check.set_aside(planted)
    assert len(good) + len(bad) == len(planted)
    assert sorted([*good.rows.tolist(), *bad.rows.tolist()]) == planted.rows.tolist()
    again = check_log(good)
    assert not any(one.sets_aside for one in again.findings), str(again)


def test_there_are_many_kinds_of_them() -> None:
    assert len({kind for kind, _, _ in FAULTS.values()}) >= 35
