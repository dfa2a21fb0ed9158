"""Calibration of propensities: actions are chosen as often as their logged probabilities say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.evaluation.checks.columns import LogColumns
from gyrfalcon.evaluation.checks.finding import LogFinding
from gyrfalcon.evaluation.checks.statistical.segments import Segments, segments_of
from gyrfalcon.evaluation.checks.statistical.tail_probabilities import (
    bets_against_propensities,
    holm,
    two_sided,
)

_EDGES = np.array([0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97])
"""Bounds between the bins of probabilities that are compared with how often such actions are chosen."""

_REMEDY = (
    "log the probabilities that actions were drawn with, at the time of the decision; `gyrfalcon audit` "
    "computes those of a Bandit again"
)


def calibration_faults(log: LogColumns, distribution: Floats | None, alpha: float) -> list[LogFinding]:
    """Whether E[1{a} / p] = 1 by action and epoch, and by size of the probability."""
    if not len(log):
        return []
    if distribution is None:
        return _by_weights(log, alpha)
    known = ~np.isnan(distribution).any(axis=1)
    return _by_counts(log, distribution[known], np.flatnonzero(known), alpha)


def _by_counts(log: LogColumns, chances: Floats, places: Ints, alpha: float) -> list[LogFinding]:
    """Counts against sums of probabilities, where known: half of alpha for all rows, half for epochs."""
    known = np.zeros(len(log), np.bool_)
    known[places] = True
    part = log.take_without_features(known)
    segments = segments_of(part)
    actions = list(_actions(part, chances))
    whole = _Counts.of(
        Segments(np.zeros(len(part), np.int64), ("the whole log",)), [*actions, *_bins(part, chances)]
    )
    parts = _Counts.of(segments, actions)
    bad_whole = holm(whole.p_values, alpha / 2.0)
    bad_parts = holm(parts.p_values, alpha / 2.0) & (len(segments) > 1)
    if not (bad_whole.any() or bad_parts.any()):
        return []
    worst, bad = (parts, bad_parts) if bad_parts.any() else (whole, bad_whole)
    rows = np.asarray(bad.any(axis=1))[worst.segments.of_row]
    return log.fault(
        "propensity_calibration",
        places[rows],
        worst.clause() + _and_more(int(bad.sum()) - 1),
        _REMEDY,
        sets_aside=False,
        p_value=float(np.nanmin(worst.p_values)),
        n_tests=int((~np.isnan(whole.p_values)).sum() + (~np.isnan(parts.p_values)).sum()),
    )


Event: TypeAlias = tuple[str, Floats, Floats]
"""What may happen in a decision: its name, in which rows it did, and its logged probability in each, (n,)."""


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """Counts of events by segment, and the sums of their probabilities, (G, E)."""

    segments: Segments
    names: tuple[str, ...]
    counts: Floats
    expected: Floats
    p_values: Floats
    """nan where every probability is 0 or 1, and nothing can be tested."""

    @staticmethod
    def of(segments: Segments, events: list[Event]) -> _Counts:
        """Sums over the rows of each segment."""
        names = tuple(name for name, _, _ in events)
        counts = np.stack([segments.sums(happened) for _, happened, _ in events], axis=1)
        expected = np.stack([segments.sums(chance) for _, _, chance in events], axis=1)
        variance = np.stack([segments.sums(chance * (1.0 - chance)) for _, _, chance in events], axis=1)
        p_values = two_sided(counts - expected, variance)
        testable = (variance > 1e-9) | (p_values < 1.0)
        return _Counts(segments, names, counts, expected, np.where(testable, p_values, np.nan))

    def clause(self) -> str:
        """The clearest difference in words."""
        segment, event = np.unravel_index(int(np.nanargmin(self.p_values)), self.p_values.shape)
        return (
            f"in {self.segments.names[int(segment)]}, {self.names[int(event)]} was chosen "
            f"{self.counts[segment, event]:,.0f} times, and its probabilities sum to "
            f"{self.expected[segment, event]:,.1f} (p = {self.p_values[segment, event]:.2g})"
        )


def _actions(log: LogColumns, chances: Floats) -> Iterator[Event]:
    """Choices of each action, and of whichever is the most probable."""
    for action in range(log.table.n_actions):
        yield f"the action {log.label(action)}", (log.action == action).astype(np.float64), chances[:, action]
    top = chances.argmax(axis=1)
    top_chances = chances[np.arange(len(log)), top]
    yield "the most probable action", (log.action == top).astype(np.float64), top_chances


def _bins(log: LogColumns, chances: Floats) -> Iterator[Event]:
    """Choices of actions whose probability is in a bin."""
    rows, bin_of = np.arange(len(log)), np.digitize(chances, _EDGES)
    for place in range(len(_EDGES) + 1):
        cells = bin_of == place
        low = 0.0 if place == 0 else _EDGES[place - 1]
        high = 1.0 if place == len(_EDGES) else _EDGES[place]
        chosen = cells[rows, np.maximum(log.action, 0)].astype(np.float64)
        name = f"an action of probability {low:g} to {high:g}"
        yield name, chosen, np.minimum((chances * cells).sum(axis=1), 1.0)


def _and_more(count: int) -> str:
    return f"; and {count} more such difference{'' if count == 1 else 's'}" if count else ""


def _by_weights(log: LogColumns, alpha: float) -> list[LogFinding]:
    """Sums of 1 / p against numbers of rows, where only propensities of logged actions are known."""
    usable = np.isfinite(log.propensity) & (log.propensity > 0.0) & (log.propensity <= 1.0 + 1e-6)
    usable &= log.action >= 0
    places = np.flatnonzero(usable)
    if len(places) < 20:
        return []
    rows = log.take_without_features(usable)
    whole = Segments(np.zeros(len(rows), np.int64), ("the whole log",))
    for too_low in (True, False):
        for parts in (segments_of(rows), whole):
            p_values = _p_values(rows, parts, too_low=too_low)
            bad = holm(p_values, alpha / 4.0)
            if bad.any():
                here = places[np.asarray(bad.any(axis=1))[parts.of_row]]
                clause, p_value = _mean_clause(rows, parts, p_values), float(np.nanmin(p_values))
                return (
                    _too_low(log, here, clause, p_value) if too_low else _too_high(log, here, clause, p_value)
                )
    return []


def _p_values(log: LogColumns, segments: Segments, *, too_low: bool) -> Floats:
    """p-values by segment and action, (G, K), of sums of 1 / p that are too large or too small.

    Actions that were never drawn are not tested: nothing says how small their propensities are.
    """
    n_actions = log.table.n_actions
    group = segments.of_row * n_actions + log.action
    possible = segments.sums(log.eligible.astype(np.float64)).ravel().astype(np.int64)
    chances = np.minimum(log.propensity, 1.0)
    least = np.ones(n_actions)
    np.minimum.at(least, log.action, chances)
    floor = None if too_low else np.tile(least, len(segments))
    values = bets_against_propensities(chances, group, possible, floor).reshape(len(segments), n_actions)
    drawn = np.bincount(log.action, minlength=n_actions) > 0
    return np.where(drawn, values, np.nan)


def _too_low(log: LogColumns, rows: Ints, clause: str, p_value: float) -> list[LogFinding]:
    """Means of 1{a} / p above 1, which no policy has."""
    return log.fault(
        "propensity_calibration",
        rows,
        f"{clause}; propensities are too low",
        _REMEDY,
        sets_aside=False,
        p_value=p_value,
    )


def _too_high(log: LogColumns, rows: Ints, clause: str, p_value: float) -> list[LogFinding]:
    """Means of 1{a} / p below 1, which policies with probabilities of 0 have as well."""
    return log.fault(
        "propensity_too_high",
        rows,
        clause,
        "log probabilities of all actions, which tell whether propensities are too high, or an action had no "
        "chance in some contexts, where nothing can be learned about it",
        severity="warning",
        p_value=p_value,
    )


def _mean_clause(log: LogColumns, segments: Segments, p_values: Floats) -> str:
    segment, action = np.unravel_index(int(np.nanargmin(p_values)), p_values.shape)
    rows = (segments.of_row == segment) & log.eligible[:, int(action)]
    mean = ((log.action == action) / log.propensity)[rows].mean()
    return (
        f"in {segments.names[int(segment)]}, the mean of 1{{a}} / p for the action {log.label(int(action))} "
        f"is {mean:.4g} where 1 is expected (p = {p_values[segment, action]:.2g})"
    )
