"""Rules for rewards that come late, twice or never: what a reward does to the event that it is for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from gyrfalcon.bandit.event_table import Event, Status
from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.inputs.reward_range import RewardRange
from gyrfalcon.core.validation import check_seconds, check_whole

OnDuplicate = Literal["error", "first", "last", "sum"]

_ENDED = {
    Status.LEARNED: "has been rewarded and learned from",
    Status.DROPPED: "expired without a reward and was dropped",
    Status.WITHDRAWN: "was withdrawn",
    Status.RETIRED: "has a reward, and its action was retired",
    Status.SET_ASIDE: "has a reward that no fit takes, and was set aside",
}


class LateRewardError(ValueError):
    """A reward came for an event that had ended without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardRules:
    """Rules for rewards that come late, twice or never.

    Parameters
    ----------
    reward_timeout
        Seconds after its decision at which an event's outcome is final: its reward, or the default one. None
        waits without limit, and a reward is final when it comes. A reward after the timeout is refused.
    default_reward
        Reward of an event that has none when its time is up; None drops the event.
    max_pending
        Number of events whose outcome may be open: when there are more, that of the oldest becomes final as
        if its time were up.
    on_duplicate
        Effect of a second reward for an event: "error" refuses it, "first" ignores it, "last" takes its
        value, and "sum" adds it, where the total must be in the reward range or follows `out_of_range`. Once
        a reward is final by a timeout, by `final=True` or because a fit has used it, "last" and "sum" refuse
        too.
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

    @property
    def silence_is_outcome(self) -> bool:
        """Whether a decision without a reward has the default one as its outcome in the end."""
        return self.reward_timeout is not None and self.default_reward is not None

    def check_default(self, rewards: RewardRange) -> None:
        """Refuse a default reward that the reward range refuses."""
        if self.default_reward is not None:
            rewards.checked(self.default_reward)

    def outcome(self, event: Event) -> tuple[float, bool]:
        """The final reward of an event whose time is up, NaN if it is dropped; whether it is the default."""
        if not math.isnan(event.reward):
            return event.reward, False
        if self.default_reward is None:
            return math.nan, False
        return float(self.default_reward), True

    def credited(
        self, event_id: str, event: Event | None, value: object, rewards: RewardRange, *, in_fit: bool
    ) -> float | None:
        """The reward of an event after this one; None if it changes nothing, an error if it is refused.

        `in_fit` says that a fit is using the event's row.
        """
        if event is None:
            raise ValueError(
                f"event {short_repr(event_id)} is unknown: no decision with this id is waiting for a reward; "
                "give the event_id of a Decision."
            )
        if event.status == Status.PENDING:
            return rewards.checked(value)
        is_fixed = in_fit or event.status > Status.FINAL or event.expired
        is_fixed = is_fixed or (event.status == Status.FINAL and self.reward_timeout is not None)
        if is_fixed:
            self._refuse_fixed(event_id, event)
            rewards.checked(value)
            return None
        return self._amended(event_id, event.reward, value, rewards)

    def _refuse_fixed(self, event_id: str, event: Event) -> None:
        """Refuse a reward for an event whose reward is final, unless the first one counts anyway."""
        if event.expired:
            sentence = "expired without a reward and earned the default one"
        else:
            sentence = _ENDED.get(Status(event.status), "has a final reward")
        if event.crowded:
            sentence += f", because more than max_pending = {self.max_pending} events were open"
        message = f"event {short_repr(event_id)} {sentence}; a further reward can't change that."
        if event.expired or event.status == Status.DROPPED:
            raise LateRewardError(message)
        if self.on_duplicate != "first" or event.status == Status.WITHDRAWN:
            raise ValueError(message)

    def _amended(self, event_id: str, before: float, value: object, rewards: RewardRange) -> float | None:
        reward = rewards.checked(value)
        match self.on_duplicate:
            case "error":
                raise ValueError(
                    f"event {short_repr(event_id)} has a reward already ({before}); choose "
                    "on_duplicate='first', 'last' or 'sum' if several may come."
                )
            case "first":
                return None
            case "last":
                return reward
            case "sum":
                return rewards.checked(before + reward)
