"""Which class of models plays: those that foretell rewards best, of what was played, one block ahead.

A class that has not played can't be judged by its value: nothing has ever corrected the actions that it would
take. What it foretells of the actions that others take can be compared fairly, if its own uncertainty counts:
an error where it knows little is no surprise. So the score of a row is the logarithm of the density that a
class gave to its reward, and off-policy value has a veto.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.records import Log
from gyrfalcon.estimates.scores import paired_gains
from gyrfalcon.learners.adaptive.value_gate import greedy_of

_LEAST_NOISE = 1e-3
"""Rewards that hardly scatter would make every error a surprise without end."""
_BOUNDS = (-0.5, 1.5)
"""What an estimate of a reward in [0, 1] is kept within."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a class foretells of some rows."""

    means: Floats
    """(n, K): estimates of every action."""
    leverages: Floats
    """(n,): phi'P phi at the action that was played, in units of the noise."""

    @staticmethod
    def of(means: Floats, leverages: Floats) -> Outlook:
        """The estimates kept within bounds."""
        return Outlook(np.clip(means, *_BOUNDS), leverages)


@dataclass(frozen=True, slots=True)
class Standings:
    """How C classes compare, two by two; later rows count more, as often as there were rows before them."""

    leads: Floats
    """(C, C): sums of how much better row class j did than class i, at place i, j."""
    spreads: Floats
    """(C, C): sums of their squares."""
    gains: Floats
    """(C, C): sums of how much more j's greedy play is estimated to earn than i's, while i played."""
    gain_squares: Floats
    errors: Floats
    """(C,): sums of squared errors, each over 1 + leverage."""
    weights: Floats
    """(C,): sums of the rows' weights."""
    n_gains: Floats
    """(C, C): rows behind each sum of gains."""

    @staticmethod
    def none(n_classes: int) -> Standings:
        """Before the first row."""
        pairs = np.zeros((n_classes, n_classes))
        return Standings(pairs, pairs, pairs, pairs, np.zeros(n_classes), np.zeros(n_classes), pairs)

    def scaled(self, factor: float) -> Standings:
        """The standings with every row's weight times a factor."""
        return Standings(
            factor * self.leads,
            factor**2 * self.spreads,
            factor * self.gains,
            factor**2 * self.gain_squares,
            factor * self.errors,
            factor * self.weights,
            factor * self.n_gains,
        )

    @property
    def noise(self) -> float:
        """The variance of rewards around the class that is closest to them."""
        seen = self.weights > 0.0
        if not seen.any():
            return 0.25
        return max(float((self.errors[seen] / self.weights[seen]).min()), _LEAST_NOISE)

    @property
    def z(self) -> Floats:
        """(C, C): leads in their own standard errors; 0 where nothing is known."""
        return _ratio(self.leads, np.sqrt(self.spreads))

    def vetoed(self, playing: int, other: int, errors: float) -> bool:
        """Whether another class is known to earn less than the one that plays."""
        total, squares = self.gains[playing, other], self.gain_squares[playing, other]
        return bool(total <= -errors * math.sqrt(squares)) and squares > 0.0

    def judged(self, outlooks: Sequence[Outlook | None], playing: int, log: Log, n_rows: float) -> Standings:
        """The standings after rows that none of the fits has seen; None for a class without a fit."""
        taking_part = [place for place, outlook in enumerate(outlooks) if outlook is not None]
        if len(taking_part) < 2 or len(log) == 0:
            return self
        told = [outlook for outlook in outlooks if outlook is not None]
        errors, stretches = _errors(told, log), 1.0 + np.stack([one.leverages for one in told])
        scores = -0.5 * np.log(stretches) - 0.5 * errors / (self.noise * stretches)
        ahead = n_rows * (scores[np.newaxis] - scores[:, np.newaxis])  # at i, j: j's score above i's
        here = np.ix_(taking_part, taking_part)
        leads, spreads = self.leads.copy(), self.spreads.copy()
        leads[here] += ahead.sum(axis=2)
        spreads[here] += np.einsum("ijn,ijn->ij", ahead, ahead)
        sums, weights = self.errors.copy(), self.weights.copy()
        sums[taking_part] += n_rows * (errors / stretches).sum(axis=1)
        weights[taking_part] += n_rows * len(log)
        after = replace(self, leads=leads, spreads=spreads, errors=sums, weights=weights)
        return after._with_gains(outlooks, playing, log)

    def _with_gains(self, outlooks: Sequence[Outlook | None], playing: int, log: Log) -> Standings:
        """Doubly robust gains over the class that plays, by the mean of both classes' estimates."""
        incumbent = outlooks[playing]
        if incumbent is None:
            return self
        gains, squares, counts = self.gains.copy(), self.gain_squares.copy(), self.n_gains.copy()
        play = greedy_of(incumbent.means, log.contexts)
        for place, outlook in enumerate(outlooks):
            if outlook is None or place == playing:
                continue
            both = 0.5 * (incumbent.means + outlook.means)
            gain = paired_gains(greedy_of(outlook.means, log.contexts), play, both, log)
            gains[playing, place] += gain.sum()
            squares[playing, place] += gain @ gain
            counts[playing, place] += len(log)
        return replace(self, gains=gains, gain_squares=squares, n_gains=counts)

    def best(self, playing: int, sizes: Ints, n_rows: float, among: Sequence[int]) -> int:
        """The class that should play: the one that plays, unless one `among` others is ahead by enough.

        Early on, one standard error. Later a larger class needs to be ahead at all, as it gains from rows to
        come, and a smaller one by two errors; and none that is known to earn less gets to play.
        """
        early, z = n_rows < 1_000, self.z[playing]
        wanted = np.where(sizes > sizes[playing], 0.0, 2.0) if not early else np.ones(len(sizes))
        passing = [
            place
            for place in np.flatnonzero((z > wanted) & (self.weights > 0.0)).tolist()
            if place != playing and place in among and (early or not self.vetoed(playing, place, 2.0))
        ]
        best = playing
        for place in passing:
            if best == playing or self.leads[best, place] > 0.0:
                best = place
        return best


def _errors(told: Sequence[Outlook], log: Log) -> Floats:
    """(C, n): squared errors at the actions that were played."""
    rows = np.arange(len(log))
    errors: Floats = np.stack([log.reward - one.means[rows, log.action] for one in told])
    return errors**2


def _ratio(total: Floats, error: Floats) -> Floats:
    return np.divide(total, error, out=np.zeros_like(total), where=error > 0.0)


def explained(
    names: Sequence[str], standings: Standings, playing: int, taking_part: Sequence[bool]
) -> tuple[str, ...]:
    """Every class in words: how far ahead it is of the one that plays, and what it is estimated to earn."""
    said = []
    z, counts = standings.z[playing], np.maximum(standings.n_gains[playing], 1.0)
    for place, name in enumerate(names):
        if place == playing:
            said.append(f"{name} plays")
        elif not taking_part[place]:
            said.append(f"{name}: too few rows for it yet")
        elif standings.spreads[playing, place] == 0.0:
            said.append(f"{name}: not compared with {names[playing]} yet")
        else:
            gain = standings.gains[playing, place] / counts[place]
            error = math.sqrt(standings.gain_squares[playing, place]) / counts[place]
            earns = f"; estimated to earn {gain:+.4f} ({error:.4f}) a round more" if error > 0.0 else ""
            said.append(
                f"{name}: foretells rewards {'better' if z[place] > 0 else 'worse'} than {names[playing]} "
                f"(z = {z[place]:+.1f}){earns}"
            )
    return tuple(said)
