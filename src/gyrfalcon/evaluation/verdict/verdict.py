"""Verdicts: whether a value estimated from a log may be trusted, with a reason for each check."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["trust", "caution", "do not trust"]
LEVELS: tuple[Level, ...] = ("trust", "caution", "do not trust")
"""From best to worst."""


@dataclass(frozen=True, slots=True)
class Reason:
    """What one check found, as a sentence with its number.

    Parameters
    ----------
    level
        What the finding alone leads to: "trust", "caution" or "do not trust".
    check
        Name of the check.
    text
        The finding.
    """

    level: Level
    check: str
    text: str

    @staticmethod
    def of(level: Level, check: str, finding: str, objection: str) -> Reason:
        """The reason with a finding, and what it means and what to do about it unless the level is "trust".

        >>> Reason.of("trust", "rows", "90 rows match", "collect more rows").text
        '90 rows match.'
        """
        return Reason(level, check, f"{finding}." if level == "trust" else f"{finding}; {objection}.")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The worst level among the reasons, and the reasons.

    Parameters
    ----------
    reasons
        One or several for each check, worst first.

    Examples
    --------
    >>> verdict = Verdict.of([Reason("trust", "rows", "500 rows."), Reason("caution", "range", "Unknown.")])
    >>> verdict.level, [reason.check for reason in verdict.reasons]
    ('caution', ['range', 'rows'])
    """

    reasons: tuple[Reason, ...]

    @staticmethod
    def of(reasons: Iterable[Reason]) -> Verdict:
        """The verdict for these reasons, sorted from worst to best."""
        return Verdict(tuple(sorted(reasons, key=lambda reason: -LEVELS.index(reason.level))))

    @property
    def level(self) -> Level:
        """The worst level among the reasons; "trust" if there are none."""
        return max((reason.level for reason in self.reasons), key=LEVELS.index, default="trust")

    @property
    def objections(self) -> tuple[Reason, ...]:
        """The reasons that speak against trust, worst first."""
        return tuple(reason for reason in self.reasons if reason.level != "trust")

    def __str__(self) -> str:
        return self.level
