"""A policy for use: it takes contexts as a program has them and gives labels."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import Policy


@dataclass(frozen=True, slots=True)
class FinalPolicy:
    """The policy that an experiment ends with, or any other of a problem.

    Called with a table of logged decisions it gives its probabilities of all actions, (n, K), as policies do
    that are evaluated from a log.

    Parameters
    ----------
    problem : Problem
        The decision problem, which knows actions and features.
    policy : Policy
        The policy on arrays.
    name : str
        What the policy is called.
    """

    problem: Problem
    policy: Policy
    name: str

    def __repr__(self) -> str:
        return f"FinalPolicy({self.name})"

    def choose(self, context: object = None, *, actions: object = None, eligible: object = None) -> Hashable:
        """The action for a context; the most probable one, if the policy draws at random.

        Parameters
        ----------
        context
            Features as in `Bandit.decide`.
        actions
            Features of actions as in `Bandit.decide`.
        eligible
            Labels that may be chosen as in `Bandit.decide`.
        """
        row = self._row(self.problem.context(context, actions, eligible))
        return self.problem.actions[int(row.argmax())]

    def probabilities(
        self, context: object = None, *, actions: object = None, eligible: object = None
    ) -> dict[Hashable, float]:
        """The probability of each action by label.

        Parameters
        ----------
        context
            Features as in `Bandit.decide`.
        actions
            Features of actions as in `Bandit.decide`.
        eligible
            Labels that may be chosen as in `Bandit.decide`.
        """
        row = self._row(self.problem.context(context, actions, eligible))
        return dict(zip(self.problem.actions, row.tolist(), strict=True))

    def __call__(self, table: DecisionTable) -> Floats:
        """Probabilities of all actions in each row of a table of logged decisions, (n, K)."""
        return self.policy.probabilities(table.contexts)

    def save(self, path: str | os.PathLike[str], classes: Iterable[type] = ()) -> None:
        """Write the policy to one file, atomically.

        Parameters
        ----------
        path
            The file, which is replaced if it is there.
        classes
            Dataclasses of your own that the policy holds.
        """
        from gyrfalcon.storage import files

        files.save(path, self, classes)

    @classmethod
    def load(cls, path: str | os.PathLike[str], classes: Iterable[type] = ()) -> FinalPolicy:
        """Read a policy that `save` has written.

        Parameters
        ----------
        path
            The file.
        classes
            Dataclasses of your own that the policy holds, as for `save`.
        """
        from gyrfalcon.storage import files

        loaded = files.load(path, classes)
        if not isinstance(loaded, cls):
            raise ValueError(f"{os.fspath(path)} holds a {type(loaded).__name__}, not a FinalPolicy.")  # noqa: TRY004 - the file is wrong
        return loaded

    def _row(self, context: Contexts) -> Floats:
        return np.asarray(self.policy.probabilities(context)[0])
