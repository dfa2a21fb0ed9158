"""Concatenation of tables of decisions that have the same actions and features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable

_WHOLE = frozenset(
    (
        "actions",
        "contexts",
        "features",
        "action_features",
        "reward_range",
        "cost",
        "source",
        "propensity_source",
    )
)


def concatenated(tables: Sequence[DecisionTable]) -> DecisionTable:
    """All rows of the tables in order; a column that some tables lack is unknown in their rows.

    Parameters
    ----------
    tables
        At least one table; all with the same actions and features.
    """
    first = tables[0]
    if len(tables) == 1:
        return first
    columns = {one.name: _column(tables, one.name) for one in fields(first) if one.name not in _WHOLE}
    contexts = Contexts.concat([table.contexts for table in tables], first.n_actions)
    return replace(first, contexts=contexts, **columns)


def _column(tables: Sequence[DecisionTable], name: str) -> Any:
    parts = [getattr(table, name) for table in tables]
    known = next((part for part in parts if part is not None), None)
    if known is None:
        return None
    unknown: Any = np.nan if known.dtype.kind == "f" else None if known.dtype == object else False
    return np.concatenate(
        [
            np.full((len(table), *known.shape[1:]), unknown, dtype=known.dtype) if part is None else part
            for table, part in zip(tables, parts, strict=True)
        ]
    )
