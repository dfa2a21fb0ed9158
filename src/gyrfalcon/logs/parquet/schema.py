"""What a Parquet file of logged decisions says of all its rows: version, actions, features, rewards."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.logs.lines.folder import check_format, rest_of, whole_lines
from gyrfalcon.logs.lines.rows import FORMAT, Line, logged_label

CONTEXT = "context."
"""What names of columns with shared features begin with."""
VERSION = b"gyrfalcon.log.format"
_LABELS = b"gyrfalcon.log.labels"
_FINGERPRINT = b"gyrfalcon.log.fingerprint"
_PROBLEM = b"gyrfalcon.log.problem"

Uniforms = Literal["event", "simulation", "replay", "unknown"]
"""What drew the actions: a hash of seed and event id, streams of a simulation or a replay, or others."""


class SimulatedRows(NamedTuple):
    """Which replications of a simulation the rows of a file belong to.

    Attributes
    ----------
    experiment
        Name of the experiment.
    first
        Number of the first replication.
    stop
        Number after that of the last replication.
    """

    experiment: str
    first: int
    stop: int


@dataclass(frozen=True, slots=True)
class LogSchema:
    """What all rows of a file have in common.

    Parameters
    ----------
    actions
        Labels of actions as JSON has them.
    features
        Names of shared features.
    action_features
        Names of features of actions.
    reward_range
        Lowest and highest possible reward, if known.
    cost
        Whether rewards are costs.
    uniforms
        What drew the actions.
    simulated
        Which replications of a simulation the rows are; None for other rows.
    fingerprint
        Versions of the process that decided; None if unknown.
    is_text
        Whether labels stand in columns as they are, or else as JSON; by default, whether all are text.
    version
        Format version of the file.
    """

    actions: tuple[Any, ...]
    features: tuple[str, ...] = ()
    action_features: tuple[str, ...] = ()
    reward_range: tuple[float, float] | None = None
    cost: bool = False
    uniforms: Uniforms = "unknown"
    simulated: SimulatedRows | None = None
    fingerprint: Mapping[str, Any] | None = field(default=None, compare=False)
    is_text: bool | None = None
    version: int = FORMAT

    @staticmethod
    def of(
        table: DecisionTable,
        uniforms: Uniforms = "unknown",
        simulated: SimulatedRows | None = None,
        fingerprint: Mapping[str, Any] | None = None,
    ) -> LogSchema:
        """The schema of a table's rows; ValueError if two labels are equal in a file."""
        labels = tuple(map(logged_label, table.actions))
        known: dict[str, Any] = {}
        for own, label in zip(table.actions, labels, strict=True):
            if (text := json.dumps(label)) in known:
                raise ValueError(
                    f"the actions {short_repr(known[text])} and {short_repr(own)} are both {text} in a file; "
                    "give them labels that differ as text."
                )
            known[text] = own
        return LogSchema(
            labels,
            tuple(table.features),
            tuple(table.action_features),
            table.reward_range,
            bool(table.cost),
            uniforms,
            simulated,
            fingerprint,
        )

    @property
    def has_text(self) -> bool:
        """Whether labels stand in columns as they are."""
        if self.is_text is None:
            return all(type(label) is str for label in self.actions)
        return self.is_text

    def text_of(self, label: Any) -> str:
        """A label as it stands in columns."""
        return label if self.has_text else json.dumps(label)

    def label_of(self, text: str) -> Any:
        """The label that stands in columns as this text."""
        return text if self.has_text else json.loads(text)

    def metadata(self) -> dict[bytes, bytes]:
        """The schema as the metadata of a Parquet file."""
        problem = {
            "actions": list(self.actions),
            "features": list(self.features),
            "action_features": list(self.action_features),
            "reward_range": None if self.reward_range is None else list(self.reward_range),
            "cost": self.cost,
            "uniforms": self.uniforms,
            "simulated": self.simulated,
        }
        about = {VERSION: str(FORMAT).encode(), _LABELS: b"text" if self.has_text else b"json"}
        about[_PROBLEM] = json.dumps(problem, ensure_ascii=False).encode()
        if self.fingerprint is not None:
            about[_FINGERPRINT] = json.dumps(self.fingerprint).encode()
        return about

    @staticmethod
    def read(metadata: Mapping[bytes, bytes] | None, names: Sequence[str], path: Path) -> LogSchema:
        """The schema of the file with this metadata and these columns.

        Files of format version 1 have their problem in the file of other lines beside them.

        Raises
        ------
        ValueError
            If the file is none of a log, or of a newer format.
        """
        about = metadata or {}
        if VERSION not in about:
            raise ValueError(
                f"{path} is no file of a decision log: its metadata has no {VERSION.decode()}; "
                "give the folder of a log alone, or read the file with its own format."
            )
        version = about.get(VERSION, b"").decode()
        check_format(int(version) if version.isdecimal() else version, path)
        is_text, fingerprint = about.get(_LABELS) == b"text", about.get(_FINGERPRINT)
        try:
            problem = _earlier(path, names) if _PROBLEM not in about else json.loads(about[_PROBLEM])
            spread = problem["reward_range"]
            return LogSchema(
                tuple(problem["actions"]),
                tuple(problem["features"]),
                tuple(problem["action_features"]),
                None if spread is None else (float(spread[0]), float(spread[1])),
                bool(problem["cost"]),
                problem["uniforms"],
                None if problem.get("simulated") is None else SimulatedRows(*problem["simulated"]),
                None if fingerprint is None else json.loads(fingerprint),
                is_text,
                int(version),
            )
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ValueError(f"{path} is damaged: its metadata can't be read ({error!r}).") from None


def problem_of_lines(lines: Iterable[Line]) -> dict[str, Any]:
    """What the problems of a live bandit's lines have in common: all their actions and features."""
    problems = [line for line in lines if line.get("kind") == "problem"]
    ranges = [_declared_range(line) for line in problems]
    known = [one for one in ranges if one is not None]
    return {
        "actions": united(line.get("actions", ()) for line in problems),
        "features": united(line.get("features", ()) for line in problems),
        "action_features": united(line.get("action_features", ()) for line in problems),
        "reward_range": united_range(known) if known and len(known) == len(ranges) else None,
        "cost": any(line.get("cost", False) for line in problems),
        "uniforms": "event",
    }


def united(parts: Iterable[Iterable[Any]]) -> list[Any]:
    """All values in the order of their first appearance; 1, True and "1" are different ones."""
    different = {repr(part): part for part in map(tuple, parts)}  # of thousands of files, most are alike
    seen = {json.dumps(value): value for part in different.values() for value in part}
    return list(seen.values())


def united_range(ranges: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """The range that covers all of these."""
    lows, highs = zip(*ranges, strict=True)
    return min(lows), max(highs)


def _declared_range(problem: Line) -> tuple[float, float] | None:
    given = problem.get("reward_range")
    if given is None or problem.get("out_of_range") == "accept":
        return None
    return float(given[0]), float(given[1])


def _earlier(path: Path, names: Sequence[str]) -> dict[str, Any]:
    """The problem of a file of format version 1; without lines beside it, its features alone."""
    rest = rest_of(path)
    lines = list(whole_lines(rest.read_bytes(), rest)) if rest.exists() else []
    problem = problem_of_lines(lines)
    columns = [name.removeprefix(CONTEXT) for name in names if name.startswith(CONTEXT)]
    return {**problem, "features": united([problem["features"], columns])}
