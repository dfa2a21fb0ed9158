"""Tables of decisions from chunks of columns, by a mapping."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import UNKNOWN_ACTION, DecisionTable
from gyrfalcon.core.inputs.tables import listed
from gyrfalcon.logs.formats.chunks import Chunk
from gyrfalcon.logs.formats.mapped.layout import Layout, LayoutBuilder, column_name
from gyrfalcon.logs.formats.mapped.lists import action_features_of, eligible_of, label_of, probabilities_of

_ROW = re.compile(r"^row (\d+), ")


def tables_of(chunks: Callable[[], Iterable[Chunk]], mapping: object) -> Iterator[DecisionTable]:
    """Tables of a source's chunks, all with the same actions and features; the source is read twice.

    Parameters
    ----------
    chunks
        Reads the source from its start.
    mapping
        Which column holds what: a `ColumnMapping`, a dict of its fields, or None.
    """
    builder = LayoutBuilder(mapping)
    for chunk in chunks():
        builder.add(chunk)
    layout = builder.finish()
    for chunk in chunks():
        yield table_of_chunk(chunk, layout)


def table_of_chunk(chunk: Chunk, layout: Layout) -> DecisionTable:
    """The table of one chunk, in the layout of its source."""
    mapping, n = layout.mapping, len(chunk)
    places = {label: place for place, label in enumerate(layout.actions)}
    eligible = None if mapping.eligible is None else _eligible(chunk, layout, places)
    spots = _spots(eligible, n, len(places))
    columns: dict[str, Any] = {
        "event_id": _optional(mapping.event_id, chunk.texts),
        "time": _optional(mapping.time, chunk.times),
        "reward_time": _optional(mapping.reward_time, chunk.times),
        "epoch": _optional(mapping.epoch, chunk.integers),
        "round": _optional(mapping.round, chunk.integers),
        "model": _optional(mapping.model, chunk.texts),
        "experiment": _optional(mapping.experiment, chunk.texts),
        "defaulted": _optional(mapping.defaulted, chunk.flags),
        "late": _optional(mapping.late, chunk.flags),
        "overridden": _optional(mapping.overridden, chunk.flags),
        "shadow": _optional(mapping.shadow, chunk.flags),
        "distribution": _distribution(chunk, layout, spots, places),
    }
    if mapping.phase is not None:
        columns["passive"] = np.array([text == "passive" for text in chunk.texts(mapping.phase)], np.bool_)
    reward = _optional(mapping.reward, chunk.floats)
    propensity = _optional(mapping.propensity, chunk.floats)
    return DecisionTable(
        actions=layout.actions,
        contexts=Contexts(
            _shared(chunk, layout),
            _cube(chunk, layout, spots),
            None if eligible is None else _mask(eligible, len(places)),
        ),
        action=_actions(chunk, layout, places),
        reward=np.full(n, np.nan) if reward is None else reward,
        propensity=np.full(n, np.nan) if propensity is None else propensity,
        features=layout.features,
        action_features=layout.action_features,
        reward_range=mapping.reward_range,
        cost=mapping.cost,
        source=chunk.source,
        **columns,
    )


def _optional(name: str | None, read: Callable[[str], Any]) -> Any:
    return None if name is None else read(name)


def _actions(chunk: Chunk, layout: Layout, places: dict[Any, int]) -> Ints:
    labels = [label_of(value) for value in listed(chunk.column(layout.mapping.action))]
    return np.array([places.get(_typed(label, layout), UNKNOWN_ACTION) for label in labels], dtype=np.int64)


def _typed(label: Any, layout: Layout) -> Any:
    """A label as the layout has it: files of text don't say which are numbers."""
    return int(label) if layout.whole_labels and label is not None else label


def _eligible(chunk: Chunk, layout: Layout, places: dict[Any, int]) -> list[list[int]]:
    """Positions of each row's eligible actions, in the order of its list; an empty list is every action."""
    given = layout.mapping.eligible
    if isinstance(given, Mapping):
        flags = _by_action(given, layout, places, chunk.flags, False)
        return [np.flatnonzero(row).tolist() for row in flags]
    rows = eligible_of(chunk, given or "")
    found = []
    for row, labels in enumerate(rows):
        spots = [places.get(_typed(label, layout), UNKNOWN_ACTION) for label in labels]
        if UNKNOWN_ACTION in spots:
            label = labels[spots.index(UNKNOWN_ACTION)]
            raise ValueError(
                f"{chunk.at(row)}: the eligible action {label!r} is none of `actions`; add it there."
            )
        found.append(spots or list(range(len(places))))
    return found


def _spots(eligible: list[list[int]] | None, n: int, n_actions: int) -> list[list[int]]:
    return [list(range(n_actions))] * n if eligible is None else eligible


def _mask(spots: list[list[int]], n_actions: int) -> Bools | None:
    mask = np.zeros((len(spots), n_actions), dtype=np.bool_)
    for row, chosen in enumerate(spots):
        mask[row, chosen] = True
    return None if mask.all() else mask


def _by_action(
    columns: Mapping[Hashable, str],
    layout: Layout,
    places: dict[Any, int],
    read: Callable[[str], Any],
    missing: Any,
) -> Any:
    """Columns of one action each as (n, K); actions without a column have the value for missing ones."""
    found = {places.get(_typed(label_of(label), layout)): read(name) for label, name in columns.items()}
    n = len(next(iter(found.values())))
    table = np.full((n, len(places)), missing)
    for place, values in found.items():
        if place is not None:  # labels that `actions` leaves out
            table[:, place] = values
    return table


def _distribution(
    chunk: Chunk, layout: Layout, spots: list[list[int]], places: dict[Any, int]
) -> Floats | None:
    name = layout.mapping.distribution
    if name is None:
        return None
    if isinstance(name, Mapping):
        shares: Floats = _by_action(name, layout, places, chunk.floats, 0.0)
        return shares
    rows = probabilities_of(chunk, name)
    table = np.full((len(chunk), len(places)), np.nan)
    for row, (cells, chosen) in enumerate(zip(rows, spots, strict=True)):
        if not cells or np.isnan(cells).all():
            continue
        if len(cells) != len(chosen):
            raise ValueError(
                f"{chunk.at(row)}: {name} has {len(cells)} probabilities for {len(chosen)} eligible "
                "actions; give one for each, in their order."
            )
        table[row] = 0.0
        table[row, chosen] = cells
    return table


def _cube(chunk: Chunk, layout: Layout, spots: list[list[int]]) -> Floats | None:
    name, own = layout.mapping.action_features, layout.action_features
    if name is None or not own:
        return None
    cube = np.zeros((len(chunk), len(layout.actions), len(own)))
    for row, (cells, chosen) in enumerate(zip(action_features_of(chunk, name), spots, strict=True)):
        if len(cells) != len(chosen):
            raise ValueError(
                f"{chunk.at(row)}: {name} has features of {len(cells)} actions for {len(chosen)} eligible "
                "ones; give them for each, in their order."
            )
        values = [[cell.get(feature) for feature in own] for cell in cells]
        try:
            cube[row, chosen] = [
                [np.nan if value is None else float(value) for value in one] for one in values
            ]
        except (TypeError, ValueError):
            raise ValueError(
                f"{chunk.at(row)}: {name} has a value that is no number; give numbers."
            ) from None
    return cube


def _shared(chunk: Chunk, layout: Layout) -> Floats:
    parts = [np.zeros((len(chunk), 0))]
    for feature, schema in layout.schemas.items():
        name = column_name(layout.mapping, feature)
        if schema is None:
            parts.append(chunk.floats(name)[:, None])
            continue
        values: Any = chunk.column(name)
        if chunk.is_text:
            is_text = any("=" in one or "#" in one for one in schema.names)
            values = [value or None for value in listed(values)] if is_text else chunk.floats(name)
        try:
            parts.append(schema.encode({feature: values}))
        except ValueError as error:
            found = _ROW.match(str(error))
            rest = _ROW.sub("", str(error))
            raise ValueError(f"{chunk.at(int(found[1]))}: {rest}" if found else rest) from None
    return np.ascontiguousarray(np.concatenate(parts, axis=1))
