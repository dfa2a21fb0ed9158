"""Policies that are stored beside a log, as target policies to be evaluated."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.messages import enumeration, short_repr
from gyrfalcon.evaluation.target_policies import of_policy
from gyrfalcon.evaluation.targets import TargetPolicy
from gyrfalcon.logs.folder import policy_file


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
    from gyrfalcon.storage import files

    rule = files.load(_file_of(Path(folder), model), classes)
    policy = rule.epoch.greedy if greedy else rule.epoch
    return of_policy(
        policy,
        actions=rule.actions,
        features=rule.features,
        action_features=rule.action_features,
        held_out=held_out,
    )


def stored_policies(
    folder: str | os.PathLike[str], classes: Iterable[type] = ()
) -> Mapping[str, TargetPolicy]:
    """All policies of a decision log by their content hashes, each read when it is first used.

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
        return stored_policy(self.folder, self.model, classes=self.classes)(table)


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
