"""From Arrow record batches in the layout of the log's Parquet files to tables of decisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import UNKNOWN_ACTION, DecisionTable, Texts
from gyrfalcon.frames import Values
from gyrfalcon.logs.schema import CONTEXT, LogSchema

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
            action=self._checked(_positions(arrays.get("action"), places, n), arrays.get("action")),
            reward=_floats(arrays.get("reward"), n),
            propensity=_floats(arrays.get("propensity"), n),
            distribution=self._distribution(arrays, cells, wanted),
            features=tuple(name for name in schema.features if f"{CONTEXT}{name}" in wanted),
            action_features=schema.action_features if "action_features" in wanted else (),
            reward_range=schema.reward_range,
            cost=schema.cost,
            source=source,
            **optional,
        )

    def _checked(self, action: Ints, labels: Any) -> Ints:
        """The actions, if those that the table does not know are missing ones."""
        n_unknown = np.count_nonzero(action == UNKNOWN_ACTION)
        if labels is not None and n_unknown != labels.null_count:
            raise ValueError(f"{self.path} is damaged: a logged action is none of its actions.")
        return action

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
            shared[:, place] = _floats(arrays.get(name), n)
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
        lengths = _lengths(lists)
        restricted = np.asarray(lists.is_valid().to_numpy(zero_copy_only=False))
        given = _positions(lists.flatten(), places, int(lengths.sum()))
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
        lengths = np.zeros(self.n, dtype=np.int64) if lists is None else _lengths(lists)
        known = lengths > 0
        self._check("distribution", lengths, known)
        n_own = len(self.columns)
        in_order = self.lengths is None and n_own == self.n_actions and (np.diff(self.columns) == 1).all()
        if in_order and known.all() and self.n:
            return _floats(lists.flatten(), None).reshape(self.n, n_own)
        shares = np.full((self.n, self.n_actions), np.nan)
        shares[known] = 0.0
        if lists is not None:
            rows, columns = self._coordinates()
            chosen = known[rows]
            shares[rows[chosen], columns[chosen]] = _floats(lists.flatten(), None)
        return shares

    def features(self, lists: Any, names: tuple[str, ...]) -> Floats:
        """Features of eligible actions, nan where they are unknown and 0 for other actions."""
        cube = np.zeros((self.n, self.n_actions, len(names)))
        given = np.zeros(self.n, dtype=np.bool_) if lists is None else _lengths(lists) > 0
        lengths = np.zeros(self.n, dtype=np.int64) if lists is None else _lengths(lists)
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
                cube[rows[chosen], columns[chosen], place] = _floats(structs.field(name), None)
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


def further_columns(batch: Any, names: Iterable[str]) -> dict[str, Values]:
    """Columns of a batch that tables do not have: numbers or texts, nan where there are none."""
    return {name: _values(batch, name) for name in names}


def _values(batch: Any, name: str) -> Values:
    import pyarrow as pa

    if name not in batch.schema.names:
        return np.full(batch.num_rows, np.nan)
    column = batch.column(name)
    if pa.types.is_integer(column.type):
        return _whole(column, len(column))
    return _floats(column, None) if pa.types.is_floating(column.type) else _texts(column, len(column))


def _lengths(lists: Any) -> Ints:
    lengths = lists.value_lengths().fill_null(0)
    return np.asarray(lengths.to_numpy(zero_copy_only=False), dtype=np.int64)


def _positions(texts: Any, places: Mapping[str, int], n: int) -> Ints:
    """Positions of labels, -1 for those that are missing or unknown."""
    if texts is None:
        return np.full(n, UNKNOWN_ACTION)
    coded = texts if hasattr(texts, "dictionary") else texts.dictionary_encode()
    known = [places.get(text, UNKNOWN_ACTION) for text in coded.dictionary.to_pylist()]
    table = np.array([*known, UNKNOWN_ACTION], dtype=np.int64)
    codes = coded.indices if coded.null_count == 0 else coded.indices.fill_null(len(known))
    return np.asarray(table.take(codes.to_numpy(zero_copy_only=False)))


def _floats(values: Any, n: int | None) -> Floats:
    """Numbers as they are in memory, nan where they are missing."""
    if values is None:
        return np.full(n or 0, np.nan)
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def _texts(values: Any, n: int) -> Texts:
    if values is None:
        return np.full(n, None, dtype=object)
    if not hasattr(values, "dictionary"):
        return np.asarray(values.to_numpy(zero_copy_only=False), dtype=object)
    texts = np.array([*values.dictionary.to_pylist(), None], dtype=object)
    codes = values.indices.fill_null(len(texts) - 1)
    return np.asarray(texts[codes.to_numpy(zero_copy_only=False)])


def _whole(values: Any, n: int) -> Ints:
    if values is None:
        return np.full(n, -1)
    return np.asarray(values.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)


def _flags(values: Any, n: int) -> Bools:
    if values is None:
        return np.zeros(n, dtype=np.bool_)
    return np.asarray(values.fill_null(False).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _convert(name: str, arrays: Mapping[str, Any], n: int) -> Any:
    """One of the columns that a table may lack."""
    if name == "passive":
        phase = arrays.get("phase")
        return np.zeros(n, dtype=np.bool_) if phase is None else _positions(phase, {"passive": 1}, n) == 1
    if name == "overridden" and name not in arrays and "shown" in arrays:
        return np.asarray(arrays["shown"].is_valid().to_numpy(zero_copy_only=False), dtype=np.bool_)
    return _OPTIONAL[name](arrays.get(name), n)


_OPTIONAL: dict[str, Any] = {
    **dict.fromkeys(("time", "reward_time"), _floats),
    **dict.fromkeys(("event_id", "model", "experiment"), _texts),
    **dict.fromkeys(("epoch", "round"), _whole),
    **dict.fromkeys(("passive", "defaulted", "late", "overridden", "shadow"), _flags),
}
"""Columns of a table that may be absent, and how they are converted."""
