"""Outcomes of logged decisions: lines on events and the rows that they belong to, in whatever order."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.logs.lines.rows import Line, Row, row_of

_OUTCOME = ("outcome", "reward", "reward_time", "expired", "shown", "overridden")
_DECIDED = (
    *("sequence", "time", "context", "action", "propensity", "phase", "epoch", "round", "epoch_round"),
    *("silent", "model", "eligible", "distribution", "action_features", "seed"),
)


class RowBuilder:
    """Rows of decisions from the lines of one file or many, joined with the outcomes among the lines.

    The latest outcome of an event counts, so that lines may be added in any order, and twice. An outcome
    belongs to the latest decision before it under its event id: after a crash, an id that the caller has
    chosen may be decided again. A decision's line that was written twice, as where a signal came between, is
    one decision.

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
        self._outcomes: dict[str, list[tuple[int, Line]]] = {}
        self._decisions: dict[str, list[tuple[int, Row]]] = {}
        self._n_added = 0

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

    def add_row(self, row: Row) -> None:
        """Add a decision, whose outcome may be joined to it already."""
        self._n_added += 1
        known = self._decisions.setdefault(row["event_id"], [])
        for _, before in known:
            if all(before[name] == row[name] for name in _DECIDED):
                _merge(before, row)
                return
        known.append((self._n_added, row))
        self.rows.append(row)

    def _add(self, line: Line, problem: Line) -> Line:
        match line["kind"]:
            case "decided":
                self.add_row(row_of(line, problem))
            case "final" | "withdrawn" | "late":
                self._n_added += 1
                self._outcomes.setdefault(line["event_id"], []).append((self._n_added, _checked(line)))
            case kind:
                self.others.append(line)
                return line if kind == "problem" else problem
        return problem

    def join(self) -> list[Line]:
        """Let all outcomes take effect; those of events that are not among the rows are returned."""
        unknown = []
        for event_id, outcomes in self._outcomes.items():
            decisions = self._decisions.get(event_id)
            for place, line in sorted(outcomes, key=_order):
                if decisions is None:
                    unknown.append(line)
                else:
                    _apply(_decision_before(decisions, place, line["time"]), line)
        return unknown


def _decision_before(decisions: list[tuple[int, Row]], place: int, time: float) -> Row:
    """The latest decision before an outcome; at equal times, the one whose line comes before it."""
    if len(decisions) == 1:
        return decisions[0][1]
    earlier = [one for one in decisions if one[1]["time"] <= time] or decisions
    latest = max(row["time"] for _, row in earlier)
    at_once = [one for one in earlier if one[1]["time"] == latest]
    return ([row for own, row in at_once if own < place] or [row for _, row in at_once])[-1]


def _checked(line: Line) -> Line:
    """An outcome's line that has numbers where it must."""
    for name in ("time", "sequence") if line["kind"] != "final" else ("time", "sequence", "reward"):
        if not isinstance(line[name], int | float | None):
            raise TypeError(f"{name} is {line[name]!r}")
    return line


def _order(outcome: tuple[int, Line]) -> tuple[float, int]:
    return outcome[1]["time"], outcome[1]["sequence"]


def _merge(row: Row, again: Row) -> None:
    """Take in the outcome that the line of a decision has, which was read before without it."""
    row["late"] = row["late"] or again["late"]
    if again["outcome"] != "open" and (row["outcome"] == "open" or again["reward_time"] > row["reward_time"]):
        row.update({name: again[name] for name in _OUTCOME})


def _apply(row: Row, line: Line) -> None:
    if line["kind"] == "late":
        row["late"] = True
    elif row["reward_time"] is None or line["time"] >= row["reward_time"]:
        reward = line.get("reward")
        settled = "final" if reward is not None else "dropped"
        row["outcome"] = "withdrawn" if line["kind"] == "withdrawn" else settled
        row["reward"], row["reward_time"] = reward, line["time"]
        row["expired"], row["shown"] = line.get("expired", False), line.get("shown")
        row["overridden"] = row["shown"] is not None
