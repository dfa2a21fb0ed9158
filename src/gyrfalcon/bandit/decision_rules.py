"""Decision rules: what the probabilities of actions depend on, stored by content hash beside the log.

An epoch also has the learner's state, from which the next one is fitted, and which is many times as large.
Its decision rule is the rest: policies, passive share and the names of actions and features.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gyrfalcon.core.epochs import Epoch, Mixture
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.logs.lines.folder import policy_file
from gyrfalcon.logs.lines.rows import logged_label


@dataclass(frozen=True, slots=True)
class DecisionRule:
    """Probabilities of actions as a function of context, eligible actions and round in the epoch.

    Parameters
    ----------
    actions
        Labels as the log has them.
    features
        Names of the encoded features of contexts.
    action_features
        Names of the encoded features of actions.
    reward_range
        Lowest and highest reward; None if they are not known, or none is refused.
    cost
        Whether rewards are costs.
    epoch
        Policies and passive share, without the learner's state; rounds count from the start of the epoch.
    """

    actions: tuple[Any, ...]
    features: tuple[str, ...]
    action_features: tuple[str, ...]
    reward_range: tuple[float, float] | None
    cost: bool
    epoch: Epoch

    @staticmethod
    def of(epoch: Epoch, problem: Problem) -> DecisionRule:
        """The rule by which an epoch decides; the same for the same policies, whatever the epoch's number."""
        return DecisionRule(
            tuple(logged_label(label) for label in problem.actions),
            problem.features.names,
            problem.action_features.names,
            None if problem.out_of_range == "accept" else problem.reward_range,
            problem.cost,
            _without_state(epoch),
        )


def _without_state(epoch: Epoch) -> Epoch:
    policy = epoch.policy
    if isinstance(policy, Mixture):
        policy = replace(policy, bases=tuple(map(_without_state, policy.bases)))
    return replace(epoch, index=1, start=0, stop=epoch.n_rounds, policy=policy, state=None, report=None)


class DecisionRules:
    """Content hashes of decision rules, and with a folder their files, each written once.

    Parameters
    ----------
    folder
        The folder of the decision log; None stores nothing.
    classes
        Dataclasses of the user's own that policies hold.
    synced
        Whether files reach the disk before anything decides by them.
    """

    def __init__(
        self, folder: Path | None = None, classes: Iterable[type] = (), *, synced: bool = True
    ) -> None:
        self._folder, self._classes, self._synced = folder, tuple(classes), synced
        self._about: dict[str, Any] | None = None
        self._unstored: dict[str, DecisionRule] = {}
        self.latest: tuple[Epoch | None, Problem | None, str | None] = (None, None, None)
        """The epoch and problem in play, and the hash of their rule."""
        self._latest_state: tuple[object, str | None] = (None, None)
        self.reason = ""
        """Why the last rule that can't be stored can't be."""

    def latest_hash(self, epoch: Epoch, problem: Problem) -> str | None:
        """The content hash of the rule in play, computed once."""
        known_epoch, known_problem, model = self.latest
        if known_epoch is not epoch or known_problem is not problem:
            model = self.hash_of(epoch, problem)
            self.latest = (epoch, problem, model)
        return model

    def hash_of(self, epoch: Epoch, problem: Problem) -> str | None:
        """The content hash of an epoch's rule, which is stored; None if it holds a class unknown to files.

        Where the file can't be written, `store` tries again.
        """
        from gyrfalcon.storage.content_hash import content_hash

        rule = DecisionRule.of(epoch, problem)
        try:
            model = content_hash(rule, self._classes)
        except (TypeError, ValueError, RecursionError) as error:
            self.reason = str(error)
            return None
        if self._folder is not None:
            self._unstored[model] = rule
            with contextlib.suppress(OSError):  # a decision by this rule tries again, and says so
                self.store(model)
        return model

    def state_hash(self, epoch: Epoch) -> str | None:
        """The content hash of the learner's state in an epoch; None if it holds a class unknown to files.

        A state may be many times as large as its policy, so that the hash is computed on demand.
        """
        from gyrfalcon.storage.content_hash import content_hash

        state, (known, found) = epoch.state, self._latest_state
        if state is not known:
            try:
                found = content_hash(state, self._classes)
            except (TypeError, ValueError, RecursionError):
                found = None
            self._latest_state = (state, found)
        return found

    def store(self, model: str) -> None:
        """Write the file of a rule, unless it is there."""
        from gyrfalcon.engine.fingerprint import fingerprint
        from gyrfalcon.storage import files

        rule = self._unstored.get(model)
        if self._folder is None or rule is None:
            return
        path = policy_file(self._folder, model)
        if not path.exists():  # two threads or processes that come here at once write the same file
            path.parent.mkdir(parents=True, exist_ok=True)
            self._about = self._about or fingerprint().to_dict()
            files.save(path, rule, self._classes, self._about, synced=self._synced)
        self._unstored.pop(model, None)
