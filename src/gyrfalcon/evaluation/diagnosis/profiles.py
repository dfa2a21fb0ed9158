"""Signed misfit of a class by action, along one feature and over two, and where it stands out most."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints

SURE_ERRORS = 4.0
"""Standard errors from 0 at which a cell stands out, as one of a thousand does by chance in 1 of 16 logs."""


@dataclass(frozen=True, slots=True)
class ActionMisfit:
    """How wrong the class is for one action.

    Attributes
    ----------
    action : Hashable
        Label of the action.
    n_rows : int
        Number of rows of the action that were used.
    excess : float
        Mean squared distance between the class and a richer one, in squared reward units; below 0 by chance.
    standard_error : float
        Its standard error.
    share : float
        Share of the whole misfit that this action makes up, between 0 and 1.
    """

    action: Hashable
    n_rows: int
    excess: float
    standard_error: float
    share: float

    @property
    def z(self) -> float:
        """The excess in standard errors."""
        return self.excess / self.standard_error if self.standard_error > 0.0 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class FeatureProfile:
    """Signed misfit along one feature: by action and bin, what rewards are above the class's predictions.

    Attributes
    ----------
    feature : str
        Name of the feature.
    edges : array of float
        Ends of the bins, (B + 1,).
    residual : array of float
        Mean reward above the prediction, (K, B), in reward units; nan where there are too few rows.
    standard_error : array of float
        Standard errors, (K, B).
    smoothed : array of float
        What the richer class says of the same cells, (K, B).
    n_rows : array of int
        Rows of each cell, (K, B).
    explained : float
        Part of b that goes along with this feature, noise taken off, in squared reward units.
    z : float
        How far the squared residuals are above noise, in standard deviations.
    """

    feature: str
    edges: Floats
    residual: Floats
    standard_error: Floats
    smoothed: Floats
    n_rows: Ints
    explained: float
    z: float


@dataclass(frozen=True, slots=True, eq=False)
class PairProfile:
    """Signed misfit over two features: mean reward above the class's prediction, by action and cell.

    Attributes
    ----------
    features : tuple[str, str]
        Names of the features.
    edges : tuple of two arrays
        Ends of the bins of either.
    residual, standard_error : array of float
        (K, B, C), nan where there are too few rows.
    n_rows : array of int
        (K, B, C).
    explained : float
        Part of b that goes along with both features, noise taken off, in squared reward units.
    """

    features: tuple[str, str]
    edges: tuple[Floats, Floats]
    residual: Floats
    standard_error: Floats
    n_rows: Ints
    explained: float


@dataclass(frozen=True, slots=True)
class Range:
    """Values of a feature between two ends."""

    feature: str
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.feature} from {self.low:.3g} to {self.high:.3g}"


@dataclass(frozen=True, slots=True)
class Region:
    """Where the misfit stands out most: an action, and ranges of one feature or two.

    Attributes
    ----------
    action : Hashable
        Label of the action.
    ranges : tuple
        Ranges of the features, each with `feature`, `low` and `high`.
    residual : float
        Mean reward above the class's prediction, in reward units.
    standard_error : float
        Its standard error.
    """

    action: Hashable
    ranges: tuple[Range, ...]
    residual: float
    standard_error: float

    @property
    def z(self) -> float:
        """The mean residual in standard errors."""
        return self.residual / self.standard_error

    def __str__(self) -> str:
        where = " and ".join(str(one) for one in self.ranges)
        side = "above" if self.residual > 0.0 else "below"
        size = f"{abs(self.residual):.3g} +- {self.standard_error:.2g}"
        return f"action {self.action}, {where}: rewards are {size} {side} the class's predictions"


def most_telling_region(
    profiles: Sequence[FeatureProfile], pair: PairProfile | None, labels: Sequence[Hashable]
) -> Region | None:
    """The cell whose residual is surely the largest, over all features and actions; None if none is sure.

    Sure is what is left of its size after four standard errors.
    """
    given: list[FeatureProfile | PairProfile] = [*profiles, *([] if pair is None else [pair])]
    best, largest = None, 0.0
    for profile in given:
        sure = np.abs(profile.residual) - SURE_ERRORS * profile.standard_error
        if np.isnan(sure).all() or np.nanmax(sure) <= largest:
            continue
        action, *cell = (int(place) for place in np.unravel_index(int(np.nanargmax(sure)), sure.shape))
        largest, found = float(np.nanmax(sure)), (action, *cell)
        names = profile.features if isinstance(profile, PairProfile) else (profile.feature,)
        edges = profile.edges if isinstance(profile, PairProfile) else (profile.edges,)
        ranges = tuple(
            Range(name, float(ends[place]), float(ends[place + 1]))
            for name, ends, place in zip(names, edges, cell, strict=True)
        )
        value, error = float(profile.residual[found]), float(profile.standard_error[found])
        best = Region(labels[action], ranges, value, error)
    return best
