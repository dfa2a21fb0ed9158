"""Rows of bandits as columns of a Parquet file, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gyrfalcon.logs.lines.rows import Line, LoggedDecisions, Row
from gyrfalcon.logs.parquet.schema import CONTEXT, LogSchema, problem_of_lines, united

_DEFAULTED = "defaulted"
"""What `expired` is called in columns: the reward is the default one."""


def schema_of_rows(rows: Iterable[Row], lines: Iterable[Line]) -> LogSchema:
    """The schema of rows whose problems are among these lines, with every label that a row names."""
    header = list(lines)
    problem = problem_of_lines(header)
    named = [_labels_in(row) for row in rows]
    actions = united([problem["actions"], *named])
    prints = [line["fingerprint"] for line in header if "fingerprint" in line]  # all of one process
    return LogSchema(
        **{**problem, **{name: tuple(problem[name]) for name in ("features", "action_features")}}
        | {"actions": tuple(actions)},
        fingerprint=next(iter(prints), None),
        is_text=all(type(label) is str for label in actions),
    )


def arrow_of_rows(rows: list[Row], schema: LogSchema) -> Any:
    """The rows as an Arrow table; eligible actions are left out where all are in every row."""
    every = list(schema.actions)
    texts = rows if schema.has_text else [_relabelled(row, schema.text_of) for row in rows]
    data = LoggedDecisions(tuple(texts)).to_arrow()
    if all(list(map(repr, row["eligible"])) == list(map(repr, every)) for row in rows):
        data = data.drop_columns(["eligible"])
    names = [_DEFAULTED if name == "expired" else name for name in data.column_names]
    return data.rename_columns(names).replace_schema_metadata(schema.metadata())


def row_of_cells(cells: Mapping[str, Any], schema: LogSchema, number: int) -> Row:
    """The row that the cells of a file in any format version hold, the `number`-th of the file."""
    reward, shown, structs = cells["reward"], cells.get("shown"), cells.get("action_features")
    row = {
        **{name: cells.get(name) for name in _AS_THEY_ARE},
        "context": {
            name.removeprefix(CONTEXT): value
            for name, value in cells.items()
            if name.startswith(CONTEXT) and value is not None
        },
        "sequence": cells.get("sequence", number),
        "eligible": cells.get("eligible"),
        "distribution": cells.get("distribution") or None,
        "silent": cells.get("silent") or None,
        "action_features": [_given(cell) for cell in structs] if structs else None,
        "outcome": cells.get("outcome") or ("open" if reward is None else "final"),
        "expired": cells.get(_DEFAULTED, cells.get("expired", False)),
        "late": cells.get("late", False),
        "shown": shown,
        "overridden": cells.get("overridden", shown is not None),
        "shadow": cells.get("shadow", False),
    }
    if not schema.has_text:
        row = _relabelled(row, schema.label_of)
    return row if row["eligible"] is not None else {**row, "eligible": list(schema.actions)}


_AS_THEY_ARE = (
    *("event_id", "time", "action", "propensity", "phase", "epoch", "round", "epoch_round", "model", "seed"),
    *("reward", "reward_time", "experiment"),
)


def _given(cell: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in cell.items() if value is not None}


def _labels_in(row: Row) -> list[Any]:
    shown = [] if row["shown"] is None else [row["shown"]]
    return [*row["eligible"], row["action"], *shown, *(row["silent"] or [])]


def _relabelled(row: Row, change: Callable[[Any], Any]) -> Row:
    return {
        **row,
        "eligible": None if row["eligible"] is None else [change(label) for label in row["eligible"]],
        "action": change(row["action"]),
        "shown": None if row["shown"] is None else change(row["shown"]),
        "silent": None if row["silent"] is None else [change(label) for label in row["silent"]],
    }
