"""Random tables of decisions, and their comparison where a format keeps only a part of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable

NUMBERS = st.floats(-1e6, 1e6).map(lambda x: x + 0.0)  # a zero without its sign
NAMES = st.text("abcxyz .:|=%é-", min_size=1, max_size=5)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
COLUMNS = (
    *("event_id", "time", "reward_time", "epoch", "round", "passive", "model", "experiment", "defaulted"),
    *("late", "overridden", "shadow"),
)


@st.composite
def decision_tables(
    draw: st.DrawFn,
    columns: Collection[str] = COLUMNS,
    labels: st.SearchStrategy[Any] = TEXTS,
    names: st.SearchStrategy[str] = NAMES,
    min_rows: int = 0,
) -> DecisionTable:
    """A table of valid decisions with some of the optional columns."""
    n = draw(st.integers(min_rows, 5))
    n_actions = draw(st.integers(1, 4))
    actions = draw(st.lists(labels, min_size=n_actions, max_size=n_actions, unique_by=str))
    features = draw(st.lists(names, max_size=3, unique=True))
    own = draw(st.lists(names, max_size=2, unique=True))
    eligible = _floats(draw, (n, n_actions), st.booleans()).astype(bool)
    eligible[np.arange(n), draw(_ints(n, n_actions))] = True
    if draw(st.booleans()):
        eligible[:] = True
    action = np.array(
        [draw(st.sampled_from(np.flatnonzero(row).tolist())) for row in eligible], dtype=np.int64
    )
    cube = _floats(draw, (n, n_actions, len(own)), NUMBERS) * eligible[:, :, None] if own and n else None
    shares = np.where(eligible, 1.0 + _floats(draw, (n, n_actions), st.floats(0.0, 1.0)), 0.0)
    shares /= shares.sum(axis=1, keepdims=True)
    optional = {name: _column(draw, name, n) for name in columns if draw(st.booleans())}
    return DecisionTable(
        actions=tuple(actions),
        contexts=Contexts(
            _floats(draw, (n, len(features)), NUMBERS), cube, None if eligible.all() else eligible
        ),
        action=action,
        reward=_floats(draw, (n,), NUMBERS | st.just(np.nan)),
        propensity=shares[np.arange(n), action],
        distribution=shares if draw(st.booleans()) and n else None,
        features=tuple(features),
        action_features=tuple(own) if cube is not None else (),
        **optional,
    )


def _floats(draw: st.DrawFn, shape: tuple[int, ...], values: st.SearchStrategy[Any]) -> Any:
    size = int(np.prod(shape))
    return np.array(draw(st.lists(values, min_size=size, max_size=size)), dtype=np.float64).reshape(shape)


def _ints(n: int, below: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, below - 1), min_size=n, max_size=n)


def _column(draw: st.DrawFn, name: str, n: int) -> Any:
    if name in ("time", "reward_time"):
        return _floats(draw, (n,), st.floats(1.1e9, 2.1e9))
    if name in ("epoch", "round"):
        return np.array(draw(_ints(n, 100)), dtype=np.int64)
    if name in ("event_id", "model", "experiment"):
        texts = draw(st.lists(TEXTS, min_size=n, max_size=n))
        return np.fromiter(texts, dtype=object, count=n)
    return np.array(draw(_ints(n, 2)), dtype=np.bool_)


def assert_same(table: DecisionTable, other: DecisionTable, columns: Collection[str] = COLUMNS) -> None:
    """Check that a table holds the same decisions as another one, whose actions may have another order.

    Labels are compared as text. Actions that are eligible in no row may be missing.
    """
    known = {str(label): place for place, label in enumerate(other.actions)}
    used = np.flatnonzero(table.eligible.any(axis=0))
    places = [known[str(table.actions[spot])] for spot in used]
    assert len(other.actions) == len(used)
    assert [str(table.actions[spot]) for spot in table.action] == [
        str(other.actions[spot]) for spot in other.action
    ]
    np.testing.assert_array_equal(other.eligible[:, places], table.eligible[:, used])
    np.testing.assert_array_equal(other.reward, table.reward)
    np.testing.assert_array_equal(other.propensity, table.propensity)
    assert_same_numbers(other.contexts.shared, other.features, table.contexts.shared, table.features)
    if table.distribution is None:
        assert other.distribution is None
    else:
        assert other.distribution is not None
        np.testing.assert_array_equal(other.distribution[:, places], table.distribution[:, used])
    if table.contexts.actions is None:
        assert other.contexts.actions is None
    else:
        assert other.contexts.actions is not None
        found, given = other.contexts.actions[:, places], table.contexts.actions[:, used]
        assert_same_numbers(found, other.action_features, given, table.action_features)
    for name in columns:
        ours, theirs = getattr(table, name), getattr(other, name)
        assert (ours is None) == (theirs is None), name
        if ours is not None:
            np.testing.assert_array_equal(theirs, ours, name)


def assert_same_numbers(found: Any, names: Collection[str], given: Any, given_names: Collection[str]) -> None:
    """Check that columns of the same names hold the same numbers, in whatever order."""
    assert sorted(names) == sorted(given_names)
    order = [list(names).index(name) for name in given_names]
    np.testing.assert_array_equal(found[..., order], given)
