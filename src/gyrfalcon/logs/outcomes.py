"""Outcomes of logged decisions: lines on events and the rows that they belong to, in whatever order."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.logs.rows import Line, Row, row_of


class RowBuilder:
    """Rows of decisions from the lines of one file or many, joined with the outcomes among the lines.

    The latest outcome of an event counts, so that lines may be added in any order, and twice.

    Attributes
    ----------
    rows
        Every decision that was added, also those under an id that was there before.
    others
        Lines that are neither decisions nor outcomes.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.others: list[Line] = []
        self._outcomes: dict[str, list[Line]] = {}

    def add_file(self, lines: Iterable[Line], source: Path) -> None:
        """Add the lines of one file, whose decisions belong to the last problem before them."""
        problem: Line = {}
        for line in lines:
            try:
                problem = self._add(line, problem)
            except (KeyError, ValueError, TypeError, IndexError) as error:
                event_id = short_repr(line.get("event_id"))
                raise ValueError(
                    f"{source}: the line on event {event_id} is damaged ({error!r}); remove it to go on."
                ) from None

    def _add(self, line: Line, problem: Line) -> Line:
        match line["kind"]:
            case "decided":
                self.rows.append(row_of(line, problem))
            case "final" | "withdrawn" | "late":
                self._outcomes.setdefault(line["event_id"], []).append(_checked(line))
            case kind:
                self.others.append(line)
                return line if kind == "problem" else problem
        return problem

    def join(self) -> list[Line]:
        """Let all outcomes take effect; those of events that are not among the rows are returned."""
        known = set()
        for row in self.rows:
            known.add(row["event_id"])
            for line in sorted(self._outcomes.get(row["event_id"], ()), key=_order):
                _apply(row, line)
        return [line for event_id, lines in self._outcomes.items() if event_id not in known for line in lines]


def _checked(line: Line) -> Line:
    """An outcome's line that has numbers where it must."""
    for name in ("time", "sequence") if line["kind"] != "final" else ("time", "sequence", "reward"):
        if not isinstance(line[name], int | float | None):
            raise TypeError(f"{name} is {line[name]!r}")
    return line


def _order(line: Line) -> tuple[float, int]:
    return line["time"], line["sequence"]


def _apply(row: Row, line: Line) -> None:
    if line["kind"] == "late":
        row["late"] = True
    elif row["reward_time"] is None or line["time"] >= row["reward_time"]:
        reward = line.get("reward")
        settled = "final" if reward is not None else "dropped"
        row["outcome"] = "withdrawn" if line["kind"] == "withdrawn" else settled
        row["reward"], row["reward_time"] = reward, line["time"]
        row["expired"], row["shown"] = line.get("expired", False), line.get("shown")
