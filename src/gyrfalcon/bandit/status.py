"""Status of a running bandit as fields, as a table for people and as JSON for machines."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from dataclasses import asdict, dataclass

from gyrfalcon.bandit.engine import BanditEngine
from gyrfalcon.bandit.history import SettingsChange
from gyrfalcon.bandit.learner_changes import own_learner
from gyrfalcon.core.json_values import json_value
from gyrfalcon.core.policies.limited import control_share_of


@dataclass(frozen=True, slots=True)
class ActionStatus:
    """One action: how often it was decided, how many of these decisions have a reward, and its silence.

    Parameters
    ----------
    label
        Label of the action.
    n_decided
        Number of decisions for it that were not withdrawn.
    n_rewarded
        Number of these decisions that have a reward of their own, not the default one.
    n_final
        Number of these decisions that became final with a reward, also with the default one.
    silent
        Whether it is decided and never rewarded, although others are: its rewards may not be tracked. The
        default reward does not count here. Only without any final outcome is the action left out.
    """

    label: Hashable
    n_decided: int
    n_rewarded: int
    n_final: int
    silent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BanditStatus:
    """Status of a bandit at one moment; printed, it is a table.

    Parameters
    ----------
    learner
        Name of the learner.
    epoch
        Index of the epoch in play.
    round
        Number of rounds played, with rows of logs from elsewhere.
    refit
        "inline" or "background".
    refit_is_running
        Whether a refit is computed at the moment.
    n_refits
        Number of refits.
    refit_seconds
        Seconds that they took together.
    n_decided
        Number of decisions.
    n_pending
        Decisions whose outcome is open, without those whose time is up.
    n_rewarded
        Decisions with a reward of their own.
    n_final
        Decisions whose outcome became final with a reward.
    n_expired
        Decisions with the default reward, as their time was up.
    n_dropped
        Decisions without a reward when their time was up.
    n_crowded
        Decisions that became final early, because more than `max_pending` were open.
    n_withdrawn
        Decisions that had no effect.
    n_late
        Rewards that were refused, because their event had ended.
    n_learned
        Final rows that fits have used.
    n_set_aside
        Final rows that no fit takes.
    mean_reward
        Mean of final rewards, in the problem's units; NaN without any.
    reward_interval
        95% interval of the mean, by the normal approximation.
    passive_share
        Share of passive rounds of the epoch in play.
    exploration_cost
        Mean reward a round that passive rounds have cost so far: their share of the final rounds times how
        far their mean reward is below that of the policy's rounds; NaN without both kinds.
    actions
        Every action.
    model
        Content hash of the policy in play, as decisions carry it; None if it can't be stored.
    learner_state
        Content hash of the learner's state, from which the next epoch is fitted; None if it can't be stored.
    notes
        Sentences on what needs attention.
    details
        Sentences of the last fit, such as the model class that was chosen and why.
    history
        Changes of settings, actions and learner while it ran, the latest 1,000 of them.
    """

    learner: str
    epoch: int
    round: int
    refit: str
    refit_is_running: bool
    n_refits: int
    refit_seconds: float
    n_decided: int
    n_pending: int
    n_rewarded: int
    n_final: int
    n_expired: int
    n_dropped: int
    n_crowded: int
    n_withdrawn: int
    n_late: int
    n_learned: int
    n_set_aside: int
    mean_reward: float
    reward_interval: tuple[float, float]
    passive_share: float
    exploration_cost: float
    actions: tuple[ActionStatus, ...]
    model: str | None
    learner_state: str | None
    notes: tuple[str, ...]
    details: tuple[str, ...]
    history: tuple[SettingsChange, ...]

    def to_json(self) -> str:
        """The fields as one JSON object; numbers that are not finite are null, labels are text."""
        return json.dumps(json_value(asdict(self)), ensure_ascii=False)

    def __str__(self) -> str:
        low, high = self.reward_interval
        running = ", one is running" if self.refit_is_running else ""
        ending = f"{self.n_expired} expired, {self.n_dropped} dropped, {self.n_crowded} crowded out"
        lines = [
            f"{self.learner}, epoch {self.epoch}, round {self.round}",
            f"decisions    {self.n_decided} decided, {self.n_pending} pending, {self.n_final} final",
            f"rewards      {self.n_rewarded} credited, {self.n_late} late; {ending}",
            f"fits         {self.n_learned} rows used, {self.n_set_aside} set aside",
            f"refits       {self.n_refits} ({self.refit}) in {self.refit_seconds:.3g} s{running}",
            f"mean reward  {self.mean_reward:.4g} (95% interval {low:.4g} to {high:.4g})",
            f"exploration  {self.passive_share:.2%} passive rounds; cost {self.exploration_cost:.3g} a round",
            "actions      "
            + ", ".join(f"{one.label!r} {one.n_decided}" for one in self.actions[:10])
            + (f" and {len(self.actions) - 10} more" if len(self.actions) > 10 else ""),
        ]
        if self.model or self.learner_state:
            lines.append(f"hashes       policy {self.model}, learner's state {self.learner_state}")
        lines += [f"fit          {sentence}" for sentence in self.details]
        lines += [f"changed      {change}" for change in self.history[-10:]]
        lines += [f"attention    {sentence}" for sentence in self.notes]
        return "\n".join(lines)


def status_of(engine: BanditEngine, refit: str) -> BanditStatus:
    """The status of an engine, without the hash of the learner's state, which needs no lock."""
    counts, report = engine.ledger.counts, engine.epoch.report
    actions, policy, passive = _actions(engine), counts.policy, counts.passive
    everything = policy.merged(passive)
    cost = math.nan
    if policy.n and passive.n:
        worse = policy.mean - passive.mean
        cost = (-worse if engine.problem.cost else worse) * passive.n / everything.n
    return BanditStatus(
        learner=type(own_learner(engine.learner)).__name__,
        epoch=engine.epoch.index,
        round=counts.round,
        refit=refit,
        refit_is_running=engine.job is not None,
        n_refits=engine.n_refits,
        refit_seconds=engine.refit_seconds,
        n_pending=engine.n_pending,
        n_decided=counts.n_decided,
        n_rewarded=counts.n_rewarded,
        n_final=counts.n_final,
        n_expired=counts.n_expired,
        n_dropped=counts.n_dropped,
        n_crowded=counts.n_crowded,
        n_withdrawn=counts.n_withdrawn,
        n_late=counts.n_late,
        n_learned=counts.n_learned,
        n_set_aside=counts.n_set_aside,
        mean_reward=everything.mean if everything.n else math.nan,
        reward_interval=everything.interval(),
        passive_share=(1.0 - control_share_of(engine.epoch.policy)) * engine.epoch.passive_share,
        exploration_cost=cost,
        actions=actions,
        model=engine.model,
        learner_state=None,
        notes=(*_notes(engine, actions), *(() if report is None else report.notes)),
        details=() if report is None else report.details,
        history=engine.history,
    )


def _actions(engine: BanditEngine) -> tuple[ActionStatus, ...]:
    ledger, counts = engine.ledger, engine.ledger.counts
    tallies, silent = ledger.tallies, ledger.tallies.silent(counts.longest_delay, counts.n_decided)
    columns = [one.tolist() for one in (tallies.decided, tallies.rewarded, tallies.final, silent)]
    return tuple(ActionStatus(*row) for row in zip(ledger.problem.actions, *columns, strict=True))


def _notes(engine: BanditEngine, actions: tuple[ActionStatus, ...]) -> list[str]:
    counts, notes = engine.ledger.counts, []
    for one in actions:
        if one.silent:
            remedy = "its default rewards count, so check its tracking if others are to be expected"
            notes.append(
                f"action {one.label!r} was decided {one.n_decided} times and never rewarded; "
                f"{remedy if one.n_final else 'check its tracking'}."
            )
    if counts.n_crowded:
        notes.append(
            f"{counts.n_crowded} events became final early, because more than "
            f"max_pending = {engine.rules.max_pending} were open; raise it."
        )
    if counts.n_late:
        notes.append(f"{counts.n_late} rewards came too late and were refused; raise reward_timeout.")
    if counts.n_set_aside:
        notes.append(
            f"{counts.n_set_aside} rows were set aside, because the learner fails on them "
            f"({engine.ledger.refusal})."
        )
    if engine.failed:
        notes.append("the learner failed on the rows so far; it is called again after the next reward.")
    if engine.rules.reward_timeout is None and counts.n_waiting:
        notes.append("without a reward_timeout fits use rewarded rows alone: quick rewards count first.")
    return notes
