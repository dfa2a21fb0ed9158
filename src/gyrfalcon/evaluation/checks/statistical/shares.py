"""Sample-ratio mismatch: whether traffic was split as the log says, or as was planned."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.inputs.messages import short_repr, suggestion
from gyrfalcon.evaluation.checks.columns import LogColumns
from gyrfalcon.evaluation.checks.finding import LogFinding
from gyrfalcon.evaluation.checks.statistical.segments import blocks_of
from gyrfalcon.evaluation.checks.statistical.tail_probabilities import holm, two_sided

_REMEDY = (
    "find out which rows were lost or added before anything is compared: redirects, filters, bots, joins "
    "that drop rows of one action"
)


def share_faults(
    log: LogColumns, distribution: Floats | None, shares: Mapping[Hashable, float] | None, alpha: float
) -> list[LogFinding]:
    """Counts of actions, or of experiments, that are not in the ratio of their shares."""
    if not len(log):
        return []
    if shares is not None:
        return _tested(log, *_planned(log, shares), np.arange(len(log)), alpha)
    if distribution is None:
        return []
    known = ~np.isnan(distribution).any(axis=1)
    labels, places = list(log.table.actions), np.flatnonzero(known)
    return _tested(log, log.action[known], distribution[known], labels, places, alpha)


def _planned(log: LogColumns, shares: Mapping[Hashable, float]) -> tuple[Ints, Floats, list[Hashable]]:
    """Positions of the log's rows among the planned parts, and the probability of each part in each row."""
    _check_shares(shares)
    labels, planned = list(shares), np.array(list(shares.values()), dtype=np.float64)
    planned = planned / planned.sum()
    of_actions = {label: place for place, label in enumerate(log.table.actions)}
    texts = {str(label): place for label, place in of_actions.items()}
    places = [of_actions.get(label, texts.get(str(label), -1)) for label in labels]
    column = log.table.experiment
    if all(place >= 0 for place in places):
        inverse = {place: part for part, place in enumerate(places)}
        part = np.array([inverse.get(action, -1) for action in range(log.table.n_actions)], dtype=np.int64)
        return np.where(log.action >= 0, part[log.action], -1), np.tile(planned, (len(log), 1)), labels
    if column is None or all(name is None for name in column):
        unknown = labels[places.index(-1)]
        raise ValueError(
            f"shares name {short_repr(unknown)}, which is no action of the log; "
            f"{suggestion(unknown, log.table.actions)}"
        )
    parts = {str(label): part for part, label in enumerate(labels)}
    names = np.asarray(column, dtype=object).tolist()
    unknown = next((label for label in labels if str(label) not in set(map(str, names))), None)
    if unknown is not None and not set(map(str, names)) & set(parts):
        raise ValueError(
            f"shares name {short_repr(unknown)}, which is neither an action nor an experiment of the log; "
            f"{suggestion(unknown, sorted({str(name) for name in names}))}"
        )
    rows = np.array([parts.get(str(name), -1) for name in names], dtype=np.int64)
    return rows, np.tile(planned, (len(log), 1)), labels


def _check_shares(shares: Mapping[Hashable, float]) -> None:
    for label, share in shares.items():
        if not (np.isfinite(share) and share >= 0.0):
            raise ValueError(f"the share of {short_repr(label)} is {share}; give a number of at least 0.")
    if not shares or not sum(shares.values()) > 0.0:
        raise ValueError("shares are all 0; give the planned share of each action or experiment.")


def _tested(
    log: LogColumns, part: Ints, chances: Floats, labels: Sequence[Hashable], places: Ints, alpha: float
) -> list[LogFinding]:
    """Counts of parts in some rows against sums of probabilities: half of alpha in all, half over time."""
    tested = np.zeros(len(log), np.bool_)
    tested[places] = True
    segments = blocks_of(log.take_without_features(tested), min(10, len(places) // 200))
    chosen = (part[:, np.newaxis] == np.arange(len(labels))).astype(np.float64)
    cells = [segments.sums(values) for values in (chosen, chances, chances * (1.0 - chances))]
    totals = [values.sum(axis=0, keepdims=True) for values in cells]
    whole, parts = (two_sided(values[0] - values[1], values[2]) for values in (totals, cells))
    in_parts = np.asarray(holm(parts, alpha / 2.0).any(axis=1), dtype=np.bool_)
    if holm(whole, alpha / 2.0).any():
        rows, where, counts, p_values = np.ones(len(places), np.bool_), "", totals, whole
    elif len(segments) > 1 and in_parts.any():
        rows, where = in_parts[segments.of_row], f"in {segments.names[int(in_parts.argmax())]}, "
        counts, p_values = [values[in_parts] for values in cells], parts[in_parts]
    else:
        return []
    worst = int(p_values[0].argmin())
    observed, expected = counts[0][0], counts[1][0]
    return log.fault(
        "sample_ratio",
        places[rows],
        f"{where}{labels[worst]!r} has {observed[worst]:,.0f} of {observed.sum():,.0f} rows, and its shares "
        f"give {expected[worst]:,.1f} (p = {p_values[0, worst]:.2g})",
        _REMEDY,
        sets_aside=False,
        p_value=float(p_values[0, worst]),
        observed={str(label): float(count) for label, count in zip(labels, observed, strict=True)},
        expected={str(label): float(count) for label, count in zip(labels, expected, strict=True)},
    )
