"""What an audit has found so far, and the stored policies that decisions are computed by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from gyrfalcon.bandit.audit_report import Difference
from gyrfalcon.bandit.decision_rules import DecisionRule
from gyrfalcon.logs.lines.folder import policy_file

_NO_POLICY = "their policy can't be stored"
_MISSING = "their policy is missing"
_UNREADABLE = "their policy can't be read"
ONLY_PROBABILITIES = "the log has no seed, so that only their probabilities were compared"


class NotRecomputableError(Exception):
    """Decisions can't be computed again, and why."""


@dataclass
class Findings:
    """What an audit has found so far."""

    n_decisions: int = 0
    n_equal: int = 0
    differences: list[Difference] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    missing: set[str] = field(default_factory=set)
    altered: set[str] = field(default_factory=set)
    duplicates: list[str] = field(default_factory=list)
    wrong_sums: list[str] = field(default_factory=list)
    out_of_range: list[str] = field(default_factory=list)
    misfits: list[str] = field(default_factory=list)


def stored_rule(folder: Path, model: str | None, classes: Iterable[type], found: Findings) -> DecisionRule:
    """The policy with this content hash; NotRecomputableError if it is missing or another one."""
    from gyrfalcon.storage import files
    from gyrfalcon.storage.content_hash import content_hash

    if model is None:
        raise NotRecomputableError(_NO_POLICY)
    file = policy_file(folder, model)
    if not file.is_file():
        found.missing.add(model)
        raise NotRecomputableError(_MISSING)
    try:
        rule = files.load(file, classes)
    except ValueError as error:
        found.altered.add(model)
        raise NotRecomputableError(f"{_UNREADABLE}: {error}") from None
    if not isinstance(rule, DecisionRule) or content_hash(rule, classes) != model:
        found.altered.add(model)
        raise NotRecomputableError("their policy is another one than the log names")
    return rule
