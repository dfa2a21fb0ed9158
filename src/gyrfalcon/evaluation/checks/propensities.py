"""Calibration of propensities: actions are chosen as often as their logged probabilities say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats
from gyrfalcon.evaluation.checks.columns import LogColumns
from gyrfalcon.evaluation.checks.finding import LogFinding
from gyrfalcon.evaluation.checks.segments import Segments, segments_of
from gyrfalcon.evaluation.checks.tail_probabilities import bets_against_propensities, holm, two_sided

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
    return _by_counts(log.take(known), distribution[known], np.flatnonzero(known), alpha)


def _by_counts(log: LogColumns, chances: Floats, places: Floats, alpha: float) -> list[LogFinding]:
    """Counts against sums of known probabilities: half of alpha for the whole log, half for its epochs."""
    segments = segments_of(log)
    columns = list(_indicators(log, chances))
    excess = np.stack([chosen - chance for _, chosen, chance in columns], axis=1)
    variance = np.stack([chance * (1.0 - chance) for _, _, chance in columns], axis=1)
    expected = np.stack([chance for _, _, chance in columns], axis=1)
    cells = [segments.sums(values) for values in (excess, variance, expected)]
    totals = [values.sum(axis=0, keepdims=True) for values in cells]
    whole, parts = (two_sided(values[0], values[1]) for values in (totals, cells))
    bad_whole = holm(whole, alpha / 2.0)
    bad_parts = holm(parts, alpha / 2.0) if len(segments) > 1 else np.zeros_like(parts, np.bool_)
    if not (bad_whole.any() or bad_parts.any()):
        return []
    names = [name for name, _, _ in columns]
    if bad_parts.any():
        clause = _clause(names, segments.names, cells, parts)
        rows = bad_parts.any(axis=1)[segments.of_row]
        p_value = float(parts.min())
    else:
        clause, rows = _clause(names, ("the whole log",), totals, whole), np.ones(len(log), np.bool_)
        p_value = float(whole.min())
    n_bad = int(bad_parts.sum()) if bad_parts.any() else int(bad_whole.sum())
    return log.fault(
        "propensity_calibration",
        places[rows],
        clause + _and_more(n_bad - 1),
        _REMEDY,
        sets_aside=False,
        p_value=p_value,
        n_tests=int(whole.size + parts.size),
    )


def _indicators(log: LogColumns, chances: Floats) -> Iterator[tuple[str, Floats, Floats]]:
    """Events that depend on the action, with the logged probability of each, (n,): what is compared."""
    rows = np.arange(len(log))
    for action in range(log.table.n_actions):
        yield f"the action {log.label(action)}", (log.action == action).astype(float), chances[:, action]
    top = chances.argmax(axis=1)
    yield "the most probable action", (log.action == top).astype(float), chances[rows, top]
    bin_of = np.digitize(chances, _EDGES)
    for place in range(len(_EDGES) + 1):
        cells = bin_of == place
        low = 0.0 if place == 0 else _EDGES[place - 1]
        high = 1.0 if place == len(_EDGES) else _EDGES[place]
        chosen = cells[rows, np.maximum(log.action, 0)].astype(float)
        name = f"an action of probability {low:g} to {high:g}"
        yield name, chosen, np.minimum((chances * cells).sum(axis=1), 1.0)


def _clause(names: list[str], where: tuple[str, ...], cells: list[Floats], p_values: Floats) -> str:
    segment, column = np.unravel_index(int(p_values.argmin()), p_values.shape)
    excess, expected = cells[0][segment, column], cells[2][segment, column]
    return (
        f"in {where[int(segment)]}, {names[int(column)]} was chosen {excess + expected:,.0f} times, and its "
        f"probabilities sum to {expected:,.1f} (p = {p_values[segment, column]:.2g})"
    )


def _and_more(count: int) -> str:
    return f"; and {count} more such difference{'' if count == 1 else 's'}" if count else ""


def _by_weights(log: LogColumns, alpha: float) -> list[LogFinding]:
    """Sums of 1 / p against numbers of rows, where only propensities of logged actions are known."""
    usable = np.isfinite(log.propensity) & (log.propensity > 0.0) & (log.propensity <= 1.0 + 1e-6)
    usable &= log.action >= 0
    places = np.flatnonzero(usable)
    if len(places) < 20:
        return []
    rows = log.take(usable)
    segments = segments_of(rows)
    found = _too_low(rows, segments, places, alpha / 2.0)
    return found or _too_high(rows, segments, places, alpha / 2.0)


def _p_values(log: LogColumns, segments: Segments, *, too_low: bool) -> Floats:
    """p-values by segment and action, (G, K), of sums of 1 / p that are too large or too small."""
    n_actions = log.table.n_actions
    group = segments.of_row * n_actions + log.action
    possible = segments.sums(log.eligible.astype(float)).ravel()
    chances = np.minimum(log.propensity, 1.0)
    values = bets_against_propensities(chances, group, possible.astype(np.int64), too_low=too_low)
    return values.reshape(len(segments), n_actions)


def _too_low(log: LogColumns, segments: Segments, places: Floats, alpha: float) -> list[LogFinding]:
    whole = Segments(np.zeros(len(log), np.int64), ("the whole log",))
    for parts in (segments, whole):
        p_values = _p_values(log, parts, too_low=True)
        bad = holm(p_values, alpha / 2.0)
        if bad.any():
            return log.fault(
                "propensity_calibration",
                places[bad.any(axis=1)[parts.of_row]],
                _mean_clause(log, parts, p_values) + "; propensities are too low",
                _REMEDY,
                sets_aside=False,
                p_value=float(p_values.min()),
                n_tests=int(p_values.size),
            )
    return []


def _too_high(log: LogColumns, segments: Segments, places: Floats, alpha: float) -> list[LogFinding]:
    """Means of 1{a} / p below 1, which policies with probabilities of 0 have as well."""
    p_values = _p_values(log, segments, too_low=False)
    bad: Bools = holm(p_values, alpha)
    if not bad.any():
        return []
    return log.fault(
        "propensity_too_high",
        places[bad.any(axis=1)[segments.of_row]],
        _mean_clause(log, segments, p_values),
        "log probabilities of all actions, which tell whether propensities are too high, or an action had no "
        "chance in some contexts, where nothing can be learned about it",
        severity="warning",
        p_value=float(p_values.min()),
    )


def _mean_clause(log: LogColumns, segments: Segments, p_values: Floats) -> str:
    segment, action = np.unravel_index(int(p_values.argmin()), p_values.shape)
    rows = (segments.of_row == segment) & log.eligible[:, int(action)]
    mean = ((log.action == action) / log.propensity)[rows].mean()
    return (
        f"in {segments.names[int(segment)]}, the mean of 1{{a}} / p for the action {log.label(int(action))} "
        f"is {mean:.4g} where 1 is expected (p = {p_values[segment, action]:.2g})"
    )
