"""Schemas of features: named columns, and their encoding as one float64 matrix."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import hypot
from typing import Literal, get_args

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs import tables
from gyrfalcon.core.inputs.columns import (
    MOST_COLUMNS,
    Column,
    Numeric,
    cell,
    column_of,
    encoded_names,
    fill,
)
from gyrfalcon.core.inputs.inference import inferred_columns
from gyrfalcon.core.inputs.messages import enumeration, short_repr, suggestion
from gyrfalcon.core.inputs.tables import SAFE_NORM, Table, Values

UnknownFeatures = Literal["error", "ignore"]
_FLOAT64 = np.dtype(np.float64)


@dataclass(frozen=True, slots=True)
class Schema:
    """Features by name, and their encoding as one float64 matrix; `Schema.of` makes one.

    Parameters
    ----------
    columns
        Pairs of a name and a column: `Numeric`, `Boolean`, `Categorical` or `Hashed`.
    unknown_features
        Effect of a named value that is no feature: "error" refuses the row, "ignore" passes the value over.
        Schemas that differ in this alone are equal, because they encode alike.

    Attributes
    ----------
    names
        Names of the encoded columns.
    width
        Number of the encoded columns.

    Raises
    ------
    ValueError
        If a name is not text, or two features encode under the same name.

    Examples
    --------
    >>> schema = Schema.of({"age": "numeric", "country": ["NO", "SE"]})
    >>> schema.names
    ('age', 'country=NO', 'country=SE', 'country=other')
    >>> schema.encode([{"age": 31, "country": "SE"}, {"country": "FI", "age": 44}]).tolist()
    [[31.0, 0.0, 1.0, 0.0], [44.0, 0.0, 0.0, 1.0]]
    """

    columns: tuple[tuple[str, Column], ...] = ()
    unknown_features: UnknownFeatures = field(default="error", compare=False)
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    width: int = field(init=False, repr=False, compare=False)
    _features: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _blocks: tuple[tuple[str, Column, int, int], ...] = field(init=False, repr=False, compare=False)
    _plain_shape: tuple[int, ...] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.unknown_features not in get_args(UnknownFeatures):
            raise ValueError(
                f"unknown_features is {short_repr(self.unknown_features)}; choose 'error' or 'ignore'."
            )
        blocks: list[tuple[str, Column, int, int]] = []
        names: list[str] = []
        for name, column in self.columns:
            if type(name) is not str or not isinstance(column, Column):
                raise ValueError(
                    f"feature {short_repr(name)} is {short_repr(column)}; give a text and a column."
                )
            start = len(names)
            names += encoded_names(name, column)
            if len(names) > MOST_COLUMNS:
                raise ValueError(
                    f"the features encode as more than {MOST_COLUMNS} columns; use fewer hash buckets."
                )
            blocks.append((name, column, start, len(names)))
        features = [name for name, _ in self.columns]
        for group in (features, names):
            if len(set(group)) < len(group):
                twice = next(name for name in group if group.count(name) > 1)
                raise ValueError(f"two features encode as {short_repr(twice)}; rename one of them.")
        is_plain = bool(blocks) and all(column == Numeric() for _, column in self.columns)
        derived = {
            "columns": tuple(zip(features, (column for _, column in self.columns), strict=True)),
            "names": tuple(names),
            "width": len(names),
            "_features": tuple(features),
            "_blocks": tuple(blocks),
            "_plain_shape": (len(names),) if is_plain else None,
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        kinds = (
            name if column == Numeric() else f"{name}: {type(column).__name__}"
            for name, column in self.columns[:10]
        )
        more = [f"{len(self.columns) - 10} more"] if len(self.columns) > 10 else []
        return f"Schema({', '.join([*kinds, *more])})"

    @staticmethod
    def of(spec: object) -> Schema:
        """The schema that a short specification stands for.

        Parameters
        ----------
        spec
            A number of numeric features (x0, x1, ...); a list of names of numeric features; a mapping of
            names to "numeric", "boolean", "hashed", a list of levels or a column; a schema; or None for no
            features.

        Raises
        ------
        ValueError
            If the specification is none of these.

        Examples
        --------
        >>> Schema.of(2) == Schema.of(["x0", "x1"]) == Schema.of({"x0": "numeric", "x1": Numeric()})
        True
        """
        if isinstance(spec, Schema):
            return spec
        if spec is None:
            return Schema()
        if isinstance(spec, int | np.integer) and not isinstance(spec, bool) and spec >= 0:
            return Schema(tuple((f"x{position}", Numeric()) for position in range(int(spec))))
        if isinstance(spec, Mapping):
            return Schema(tuple((name, column_of(name, kind)) for name, kind in spec.items()))
        if isinstance(spec, list | tuple) and all(isinstance(name, str) for name in spec):
            return Schema(tuple((name, Numeric()) for name in spec))
        raise ValueError(
            f"features are {short_repr(spec)}; give a number, a list of names or a mapping of names."
        )

    @staticmethod
    def infer(example: object) -> Schema:
        """The schema of an example: one context, or a table of several.

        Numbers are numeric, booleans boolean, text hashed; a feature with a missing value may be missing.

        Parameters
        ----------
        example
            A mapping, a sequence or an array of one context, or a table of several. A flat list or 1-d array
            is one context, whose features are called x0, x1, ...

        Raises
        ------
        ValueError
            If a feature has no value, or a value that no column holds.

        Examples
        --------
        >>> Schema.infer({"age": 31, "member": True}).columns
        (('age', Numeric(missing=False)), ('member', Boolean(missing=False)))
        """
        return Schema(() if example is None else inferred_columns(example))

    def encode(self, table: object) -> Floats:
        """All rows encoded as floats, (n, width).

        Parameters
        ----------
        table
            A frame, an array, a mapping of columns or a list of rows; columns are matched by name where the
            table has names, otherwise by position.

        Raises
        ------
        ValueError
            If names or numbers of columns differ, or a value does not fit its column.
        """
        if self._plain_shape is not None and isinstance(table, np.ndarray) and table.ndim == 2:
            floats = tables.finite_floats(table)
            if floats is not None and floats.shape[1:] == self._plain_shape:
                return floats
        columns = tables.read(table, None if self.unknown_features == "error" else self._features)
        encoded = np.zeros((columns.n, self.width))
        for (name, column, start, stop), values in zip(self._blocks, self._arranged(columns), strict=True):
            fill(encoded[:, start:stop], name, column, values)
        return encoded

    def encode_one(self, row: object) -> Floats:
        """One row encoded as floats, (1, width), with the same bits as in any batch.

        Parameters
        ----------
        row
            A mapping of names to values, a sequence or an array.

        Raises
        ------
        ValueError
            If names or numbers of values differ, or a value does not fit its column.
        """
        if self._plain_shape is not None:
            values: Values = ()
            if type(row) is np.ndarray:
                if (
                    row.dtype == _FLOAT64
                    and row.shape == self._plain_shape
                    and hypot(*row.tolist()) < SAFE_NORM
                ):
                    copy: Floats = row[None].copy()
                    return copy
            elif type(row) is dict:
                values = [row.get(name) for name in self._features] if len(row) == self.width else ()
            elif type(row) is list or type(row) is tuple:
                values = row
            if len(values) == self.width and (floats := tables.finite_floats(values)) is not None:
                return floats[None]
        return self._encode_any(row)

    def _encode_any(self, row: object) -> Floats:
        if row is None and not self.columns:
            return np.zeros((1, 0))
        if len(getattr(row, "shape", ())) == 2:
            encoded = self.encode(row)
            if len(encoded) != 1:
                raise ValueError(
                    f"there are {len(encoded)} rows where one context is expected; give one row."
                )
            return encoded
        values = tables.row_of(row)
        if isinstance(values, Mapping):
            self._check_names(values.keys())
            values = [values.get(name) for name in self._features]
        elif len(values) != len(self._features):
            raise ValueError(f"the context has {len(values)} values; give one for each of {self._listing()}.")
        cells = [0.0] * self.width
        for (name, column, start, stop), value in zip(self._blocks, values, strict=True):
            try:
                offset, number = cell(column, value)
            except ValueError as error:
                raise ValueError(f"feature {name!r}: {error}") from None
            cells[(start if offset >= 0 else stop) + offset] = number
        return np.array([cells])

    def _arranged(self, table: Table) -> Sequence[Values]:
        if table.names is not None:
            self._check_names(table.names)
            given = dict(zip(table.names, table.columns, strict=True))
            return [given.get(name, (None,) * table.n) for name in self._features]
        if len(table.columns) == len(self._features):
            return table.columns
        if table.n == 0 and not table.columns:
            return [()] * len(self._features)
        hint = " (a flat list or 1-d array is one column)" if len(table.columns) == 1 else ""
        raise ValueError(
            f"the table has {len(table.columns)} columns{hint}; give (n, {len(self._features)}) values, "
            f"in the order {self._listing()}."
        )

    def _check_names(self, given: Collection[object]) -> None:
        if len(given) == len(self._features) and all(map(given.__contains__, self._features)):
            return
        is_strict = self.unknown_features == "error"
        unknown = [name for name in given if name not in self._features] if is_strict else []
        lacking = [name for name, column in self.columns if name not in given and not column.missing]
        faults = []
        if unknown:
            hint = suggestion(unknown[0], self._features).rstrip(".")
            faults.append(f"{enumeration(unknown)} is not a feature ({hint})")
        if lacking:
            faults.append(f"there is no value for {enumeration(lacking)}")
        if faults:
            raise ValueError(f"{', and '.join(faults)}; the features are {self._listing()}.")

    def _listing(self) -> str:
        return enumeration(self._features)
