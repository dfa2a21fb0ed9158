"""What the policy of every epoch would have done in every row of a log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.evaluation.intervals.adaptive_weights import checked_epochs, variance_proxies


@dataclass(frozen=True, slots=True, eq=False)
class EpochPolicies:
    """Each epoch's policy on every row of a log, as far as a target's value needs it.

    Weights that depend on contexts ask what a later policy would have done in an earlier row. Two numbers for
    each epoch and row are kept, not the distributions.

    Parameters
    ----------
    epoch : array (n,)
        The epoch in which each row was decided, counted from 0. Rows of uniform play within an epoch have
        another policy, and so count as an epoch of their own.
    logged : array (n_epochs, n)
        Each policy's probability of the row's logged action.
    proxies : array (n_epochs, n)
        sum_a pi(a)^2 / e(a), to which the variance of a doubly robust score is proportional.
    """

    epoch: Ints
    logged: Floats
    proxies: Floats

    @staticmethod
    def of(policies: Iterable[Floats], epoch: Ints, action: Ints, target: Floats) -> EpochPolicies:
        """Read the distributions of one epoch after the other.

        Parameters
        ----------
        policies : iterable of arrays (n, K)
            Probabilities of all actions in every row under each epoch's policy, in the order of epochs. A
            generator needs memory for one of them at a time.
        epoch, action : array (n,)
            The epoch of each row, and its logged action, by position.
        target : array (n, K)
            Probabilities under the policy to be evaluated, or the difference of two for their contrast.

        Examples
        --------
        >>> target, actions = np.full((3, 2), 0.5), np.array([0, 1, 1])
        >>> policies = [np.full((3, 2), 0.5), np.tile([0.2, 0.8], (3, 1))]
        >>> found = EpochPolicies.of(policies, np.array([0, 0, 1]), actions, target)
        >>> found.logged.tolist()
        [[0.5, 0.5, 0.5], [0.2, 0.8, 0.8]]
        """
        rows = np.arange(len(action))
        pairs = [(one[rows, action], variance_proxies(target, one)) for one in map(np.asarray, policies)]
        if not pairs:
            raise ValueError("policies is empty; give the probabilities of each epoch's policy in every row.")
        logged, proxies = (np.array(column) for column in zip(*pairs, strict=True))
        checked = checked_epochs(epoch, *logged.shape)
        never = np.flatnonzero(~(logged[checked, rows] > 0.0))
        if len(never):
            raise ValueError(
                f"row {never[0]}: the policy of epoch {checked[never[0]]} never takes the logged action "
                f"{action[never[0]]}; give each row the epoch that decided it."
            )
        return EpochPolicies(checked, logged, proxies)

    @property
    def n_rows_of_epochs(self) -> Ints:
        """Number of rows that each epoch decided, (n_epochs,)."""
        return np.bincount(self.epoch, minlength=len(self.logged))
