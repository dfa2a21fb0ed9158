"""Report of an audit: what was computed again, and where the log does not agree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Difference:
    """A value of a logged decision that is not what the policy gives.

    Parameters
    ----------
    event_id
        Id of the decision.
    value
        Name of the value: "distribution", "propensity", "action" or "phase".
    logged
        What the log has.
    recomputed
        What the stored policy gives.
    """

    event_id: str
    value: str
    logged: Any
    recomputed: Any


@dataclass(frozen=True, kw_only=True)
class AuditReport:
    """Outcome of an audit of a decision log; `passed` says whether nothing is wrong.

    Parameters
    ----------
    n_decisions
        Number of decisions in the log.
    n_equal
        Number of decisions that were computed again and are equal, bit for bit.
    differences
        Values that are not what the policy gives.
    not_recomputable
        Number of decisions that could not be computed again in full, by reason.
    missing_policies
        Content hashes of policies that decisions name, and that have no file.
    altered_policies
        Content hashes whose files hold something else, or can't be read.
    duplicates
        Ids of events that were decided more than once.
    wrong_sums
        Ids of decisions whose distribution does not sum to 1, or is negative somewhere.
    out_of_range
        Ids of decisions whose reward is outside the problem's range.
    misfits
        Ids of decisions that lack features or actions of their policy, or have others.
    n_unknown
        Number of outcomes whose decision is not in the log, as where it began later.
    n_cut_off
        Number of last lines that a killed process has left cut off, which is no fault of the log.
    """

    n_decisions: int
    n_equal: int
    differences: tuple[Difference, ...]
    not_recomputable: Mapping[str, int]
    missing_policies: tuple[str, ...]
    altered_policies: tuple[str, ...]
    duplicates: tuple[str, ...]
    wrong_sums: tuple[str, ...]
    out_of_range: tuple[str, ...]
    misfits: tuple[str, ...]
    n_unknown: int
    n_cut_off: int

    @property
    def n_different(self) -> int:
        """Number of decisions with a value that is not what the policy gives."""
        return len({one.event_id for one in self.differences})

    @property
    def n_recomputed(self) -> int:
        """Number of decisions that were computed again, equal or not."""
        return self.n_equal + self.n_different

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong with what was computed again, and no policy is missing."""
        faults = (
            *(self.differences, self.missing_policies, self.altered_policies),
            *(self.duplicates, self.wrong_sums, self.out_of_range, self.misfits),
        )
        return not any(faults)

    def __repr__(self) -> str:
        decisions = "decision" if self.n_decisions == 1 else "decisions"
        counts = f"{self.n_decisions} {decisions}, {self.n_equal} equal, {self.n_different} different"
        return f"AuditReport({counts}; {'passed' if self.passed else 'failed'})"

    def to_json(self) -> str:
        """The fields and counts as one JSON object."""
        counts = {"passed": self.passed, "n_recomputed": self.n_recomputed, "n_different": self.n_different}
        return json.dumps({**counts, **asdict(self)}, ensure_ascii=False)

    def __str__(self) -> str:
        lines = [
            f"{'passed' if self.passed else 'FAILED'}: {self.n_decisions} decisions",
            f"recomputed      {self.n_recomputed} ({self.n_equal} equal, {self.n_different} different)",
        ]
        lines += [f"not recomputed  {n}: {reason}" for reason, n in self.not_recomputable.items()]
        lines += [f"no decision     {self.n_unknown} outcomes"] if self.n_unknown else []
        lines += [f"cut off         {self.n_cut_off} last lines"] if self.n_cut_off else []
        for title, ids in (
            ("missing policy", self.missing_policies),
            ("altered policy", self.altered_policies),
            ("duplicate", self.duplicates),
            ("wrong sum", self.wrong_sums),
            ("out of range", self.out_of_range),
            ("misfit", self.misfits),
        ):
            lines += _listed([f"{title:<15} {one}" for one in ids])
        lines += _listed(
            [
                f"different       {one.event_id}: {one.value} is {one.logged}, recomputed {one.recomputed}"
                for one in self.differences
            ]
        )
        return "\n".join(lines)


def _listed(lines: list[str]) -> list[str]:
    """The first lines, and how many more there are."""
    more = [f"{'':<15} and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return [*lines[:_SHOWN], *more]
