"""Lines of Vowpal Wabbit's dsjson, written from tables of decisions."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.logs.formats.exporting import check_for_wabbit, identity_name, write_lines


def write_dsjson(table: DecisionTable, path: str | os.PathLike[str]) -> None:
    """Write a table of decisions as a dsjson file for Vowpal Wabbit.

    Costs are rewards with the sign changed, or the costs of a table of costs. Each action has its label as
    `_tag` and as a text feature, which Vowpal Wabbit learns one weight for. A decision without a reward has
    no `_label_cost`. `read_log` gives the table again, but for labels, which become text or whole numbers,
    and for epochs, rounds, phases, experiments and times of rewards, which the format lacks.

    Parameters
    ----------
    table
        The decisions, with known actions and propensities.
    path
        The file, which is replaced in one step; it is compressed with gzip if its name ends with .gz.

    Raises
    ------
    ValueError
        If a row has no action or no propensity, or a name is one that Vowpal Wabbit passes over.
    """
    write_lines(path, dsjson_lines(table))


def dsjson_lines(table: DecisionTable) -> Iterator[str]:
    """The lines of a table in dsjson, one decision each."""
    check_for_wabbit(table)
    for name in (*table.features, *table.action_features):
        if name.startswith("_"):
            raise ValueError(
                f"the feature {short_repr(name)} starts with _, which Vowpal Wabbit passes over; rename it."
            )
    identity, labels = identity_name(table), [str(label) for label in table.actions]
    eligible = table.eligible
    costs = table.reward if table.cost else 0.0 - table.reward
    for row in range(len(table)):
        spots = np.flatnonzero(eligible[row])
        chosen = int(np.flatnonzero(spots == table.action[row])[0])
        line: dict[str, Any] = {}
        if not np.isnan(costs[row]):
            line["_label_cost"] = float(costs[row])
        line |= {
            "_label_probability": float(table.propensity[row]),
            "_label_Action": chosen + 1,
            "_labelIndex": chosen,
        }
        if "_label_cost" in line and (table.defaulted is None or not table.defaulted[row]):
            line["o"] = [{"v": float(table.reward[row]), "EventId": _event_id(table, row)}]
        yield json.dumps(
            line
            | _about(table, row)
            | _ranked(table, row, chosen, spots)
            | {
                "c": _context(table, row, spots, labels, identity),
                "VWState": {"m": None if table.model is None else table.model[row]},
            }
        )


def _about(table: DecisionTable, row: int) -> dict[str, Any]:
    about: dict[str, Any] = {"Version": "1", "EventId": _event_id(table, row)}
    if table.time is not None and math.isfinite(table.time[row]):
        about["Timestamp"] = timestamp(float(table.time[row]))
    if table.shadow is not None and table.shadow[row]:
        about["_skipLearn"] = True
    return about


def _event_id(table: DecisionTable, row: int) -> Any:
    return None if table.event_id is None else table.event_id[row]


def _ranked(table: DecisionTable, row: int, chosen: int, spots: Any) -> dict[str, Any]:
    """The chosen action first, then the others; without a distribution, the chosen one alone."""
    if table.distribution is None or np.isnan(table.distribution[row, spots]).any():
        return {"a": [chosen + 1], "p": [float(table.propensity[row])]}
    order = [chosen, *(place for place in range(len(spots)) if place != chosen)]
    shares = table.distribution[row, spots]
    return {"a": [place + 1 for place in order], "p": [float(shares[place]) for place in order]}


def _context(table: DecisionTable, row: int, spots: Any, labels: list[str], identity: str) -> dict[str, Any]:
    shared = table.contexts.shared[row].tolist()
    cube = table.contexts.actions
    multi = []
    for spot in spots.tolist():
        own = [] if cube is None else cube[row, spot].tolist()
        features = {identity: labels[spot], **_given(table.action_features, own)}
        multi.append({"_tag": labels[spot], "action": features})
    return {**({"context": _given(table.features, shared)} if shared else {}), "_multi": multi}


def _given(names: tuple[str, ...], values: list[float]) -> dict[str, float]:
    """Features by name; one that is missing is left out, because JSON has no number for it."""
    return {name: value for name, value in zip(names, values, strict=False) if value == value}  # noqa: PLR0124


def timestamp(seconds: float) -> str:
    """A time as text by ISO 8601 in UTC, to a tenth of a microsecond.

    >>> timestamp(1.25), timestamp(1732000000.1234567)
    ('1970-01-01T00:00:01.2500000Z', '2024-11-19T07:06:40.1234567Z')
    """
    start = math.floor(seconds)
    ticks = round((seconds - start) * 1e7)  # of the fraction alone: all ticks since 1970 would be rounded
    whole = datetime.fromtimestamp(start + ticks // 10_000_000, UTC)
    return f"{whole:%Y-%m-%dT%H:%M:%S}.{ticks % 10_000_000:07d}Z"
