"""From Arrow record batches in the layout of the log's Parquet files to tables of decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import UNKNOWN_ACTION, DecisionTable
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.logs.parquet.arrow_values import (
    flag_values,
    float_values,
    integer_values,
    is_known,
    label_positions,
    list_lengths,
    text_values,
)
from gyrfalcon.logs.parquet.schema import CONTEXT, LogSchema

RENAMED = {"expired": "defaulted"}
"""Names of columns in files of format version 1, and those of today."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What all tables of a log have in common, whichever file their rows are from.

    Parameters
    ----------
    schema
        All actions and features of the log's files.
    columns
        Columns that some file has, by the names of today.
    """

    schema: LogSchema
    columns: frozenset[str]

    def places(self, own: LogSchema) -> dict[str, int]:
        """Positions of the actions by their texts in one file."""
        every = {self.schema.text_of(label): place for place, label in enumerate(self.schema.actions)}
        return {own.text_of(label): every[self.schema.text_of(label)] for label in own.actions}


@dataclass(frozen=True, slots=True)
class Decoder:
    """Conversion of one file's batches.

    Parameters
    ----------
    layout
        What all tables have in common.
    places
        Positions of the actions by their texts in the file.
    path
        Path of the file, for messages.
    """

    layout: Layout
    places: Mapping[str, int]
    path: Path

    def table(self, batch: Any, wanted: frozenset[str], source: str) -> DecisionTable:
        """The table of a batch, with the columns that are wanted.

        Raises
        ------
        ValueError
            If lists of a row are not as long as its eligible actions.
        """
        arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
        arrays |= {new: arrays[old] for old, new in RENAMED.items() if old in arrays}
        schema, n = self.layout.schema, batch.num_rows
        places = self.places
        cells = _Cells.of(arrays, places, n, len(schema.actions), self)
        optional: dict[str, Any] = {
            name: _convert(name, arrays, n)
            for name in _OPTIONAL
            if name in wanted and name in self.layout.columns
        }
        return DecisionTable(
            actions=schema.actions,
            contexts=self._contexts(arrays, cells, n, wanted),
            action=self._action(arrays.get("action"), n),
            reward=float_values(arrays.get("reward"), n),
            propensity=float_values(arrays.get("propensity"), n),
            distribution=self._distribution(arrays, cells, wanted),
            features=tuple(name for name in schema.features if f"{CONTEXT}{name}" in wanted),
            action_features=schema.action_features if "action_features" in wanted else (),
            reward_range=schema.reward_range,
            cost=schema.cost,
            source=source,
            **optional,
        )

    def _action(self, labels: Any, n: int) -> Ints:
        """Positions of logged actions, -1 for missing ones."""
        if labels is None:
            return np.full(n, UNKNOWN_ACTION)
        coded = labels if hasattr(labels, "dictionary") else labels.dictionary_encode()
        unknown = set(coded.dictionary.to_pylist()).difference(self.places)
        if unknown:
            label = short_repr(min(unknown))
            raise ValueError(f"{self.path} is damaged: the logged action {label} is none of its actions.")
        return label_positions(coded, self.places, n)

    def _distribution(
        self, arrays: Mapping[str, Any], cells: _Cells, wanted: frozenset[str]
    ) -> Floats | None:
        if "distribution" not in wanted or "distribution" not in self.layout.columns:
            return None
        return cells.distribution(arrays.get("distribution"))

    def _contexts(self, arrays: Mapping[str, Any], cells: _Cells, n: int, wanted: frozenset[str]) -> Contexts:
        names = [one for name in self.layout.schema.features if (one := f"{CONTEXT}{name}") in wanted]
        shared = np.empty((n, len(names)))
        for place, name in enumerate(names):
            shared[:, place] = float_values(arrays.get(name), n)
        own = self.layout.schema.action_features
        cube = None
        if own and "action_features" in wanted:
            cube = cells.features(arrays.get("action_features"), own)
        return Contexts(shared, cube, cells.eligible() if "eligible" in wanted else None)


@dataclass(frozen=True, slots=True)
class _Cells:
    """Where the lists of a batch go in arrays of shape (n, K).

    Where every row has all actions of its file, `columns` are their positions. Otherwise `rows` and
    `columns` are the coordinates of all elements, and `lengths` how many each row has.
    """

    n: int
    n_actions: int
    lengths: Ints | None
    rows: Ints | None
    columns: Ints
    decoder: Decoder

    @staticmethod
    def of(
        arrays: Mapping[str, Any], places: Mapping[str, int], n: int, n_actions: int, decoder: Decoder
    ) -> _Cells:
        every = np.array(list(places.values()), dtype=np.int64)
        lists = arrays.get("eligible")
        if lists is None or lists.null_count == n:
            return _Cells(n, n_actions, None, None, every, decoder)
        lengths = list_lengths(lists)
        restricted = is_known(lists)
        given = label_positions(lists.flatten(), places, int(lengths.sum()))
        if (given == UNKNOWN_ACTION).any():
            raise ValueError(f"{decoder.path} is damaged: an eligible action is none of its actions.")
        lengths = np.where(restricted, lengths, len(every))
        columns = np.empty(int(lengths.sum()), dtype=np.int64)
        is_given = np.repeat(restricted, lengths)
        columns[is_given] = given
        columns[~is_given] = np.tile(every, int((~restricted).sum()))
        return _Cells(n, n_actions, lengths, np.repeat(np.arange(n), lengths), columns, decoder)

    def eligible(self) -> Bools | None:
        """The mask of eligible actions; None where all are in all rows."""
        if self.lengths is None and len(self.columns) == self.n_actions:
            return None
        mask = np.zeros((self.n, self.n_actions), dtype=np.bool_)
        if self.rows is None:
            mask[:, self.columns] = True
        else:
            mask[self.rows, self.columns] = True
        return None if mask.all() else mask

    def distribution(self, lists: Any) -> Floats:
        """Probabilities of all actions, (n, K), nan in rows where they are unknown."""
        lengths = np.zeros(self.n, dtype=np.int64) if lists is None else list_lengths(lists)
        known = lengths > 0
        self._check("distribution", lengths, known)
        n_own = len(self.columns)
        in_order = self.lengths is None and n_own == self.n_actions and (np.diff(self.columns) == 1).all()
        if in_order and known.all() and self.n:
            return float_values(lists.flatten(), None).reshape(self.n, n_own)
        shares = np.full((self.n, self.n_actions), np.nan)
        shares[known] = 0.0
        if lists is not None:
            rows, columns = self._coordinates()
            chosen = known[rows]
            shares[rows[chosen], columns[chosen]] = float_values(lists.flatten(), None)
        return shares

    def features(self, lists: Any, names: tuple[str, ...]) -> Floats:
        """Features of eligible actions, nan where they are unknown and 0 for other actions."""
        cube = np.zeros((self.n, self.n_actions, len(names)))
        given = np.zeros(self.n, dtype=np.bool_) if lists is None else list_lengths(lists) > 0
        lengths = np.zeros(self.n, dtype=np.int64) if lists is None else list_lengths(lists)
        self._check("action_features", lengths, given)
        rows, columns = self._coordinates()
        cube[rows, columns] = np.nan
        if lists is None:
            return cube
        structs = lists.flatten()
        known = {structs.type.field(place).name for place in range(structs.type.num_fields)}
        chosen = given[rows]
        for place, name in enumerate(names):
            if name in known:
                cube[rows[chosen], columns[chosen], place] = float_values(structs.field(name), None)
        return cube

    def _coordinates(self) -> tuple[Ints, Ints]:
        if self.rows is not None:
            return self.rows, self.columns
        return np.repeat(np.arange(self.n), len(self.columns)), np.tile(self.columns, self.n)

    def _check(self, name: str, lengths: Ints, known: Bools) -> None:
        wanted = np.full(self.n, len(self.columns)) if self.lengths is None else self.lengths
        wrong = np.flatnonzero(known & (lengths != wanted))
        if len(wrong):
            row = int(wrong[0])
            raise ValueError(
                f"{self.decoder.path} is damaged: a row has {lengths[row]} values of {name} for "
                f"{wanted[row]} eligible actions."
            )


def _convert(name: str, arrays: Mapping[str, Any], n: int) -> Any:
    """One of the columns that a table may lack."""
    if name == "passive":
        return label_positions(arrays.get("phase"), {"passive": 1}, n) == 1
    if name == "overridden" and name not in arrays and "shown" in arrays:
        return is_known(arrays["shown"])
    return _OPTIONAL[name](arrays.get(name), n)


_OPTIONAL: dict[str, Any] = {
    **dict.fromkeys(("time", "reward_time"), float_values),
    **dict.fromkeys(("event_id", "model", "experiment"), text_values),
    **dict.fromkeys(("epoch", "round"), integer_values),
    **dict.fromkeys(("passive", "defaulted", "late", "overridden", "shadow"), flag_values),
}
"""Columns of a table that may be absent, and how they are converted."""
