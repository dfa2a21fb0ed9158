from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import Decisions, Log


def a_log(n: int, *, actions: bool = False, masked: bool = False, seed: int = 0) -> Log:
    rng = np.random.default_rng(seed)
    mask = rng.random((n, 3)) < 0.5
    mask[:, 1] = True
    contexts = Contexts(
        rng.normal(size=(n, 2)), rng.normal(size=(n, 3, 4)) if actions else None, mask if masked else None
    )
    decisions = Decisions(
        np.full(n, 5), np.arange(n) + 10 * seed, rng.integers(0, 3, n), rng.random(n), rng.integers(0, 4, n)
    )
    return Log.of(contexts, decisions, rng.random(n))


def same(one: Log, other: Log) -> bool:
    def arrays(log: Log) -> list[object]:
        contexts = [log.contexts.shared, log.contexts.actions, log.contexts.eligible]
        return [*contexts, *(getattr(log, field.name) for field in fields(log)[1:])]

    return all(
        (a is None and b is None) or np.array_equal(a, b)  # type: ignore[arg-type]
        for a, b in zip(arrays(one), arrays(other), strict=True)
    )


kinds = pytest.mark.parametrize("actions", [False, True])
with_masks = pytest.mark.parametrize("masked", [False, True])


def test_a_log_is_its_decisions_and_their_rewards() -> None:
    epoch, round_, action = np.array([0, 1]), np.array([1, 2]), np.array([2, 3])
    decisions = Decisions(epoch, round_, action, np.array([0.5, 0.25]), np.array([0, 1]))
    log = Log.of(Contexts(np.zeros((2, 0))), decisions, np.array([1.0, 0.0]))
    assert (log.epoch.tolist(), log.round.tolist(), log.action.tolist()) == ([0, 1], [1, 2], [2, 3])
    assert (log.propensity.tolist(), log.component.tolist()) == ([0.5, 0.25], [0, 1])
    assert log.reward.tolist() == [1.0, 0.0]
    assert len(log) == len(decisions) == len(log.contexts) == 2


def test_odd_components_are_passive() -> None:
    log = a_log(8)
    assert np.array_equal(log.passive, np.isin(log.component, [1, 3]))


@kinds
@with_masks
def test_parts_of_a_log_make_the_log(actions: bool, masked: bool) -> None:
    log = a_log(9, actions=actions, masked=masked)
    first = np.arange(9) < 4
    assert same(Log.concat([log.where(first), log.where(~first)], 3), log)


@kinds
@with_masks
def test_where_keeps_rows_in_order(actions: bool, masked: bool) -> None:
    log = a_log(9, actions=actions, masked=masked)
    odd = log.where(np.arange(9) % 2 == 1)
    assert odd.round.tolist() == [1, 3, 5, 7]
    assert np.array_equal(odd.contexts.shared, log.contexts.shared[1::2])
    assert odd.contexts.shared.flags.c_contiguous
    assert (odd.contexts.actions is not None) is actions
    assert (odd.contexts.eligible is not None) is masked


@kinds
def test_no_rows_are_a_log_too(actions: bool) -> None:
    log = a_log(5, actions=actions, masked=True)
    none = log.where(np.zeros(5, dtype=np.bool_))
    assert len(none) == 0
    assert same(Log.concat([none, log, none], 3), log)


def test_rows_without_a_mask_are_all_eligible_beside_rows_with_one() -> None:
    free, masked = a_log(2), a_log(3, masked=True, seed=1)
    joined = Log.concat([free, masked], 3).contexts.eligible
    assert joined is not None
    assert masked.contexts.eligible is not None
    assert joined.tolist() == [[True] * 3] * 2 + masked.contexts.eligible.tolist()


def test_logs_without_masks_stay_without() -> None:
    assert Log.concat([a_log(2), a_log(3, seed=1)], 3).contexts.eligible is None


def test_one_log_is_itself() -> None:
    log = a_log(3)
    assert Log.concat([log], 3) is log


def test_action_features_of_only_some_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="give all or none"):
        Log.concat([a_log(2), a_log(3, actions=True)], 3)


def test_contexts_are_taken_by_slice_mask_or_number() -> None:
    contexts = a_log(6, actions=True, masked=True).contexts
    for rows in (slice(2, 4), np.isin(np.arange(6), [2, 3]), np.array([2, 3])):
        taken = contexts.take(rows)
        assert len(taken) == 2
        assert taken.actions is not None
        assert taken.eligible is not None
        assert np.array_equal(taken.shared, contexts.shared[2:4])
