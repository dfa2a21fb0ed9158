"""Rules for rewards that come late, twice or never: what a reward does to the event that it is for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from gyrfalcon.bandit.events import Closed, Event, Settled
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.inputs.reward_range import RewardRange
from gyrfalcon.core.validation import check_seconds, check_whole

OnDuplicate = Literal["error", "first", "last", "sum"]

_CLOSED: dict[Closed, str] = {
    "learned": "has been rewarded and learned from",
    "dropped": "expired without a reward and was dropped",
    "defaulted": "expired without a reward and earned the default one",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardRules:
    """Rules for rewards that come late, twice or never.

    Parameters
    ----------
    reward_timeout
        Seconds after its decision at which an event expires; None waits without limit. A reward that comes
        later is refused.
    default_reward
        Reward of an event that expires; None drops the event.
    max_pending
        Number of events that may wait for a reward: when there are more, the oldest expires.
    on_duplicate
        Effect of a second reward for an event: "error" refuses it, "first" ignores it, "last" takes its
        value, and "sum" adds it, where the total must be in the reward range or follows `out_of_range`. Once
        the first reward was learned from, "last" and "sum" refuse too.
    """

    reward_timeout: float | None = None
    default_reward: float | None = None
    max_pending: int = 100_000
    on_duplicate: OnDuplicate = "error"

    def __post_init__(self) -> None:
        check_seconds("reward_timeout", self.reward_timeout)
        check_whole("max_pending", self.max_pending)
        if self.on_duplicate not in get_args(OnDuplicate):
            raise ValueError(
                f"on_duplicate is {short_repr(self.on_duplicate)}; choose 'error', 'first', 'last' or 'sum'."
            )

    def check_default(self, rewards: RewardRange) -> None:
        """Refuse a default reward that the reward range refuses."""
        if self.default_reward is not None:
            rewards.checked(self.default_reward)

    def credited(
        self, event_id: str, known: Event | Settled | Closed | None, value: object, rewards: RewardRange
    ) -> Settled | None:
        """The settled event after a reward; None if the reward changes nothing, an error if it is refused.

        `known` is what the event store has under this id.
        """
        if isinstance(known, Event):
            return Settled(known, rewards.checked(value))
        if isinstance(known, Settled) and not known.expired:
            return self._amended(event_id, known, value, rewards)
        closed: Closed | None = "defaulted" if isinstance(known, Settled) else known
        if closed is None:
            raise ValueError(
                f"event {short_repr(event_id)} is unknown: no decision with this id is waiting for a reward; "
                "give the event_id of a Decision."
            )
        if closed != "learned" or self.on_duplicate != "first":
            raise ValueError(
                f"event {short_repr(event_id)} {_CLOSED[closed]}; a further reward can't change that."
            )
        rewards.checked(value)
        return None

    def _amended(self, event_id: str, before: Settled, value: object, rewards: RewardRange) -> Settled | None:
        reward = rewards.checked(value)
        match self.on_duplicate:
            case "error":
                raise ValueError(
                    f"event {short_repr(event_id)} has a reward already ({before.reward}); choose "
                    "on_duplicate='first', 'last' or 'sum' if several may come."
                )
            case "first":
                return None
            case "last":
                return Settled(before.event, reward)
            case "sum":
                return Settled(before.event, rewards.checked(before.reward + reward))
