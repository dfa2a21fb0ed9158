"""Rules that may change while a bandit runs, refused where that can't be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gyrfalcon.bandit.engine import BanditEngine
from gyrfalcon.bandit.journal import Rewarded, RulesChanged
from gyrfalcon.bandit.reward_rules import RewardRules
from gyrfalcon.core.inputs.messages import enumeration
from gyrfalcon.core.inputs.problem import Problem

_OF_REWARDS = tuple(RewardRules.__slots__)
_OF_THE_PROBLEM = ("out_of_range", "unknown_features")


def change_rules(engine: BanditEngine, rules: Mapping[str, Any]) -> None:
    """Let an engine go on with other rules, by which other rows may be ready."""
    changed, problem = _changed(engine, rules)
    if changed != engine.rules:
        now, engine.job, engine.failed = engine.clock.now(), None, False
        if changed.reward_timeout is None:  # rewards that wait for their time to be up are final
            waiting = list(engine.ledger.provisional())
            engine.record_all(Rewarded(event_id, now, reward, True) for event_id, reward in waiting)
        engine.record(RulesChanged(now, changed))
    if problem is not None:
        engine.change_problem(problem)


def _changed(engine: BanditEngine, rules: Mapping[str, Any]) -> tuple[RewardRules, Problem | None]:
    """The rules for rewards after these changes, and the problem if one of its rules changes."""
    unknown = [name for name in rules if name not in (*_OF_REWARDS, *_OF_THE_PROBLEM)]
    if unknown:
        names = enumeration([*_OF_REWARDS, *_OF_THE_PROBLEM])
        raise TypeError(f"{enumeration(unknown)} is no rule that can change; rules are {names}.")
    before = engine.problem
    problem = Problem(
        before.actions,
        before.features,
        before.action_features,
        before.reward_range,
        rules.get("out_of_range", before.out_of_range),
        before.cost,
        rules.get("unknown_features"),
    )
    changed = replace(engine.rules, **{name: rules[name] for name in rules if name in _OF_REWARDS})
    changed.check_default(problem.rewards)
    return changed, None if _problem_rules(before) == _problem_rules(problem) else problem


def _problem_rules(problem: Problem) -> tuple[str, str, str]:
    lenience = (problem.features.unknown_features, problem.action_features.unknown_features)
    return problem.out_of_range, *lenience
