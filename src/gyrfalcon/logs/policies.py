"""Policies that are stored beside a log, as target policies to be evaluated."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.epochs import Epoch, PassiveDesign
from gyrfalcon.core.inputs.messages import enumeration, short_repr
from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.evaluation.policies.target_policies import of_policy
from gyrfalcon.evaluation.policies.targets import TargetPolicy
from gyrfalcon.logs.lines.folder import policy_file


def stored_policy(
    folder: str | os.PathLike[str],
    model: str,
    *,
    greedy: bool = False,
    held_out: bool = False,
    classes: Iterable[type] = (),
) -> TargetPolicy:
    """The policy of a decision log with this content hash, as a target policy.

    Parameters
    ----------
    folder
        The folder of the log.
    model
        Content hash of the policy, as a column of the log has it, or the first characters of one.
    greedy
        Whether to take the best action by the policy's reward estimates instead of its exploration.
    held_out
        Whether it is evaluated on rows that it was not learned from.
    classes
        Dataclasses of your own that the policy holds.

    Raises
    ------
    ValueError
        If there is no such policy, or several.
    """
    rule = _rule(Path(folder), model, classes)
    return _target(rule, rule.epoch.greedy if greedy else rule.epoch, held_out=held_out)


def stored_policies(
    folder: str | os.PathLike[str], classes: Iterable[type] = ()
) -> Mapping[str, TargetPolicy]:
    """The policies that decided in a decision log, by content hashes, each read when it is used.

    They are what rows were decided by: planned uniform rounds of an epoch are not part of its policy, while
    those drawn by a coin are.

    Parameters
    ----------
    folder
        The folder of the log.
    classes
        Dataclasses of your own that policies hold.
    """
    whole = policy_file(Path(folder), "*")
    own = tuple(classes)
    return {path.stem: _Deferred(Path(folder), path.stem, own) for path in whole.parent.glob(whole.name)}


@dataclass(frozen=True, slots=True)
class _Deferred:
    """A stored policy that is read when it is used."""

    folder: Path
    model: str
    classes: tuple[type, ...]

    def __call__(self, table: DecisionTable) -> Floats:
        """Probabilities of all actions, (n, K)."""
        rule = _rule(self.folder, self.model, self.classes)
        is_planned = rule.epoch.passive_design is PassiveDesign.TAIL
        return _target(rule, rule.epoch.policy if is_planned else rule.epoch)(table)


def _rule(folder: Path, model: str, classes: Iterable[type]) -> Any:
    """A stored decision rule: an epoch, and the names of its actions and features."""
    from gyrfalcon.storage import files

    return files.load(_file_of(folder, model), classes)


def _target(rule: Any, policy: Policy | Epoch, *, held_out: bool = False) -> TargetPolicy:
    return of_policy(
        policy,
        actions=rule.actions,
        features=rule.features,
        action_features=rule.action_features,
        held_out=held_out,
    )


def _file_of(folder: Path, model: str) -> Path:
    whole = policy_file(folder, model)
    found = sorted(whole.parent.glob(f"{model}*{whole.suffix}")) if model.isalnum() else []
    if len(found) != 1:
        names = enumeration(
            [path.stem[:12] for path in found or sorted(whole.parent.glob(f"*{whole.suffix}"))]
        )
        which = f"{len(found)} policies whose hashes start" if found else "no policy whose hash starts"
        raise ValueError(
            f"{os.fspath(folder)} has {which} with {short_repr(model)}; give one of its policies, {names}."
        )
    return found[0]
