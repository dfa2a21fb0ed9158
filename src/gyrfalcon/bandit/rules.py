"""What happens to rewards that come late, twice or never."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from gyrfalcon.bandit.checks import check_count, check_seconds
from gyrfalcon.core.tables import shown

Repeated = Literal["error", "first", "last", "sum"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardRules:
    """What happens to rewards that come late, twice or never.

    An event expires `time_to_live` seconds after its decision, or as the oldest when more than `max_pending`
    would wait: it then earns `default_reward`, or is dropped when that is None, and a reward that comes even
    later is refused. `repeated` says what a second reward for an event does: "error" refuses it, "first"
    ignores it, "last" takes its value, and "sum" adds it, where the total must be in the range or follows
    the rule for what lies outside. Once the first reward was learned from, "last" and "sum" refuse too.
    """

    time_to_live: float | None = None
    default_reward: float | None = None
    max_pending: int = 100_000
    repeated: Repeated = "error"

    def __post_init__(self) -> None:
        check_seconds("time_to_live", self.time_to_live)
        check_count("max_pending", self.max_pending)
        if self.repeated not in get_args(Repeated):
            raise ValueError(f"repeated is {shown(self.repeated)}; choose 'error', 'first', 'last' or 'sum'.")
