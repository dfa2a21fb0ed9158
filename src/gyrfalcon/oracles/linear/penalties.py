"""Ridge penalties by marginal likelihood: the rows say how strongly each group of columns is shrunk.

The coefficients of a group of columns have the prior N(0, noise / penalty), those of all blocks alike: blocks
with few rows borrow the strength of the others. Penalties and noise maximise the marginal likelihood of the
rewards (MacKay 1992, "Bayesian interpolation"), by fixed-point steps from refit to refit. A group that
explains nothing is shrunk to nothing, and the noise counts the effective number of parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.oracles.features.design import Design, Layout
from gyrfalcon.oracles.solvers.moments import Moments

_PRIOR_ROWS = 0.5
"""Degrees of freedom with which a group's variance is held up to what its rows can resolve: an estimate of 0
from few rows would otherwise be for good."""
_PRIOR_ACTIONS = 0.5
"""Degrees of freedom with which the variance of intercepts is held up to that of rewards: of a few actions it
is hardly known, and an action that starts badly must not be taken for one like the others."""
_FIRST_COLUMNS = 5.0
"""The prior variance of a group before any row is that of rewards over its number of columns and this."""
_LEAST_NOISE = 1e-3
"""Least noise as a share of the variance of rewards."""
_MOST_DEGREES = 0.9
"""Largest share of rows that parameters may take up when the noise is estimated."""
_LARGEST = 1e9
_MOST_EARLY, _EARLY_ROWS = 5.0, 100.0
"""Largest penalty of the inputs up to this many rows; from there on it grows with the cube of the rows. Few
rows hardly tell whether slopes are small, and what is shrunk is not explored."""


@dataclass(frozen=True, slots=True)
class Penalties:
    """Ridge penalties of groups of columns, the noise, and what intercepts are shrunk to.

    >>> Penalties.start((1, 2, 3)).of_columns.tolist()
    [2.0, 7.0, 7.0, 8.0, 8.0, 8.0]
    """

    groups: Ints
    """(d,): the group of each column; group 0 is the intercept's."""
    values: Floats
    """(G,): penalties in units of rows, the noise over the prior variance of a group's coefficients."""
    least: float = 1.0
    """No penalty is below this: likelihood alone overfits where rewards are nearly without noise."""
    noise: float = 0.0
    """Variance of rewards around the model; 0 before the first fit."""
    center: float = 0.0
    """The reward that intercepts are shrunk to: the mean of the intercepts."""

    @staticmethod
    def start(sizes: Sequence[int], least: float = 1.0) -> Penalties:
        """Penalties before any row, for groups of these numbers of columns, the intercept's first."""
        values = [2.0, *(size + _FIRST_COLUMNS for size in sizes[1:])]
        return Penalties(np.repeat(np.arange(len(sizes)), sizes), np.maximum(values, least), least)

    @staticmethod
    def of(design: Design, least: float = 1.0) -> Penalties:
        """Penalties before any row, with a group for each kind of columns of a design."""
        p, q = len(design.center), len(design.action_center)
        own, first = [int(design.intercept), p], design.layout is not Layout.HYBRID
        products = p * q if design.interactions and design.layout is not Layout.PER_ACTION else 0
        sizes = [*(own if first else ()), q, products]
        groups = np.repeat(np.arange(4)[-len(sizes) :], sizes)
        if not first:
            groups = np.concatenate([groups, np.tile(np.repeat([0, 1], own), design.n_actions)])
        found, groups = np.unique(groups, return_inverse=True)
        counts = np.bincount(groups)
        values = np.where(found == 0, 2.0, counts + _FIRST_COLUMNS)
        return Penalties(groups, np.maximum(values, least), least)

    @property
    def of_columns(self) -> Floats:
        """(d,): the penalty of each column."""
        return np.asarray(self.values[self.groups])

    def updated(
        self, fit: PenalisedFit, rows: Moments, design: Design, information: float = 1.0
    ) -> Penalties:
        """Penalties, noise and centre after one step towards the largest marginal likelihood.

        Rows count `information` times where variances are held up to what rows can resolve. The first group
        of slopes, the inputs, is in all classes alike, and so is its bound while rows are few: no class looks
        better for it.
        """
        variance = rows.reward_variance
        if variance == 0.0:
            return self
        seen = rows.weight > 0.0
        penalty, n = self.of_columns, rows.n
        degrees = (1.0 - penalty * fit.inverse_diagonal[seen]).clip(0.0)
        used = min(float(degrees.sum()), _MOST_DEGREES * n)
        noise = max(fit.residual / max(n - used, 1.0), _LEAST_NOISE * variance)
        resolved = noise * self._copies(design) / (information * n)
        prior = self._prior_variances(fit.coefficients[seen] ** 2, degrees, variance, resolved, design)
        values = np.clip(noise / np.maximum(prior, noise / _LARGEST), self.least, _LARGEST)
        inputs = slice(int(design.intercept), int(design.intercept) + 1)
        most = max(_MOST_EARLY * max(1.0, n / _EARLY_ROWS) ** 3, self.least)
        values[inputs] = np.minimum(values[inputs], most)
        center = self.center + fit.mean_intercept(design, seen)
        return replace(self, values=values, noise=noise, center=center)

    def _prior_variances(
        self, squares: Floats, degrees: Floats, variance: float, resolved: Floats, design: Design
    ) -> Floats:
        """(G,): mean squares of each group's coefficients per degree of freedom, held up as constants say."""
        n_groups = len(self.values)
        sizes = np.bincount(self.groups, minlength=n_groups)
        used, explained = (
            np.bincount(self.groups, weights=sums.sum(axis=0), minlength=n_groups)
            for sums in (degrees, squares)
        )
        held_at = np.minimum(variance / (sizes + _FIRST_COLUMNS), resolved)
        held_by = np.full(n_groups, _PRIOR_ROWS)
        if design.intercept:
            held_at[0], held_by[0] = variance, _PRIOR_ACTIONS
        return np.asarray((explained + held_by * held_at) / (used + held_by))

    def _copies(self, design: Design) -> Floats:
        """(G,): how many times each column of a group is there, by which rows are divided among them."""
        copies = np.full(len(self.values), float(design.n_blocks))
        if design.layout is Layout.HYBRID:
            copies[np.unique(self.groups[design.n_joint :])] = design.n_actions
        return copies

    def reindexed(self, design: Design, after: Design) -> Penalties:
        """The penalties for a design with other actions."""
        if design.layout is not Layout.HYBRID:
            return self
        own = self.groups[design.n_joint : design.n_joint + design.n_own]
        joint = self.groups[: design.n_joint]
        return replace(self, groups=np.concatenate([joint, np.tile(own, after.n_actions)]))


@dataclass(frozen=True, slots=True)
class PenalisedFit:
    """Ridge fit in standardised columns, of rewards less the centre of its penalties."""

    coefficients: Floats
    """(B, d)."""
    inverse_diagonal: Floats
    """(B, d): the diagonal of the inverse of the penalised Gram matrix."""
    residual: float
    """Sum of squared errors on its own rows."""

    def mean_intercept(self, design: Design, seen: Bools) -> float:
        """The mean intercept of blocks with rows, above the centre."""
        if not design.intercept:
            return 0.0
        if design.layout is Layout.HYBRID:
            return float(self.coefficients[0, design.n_joint :: design.n_own].mean())
        return float(self.coefficients[seen, 0].mean()) if design.layout is Layout.PER_ACTION else 0.0
