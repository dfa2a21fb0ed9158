"""Tables of decisions of all shapes, and whether two of them are equal to the last bit."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis.extra import numpy as hnp

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.frames import text_column

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
LABELS = st.one_of(
    st.lists(TEXTS, min_size=1, max_size=4, unique=True),
    st.lists(
        TEXTS | st.integers(-(2**70), 2**70) | st.none() | st.floats(allow_nan=False, allow_infinity=False),
        min_size=1,
        max_size=4,
        unique_by=repr,
    ),
)
NUMBERS = st.floats(width=64)
SIZES = st.sampled_from([0, 1, 2, 7])
FLAGS = ("defaulted", "late", "overridden", "shadow")
COLUMNS = (
    *("event_id", "time", "reward_time", "epoch", "round", "passive", "model", "experiment"),
    *("defaulted", "late", "overridden", "shadow", "distribution"),
)


def floats(*shape: int) -> st.SearchStrategy[Any]:
    """Arrays of any numbers, nan and infinities among them."""
    return hnp.arrays(np.float64, shape, elements=NUMBERS)


@st.composite
def tables(draw: st.DrawFn, labels: Any = None) -> DecisionTable:
    """A table of up to seven rows, in which anything may be missing or out of place."""
    actions = tuple(draw(LABELS)) if labels is None else labels
    n, n_actions = draw(SIZES), len(actions)
    features = draw(st.lists(TEXTS, max_size=3, unique=True))
    own = draw(st.lists(TEXTS, max_size=2, unique=True))
    masks = hnp.arrays(np.bool_, (n, n_actions))
    eligible = draw(st.none() | masks)
    if eligible is not None and eligible.all():
        eligible = None
    mask = np.ones((n, n_actions), dtype=np.bool_) if eligible is None else eligible
    cube = draw(floats(n, n_actions, len(own))) if own else None
    if cube is not None:
        cube[~mask] = 0.0  # features of actions that are not eligible are placeholders
    shares = draw(st.none() | floats(n, n_actions))
    if shares is not None:
        unknown = np.isnan(shares).all(axis=1) | ~mask.any(axis=1)
        shares = np.where(mask, shares, 0.0)
        shares[unknown | (np.isnan(shares) | ~mask).all(axis=1)] = np.nan
    flags: dict[str, Any] = {name: draw(st.none() | hnp.arrays(np.bool_, n)) for name in FLAGS}
    return DecisionTable(
        actions=actions,
        contexts=Contexts(draw(floats(n, len(features))), cube, eligible),
        action=draw(hnp.arrays(np.int64, n, elements=st.integers(-1, n_actions - 1))),
        reward=draw(floats(n)),
        propensity=draw(floats(n)),
        distribution=shares,
        features=tuple(features),
        action_features=tuple(own),
        event_id=draw(st.none() | _texts(n)),
        time=draw(st.none() | floats(n)),
        reward_time=draw(st.none() | floats(n)),
        epoch=draw(st.none() | hnp.arrays(np.int64, n, elements=st.integers(0, 2**40))),
        round=draw(st.none() | hnp.arrays(np.int64, n, elements=st.integers(0, 2**40))),
        passive=draw(st.none() | hnp.arrays(np.bool_, n)),
        model=draw(st.none() | _texts(n)),
        experiment=draw(st.none() | _texts(n)),
        **flags,
        reward_range=draw(st.none() | st.just((-1.5, 2.0))),
        cost=draw(st.booleans()),
    )


def _texts(n: int) -> st.SearchStrategy[Any]:
    return st.lists(st.none() | TEXTS, min_size=n, max_size=n).map(text_column)


def differing(
    one: DecisionTable, other: DecisionTable, but: tuple[str, ...] = ("source", "source_row")
) -> Any:
    """Names of what differs between two tables: an empty list for equal ones."""
    plain = [
        *("actions", "features", "action_features", "reward_range", "cost", "source"),
    ]
    names = [name for name in plain if repr(getattr(one, name)) != repr(getattr(other, name))]
    names += [
        name
        for name in ("action", "reward", "propensity", *COLUMNS, "source_row")
        if not _equal(getattr(one, name), getattr(other, name))
    ]
    names += [
        f"contexts.{name}"
        for name in ("shared", "actions", "eligible")
        if not _equal(getattr(one.contexts, name), getattr(other.contexts, name))
    ]
    return [name for name in names if name not in but]


def _equal(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    kind = one.dtype.kind
    return bool(
        one.shape == other.shape
        and one.dtype.kind == other.dtype.kind
        and np.array_equal(one, other, equal_nan=kind == "f")
    )
