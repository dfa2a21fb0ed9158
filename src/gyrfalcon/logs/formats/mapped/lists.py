"""Columns with a list in each row: eligible actions, probabilities and features of actions."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.inputs.tables import is_missing, listed
from gyrfalcon.logs.formats.chunks import Chunk


def label_of(value: Any) -> Hashable:
    """The label of an action as plain Python has it; None where there is none."""
    if isinstance(value, str):
        return str.__str__(value) or None
    if value is None or is_missing(value):
        return None
    plain: Hashable = value.item() if isinstance(value, np.generic) else value
    return plain


def eligible_of(chunk: Chunk, name: str) -> list[list[Hashable]]:
    """The eligible actions of each row; no list stands for all actions."""
    return [[_listed_label(label, chunk) for label in cells] for cells in lists_of(chunk, name)]


def action_features_of(chunk: Chunk, name: str) -> list[list[Mapping[str, Any]]]:
    """The features of each row's eligible actions, by name."""
    rows = lists_of(chunk, name)
    for row, cells in enumerate(rows):
        if not all(isinstance(cell, Mapping) for cell in cells):
            raise ValueError(
                f"{chunk.at(row)}: {name} is {short_repr(cells)}; give a list with a mapping of names to "
                "numbers for each eligible action."
            )
    return rows


def probabilities_of(chunk: Chunk, name: str) -> list[list[float]]:
    """The probabilities of each row's eligible actions."""
    rows = []
    for row, cells in enumerate(lists_of(chunk, name)):
        try:
            rows.append([np.nan if cell is None else float(cell) for cell in cells])
        except (TypeError, ValueError):
            raise ValueError(
                f"{chunk.at(row)}: {name} is {short_repr(cells)}, which are not numbers; give a probability "
                "for each eligible action."
            ) from None
    return rows


def lists_of(chunk: Chunk, name: str) -> list[list[Any]]:
    """The lists of a column; text is read as JSON, and what is missing is an empty list."""
    rows = []
    for row, cell in enumerate(listed(chunk.column(name))):
        value: Any = cell
        if isinstance(cell, str):
            try:
                value = json.loads(cell) if cell else []
            except ValueError:
                value = None
        elif cell is None or (isinstance(cell, float) and np.isnan(cell)):
            value = []
        elif hasattr(cell, "tolist"):
            value = cell.tolist()
        if not isinstance(value, list | tuple):
            raise ValueError(  # noqa: TRY004 - every refused input is a ValueError
                f"{chunk.at(row)}: {name} is {short_repr(cell)}, which is not a list; give one such as "
                '["a", "b"].'
            )
        rows.append(list(value))
    return rows


def _listed_label(label: Any, chunk: Chunk) -> Hashable:
    """A label in a list, as text in files where all labels are text."""
    if not chunk.is_text or label is None:
        return label_of(label)
    return str(label).lower() if isinstance(label, bool) else str(label)
