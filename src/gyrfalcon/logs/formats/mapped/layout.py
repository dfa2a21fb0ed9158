"""What a first pass over a source finds: labels of actions, kinds of features, names of action features.

A second pass makes tables from chunks of the source, all with the same actions and features. Neither pass
keeps more than one chunk in memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from gyrfalcon.core.inputs.columns import Boolean, Categorical, Column, Hashed, Numeric
from gyrfalcon.core.inputs.schema import Schema
from gyrfalcon.core.inputs.tables import Values, is_missing, listed
from gyrfalcon.logs.formats.chunks import NO_NUMBER, Chunk
from gyrfalcon.logs.formats.labels import are_whole, as_whole, in_order
from gyrfalcon.logs.formats.mapped.lists import action_features_of, eligible_of, label_of
from gyrfalcon.logs.formats.mapped.mapping import ColumnMapping

MOST_LEVELS = 100
"""Values of text that get a column each; a feature with more of them is hashed."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Actions and features of the tables that are made from a source.

    Parameters
    ----------
    mapping
        Which column holds what.
    actions
        Labels of the K actions.
    schemas
        Encoding of each shared feature, by name; None for numbers that are kept as they are.
    action_features
        Names of the features of actions.
    whole_labels
        Whether labels are whole numbers that the source has as text.
    """

    mapping: ColumnMapping
    actions: tuple[Hashable, ...]
    schemas: Mapping[str, Schema | None]
    action_features: tuple[str, ...] = ()
    whole_labels: bool = False

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the encoded shared features."""
        return tuple(
            name
            for feature, schema in self.schemas.items()
            for name in ((feature,) if schema is None else schema.names)
        )


@dataclass(slots=True)
class _Kind:
    """What the values of one feature were so far."""

    missing: bool = False
    only_booleans: bool = True
    only_numbers: bool = True
    levels: dict[str, None] = field(default_factory=dict)

    def add(self, values: Values, *, is_text: bool) -> None:
        if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
            self.only_booleans &= values.dtype.kind == "b"
            self.missing |= values.dtype.kind == "f" and bool(np.isnan(values).any())
            return
        for value in set(listed(values)):
            if is_missing(value) or value == "":
                self.missing = True
                continue
            self.only_booleans &= isinstance(value, bool | np.bool_)
            self.only_numbers &= _is_number(value, is_text=is_text)
            if len(self.levels) <= MOST_LEVELS:
                self.levels[str(value)] = None

    def column(self) -> Column:
        """The kind of feature that holds all values seen."""
        if self.only_numbers:
            return Boolean(self.missing) if self.only_booleans and self.levels else Numeric(self.missing)
        levels = tuple(sorted(level for level in self.levels if level != "other"))
        if not levels or len(self.levels) > MOST_LEVELS:
            return Hashed(missing=self.missing)
        return Categorical(levels, self.missing)


class LayoutBuilder:
    """The layout of a source, chunk by chunk."""

    def __init__(self, mapping: object) -> None:
        self._given = mapping
        self._mapping: ColumnMapping | None = None
        self._labels: dict[Hashable, None] = {}
        self._names: dict[str, None] = {}
        self._kinds: dict[str, _Kind] = {}
        self._is_text = False

    def add(self, chunk: Chunk) -> None:
        """Take in what the values of a chunk are."""
        mapping = self._mapping = self._mapping or ColumnMapping.of(self._given, chunk.columns)
        self._is_text = chunk.is_text
        self._labels.update(dict.fromkeys(map(label_of, mapping.own_labels)))
        if isinstance(mapping.eligible, str):
            for labels in eligible_of(chunk, mapping.eligible):
                self._labels.update(dict.fromkeys(labels))
        self._labels.update(dict.fromkeys(label_of(value) for value in listed(chunk.column(mapping.action))))
        if mapping.action_features is not None:
            for cells in action_features_of(chunk, mapping.action_features):
                for cell in cells:
                    self._names.update(dict.fromkeys(cell))
        for name in self._inferred(mapping, chunk):
            self._kinds.setdefault(name, _Kind()).add(chunk.column(name), is_text=chunk.is_text)

    def finish(self) -> Layout:
        """The layout of all chunks."""
        mapping = ColumnMapping.of(self._given) if self._mapping is None else self._mapping
        self._labels.pop(None, None)
        labels: list[Hashable] = list(self._labels)
        # Files of text don't say whether 3 is a number.
        whole = self._is_text and mapping.actions is None and are_whole(labels)
        if whole:
            labels = as_whole(labels)
        if mapping.eligible is None and not mapping.own_labels:
            labels = in_order(labels)
        actions = tuple(labels) if mapping.actions is None else mapping.actions
        return Layout(mapping, actions, self._schemas(mapping), tuple(self._names), whole)

    def _inferred(self, mapping: ColumnMapping, chunk: Chunk) -> Iterable[str]:
        if mapping.prefix or isinstance(mapping.features, Mapping):
            return ()
        if mapping.features == "*":
            taken = set(mapping.columns_by_role().values())
            return (name for name in chunk.columns if name not in taken)
        return mapping.features

    def _schemas(self, mapping: ColumnMapping) -> dict[str, Schema | None]:
        if mapping.prefix:
            return dict.fromkeys(mapping.features)
        if isinstance(mapping.features, Mapping):
            return {name: Schema.of({name: kind}) for name, kind in mapping.features.items()}
        return {name: Schema(((name, kind.column()),)) for name, kind in self._kinds.items()}


def column_name(mapping: ColumnMapping, feature: str) -> str:
    """The column that a feature is read from."""
    return f"{mapping.prefix}{feature}"


def _is_number(value: object, *, is_text: bool) -> bool:
    if isinstance(value, str):
        if not is_text or value in NO_NUMBER:
            return is_text and value in NO_NUMBER
        try:
            return np.isfinite(float(value)) or value.lower() in ("nan", "inf", "-inf")
        except ValueError:
            return False
    return isinstance(value, int | float | np.number | np.bool_)
