"""What an experiment leaves to its bandit: decisions, rewards, and its file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from gyrfalcon.bandit.bandit import Bandit
from gyrfalcon.bandit.decision import Decision, DecisionBatch
from gyrfalcon.bandit.identity import EventId
from gyrfalcon.core.inputs.problem import Problem


class Deciding:
    """Part of an experiment that decides and takes rewards."""

    _bandit: Bandit

    def __reduce__(self) -> NoReturn:
        raise TypeError("an Experiment can't be copied or pickled; use save(path) and Experiment.load(path).")

    @property
    def problem(self) -> Problem:
        """The decision problem; the first context fixes its features when none were given."""
        return self._bandit.problem

    def decide(
        self,
        context: object = None,
        *,
        actions: object = None,
        eligible: object = None,
        event_id: EventId | None = None,
    ) -> Decision:
        """Choose an action for one context: see `Bandit.decide`. It goes on by the same rules when stopped.

        Parameters
        ----------
        context
            Features of the context.
        actions
            Features of actions.
        eligible
            Labels that may be chosen.
        event_id
            Id of the decision, to know it beforehand; None makes one.
        """
        return self._bandit.decide(context, actions=actions, eligible=eligible, event_id=event_id)

    def decide_many(
        self,
        contexts: object = None,
        *,
        actions: object = None,
        eligible: object = None,
        event_ids: Sequence[EventId] | None = None,
        n: int | None = None,
    ) -> DecisionBatch:
        """Choose actions for many contexts at once: see `Bandit.decide_many`.

        Parameters
        ----------
        contexts
            Features of the contexts.
        actions
            Features of actions.
        eligible
            Labels that may be chosen.
        event_ids
            Ids of the decisions; None makes them.
        n
            Number of contexts, for a problem without features.
        """
        return self._bandit.decide_many(
            contexts, actions=actions, eligible=eligible, event_ids=event_ids, n=n
        )

    def reward(self, event_id: EventId, value: float, *, final: bool = False) -> None:
        """Credit a reward to a decision: see `Bandit.reward`.

        Parameters
        ----------
        event_id
            Id of the decision.
        value
            Reward in the problem's units.
        final
            Whether no further reward comes.
        """
        self._bandit.reward(event_id, value, final=final)

    def reward_many(self, rewards: Mapping[Any, float], *, final: bool = False) -> None:
        """Credit rewards by event id, all of them or none: see `Bandit.reward_many`.

        Parameters
        ----------
        rewards
            Mapping of event ids to rewards.
        final
            Whether no further rewards come for these events.
        """
        self._bandit.reward_many(rewards, final=final)

    def save(self, path: str | os.PathLike[str], classes: Iterable[type] = ()) -> None:
        """Write the experiment to one file, atomically; `load` goes on with the same decisions.

        Parameters
        ----------
        path
            The file, which is replaced if it is there.
        classes
            Dataclasses of your own that it holds, such as a learner or the control policy.
        """
        self._bandit.save(path, classes)
