"""Faults of order: times, epochs and rounds that go backwards, repeat or are missing."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.evaluation.checks.columns import LogColumns
from gyrfalcon.evaluation.checks.finding import LogFinding

_FEW = 0.05
"""Share of rows out of order up to which these are faults, and beyond which the whole log is unsorted."""

_UNIX = ((1e8, 1e10), (1e11, 1e13), (1e14, 1e16), (1e17, 1e19))
"""Times since 1970 in seconds, milliseconds, microseconds and nanoseconds, in years from 1973 to 2286."""

_UNITS = ("seconds", "milliseconds", "microseconds", "nanoseconds")


def time_faults(log: LogColumns) -> list[LogFinding]:
    """Times that are missing, in another unit, backwards, or after their own reward."""
    time = log.time
    if time is None or not len(log) or np.isnan(time).all():
        return []
    unit = _other_units(time)
    late = None if log.reward_time is None else _reward_units(time, log.reward_time)
    found = [
        *log.fault(
            "time_missing",
            ~np.isfinite(time),
            "the decision has no time",
            "give the time of each decision, by which rows are put in order",
        ),
        *log.fault(
            "time_unit",
            unit,
            lambda row: f"the time is {time[row]:.13g}, which is not in seconds as others are",
            "give all times in seconds",
        ),
        *_whole_unit(log, time),
        *_backwards(log, "time", np.where(unit, np.nan, time)),
    ]
    rewarded = log.reward_time
    if rewarded is None or late is None:
        return found
    untimed = log.has_outcome & np.isnan(rewarded)
    with np.errstate(invalid="ignore"):
        early = (rewarded < time) & ~late & ~unit
    return [
        *found,
        *log.fault(
            "reward_time_missing",
            untimed & (untimed.sum() < 0.5 * log.has_outcome.sum()),
            "the reward has no time",
            "give the time at which each reward became final",
            severity="warning",
        ),
        *log.fault(
            "reward_time_unit",
            late & ~unit,
            lambda row: f"the reward's time is {rewarded[row]:.13g}, and the decision's {time[row]:.13g}",
            "give both times in seconds",
        ),
        *log.fault(
            "reward_before_decision",
            early,
            lambda row: f"the reward came {time[row] - rewarded[row]:.6g} seconds before its decision",
            "correct the times, or the join of rewards with decisions",
        ),
    ]


def epoch_faults(log: LogColumns) -> list[LogFinding]:
    """Epochs that go backwards, epochs with two policies, and policies with two epochs."""
    if log.epoch is None or np.isnan(log.epoch).all():
        return []
    return [
        *log.fault(
            "epoch_missing",
            ~np.isfinite(log.epoch),
            "the decision has no epoch",
            "give the number of the epoch whose policy decided",
        ),
        *_backwards(log, "epoch", log.epoch),
        *_models(log),
    ]


def round_faults(log: LogColumns) -> list[LogFinding]:
    """Rounds that repeat, go backwards or are missing."""
    if log.round is None or len(log) < 2:
        return []
    rounds = np.where(np.abs(log.round) < 2.0**53, log.round, np.nan)
    order = np.argsort(rounds, kind="stable")
    steps = np.diff(rounds[order])
    repeated = np.zeros(len(log), np.bool_)
    repeated[order[1:]] = steps == 0.0
    if repeated.mean() > _FEW:
        return log.fault(
            "rounds_interleaved",
            repeated,
            "many rounds are there several times, as where several bandits share a log",
            "check the log of each bandit by itself",
            severity="warning",
        )
    gaps = order[1:][steps > 1.0]
    n_lost = int((steps[steps > 1.0] - 1.0).sum())
    before = dict(zip(gaps.tolist(), (rounds[order[:-1]][steps > 1.0]).tolist(), strict=True))
    return [
        *log.fault(
            "round_repeated",
            repeated,
            lambda row: f"round {rounds[row]:.0f} is there again",
            "keep one row for each round",
        ),
        *_backwards(log, "round", np.where(repeated, np.nan, rounds)),
        *log.fault(
            "rounds_missing",
            np.sort(gaps),
            lambda row: (
                f"rounds {before[row] + 1:.0f} to {rounds[row] - 1:.0f} before it are missing "
                f"({n_lost:,} rounds are in all)"
            ),
            "find the decisions that were lost: what is left may not be a fair sample",
            severity="warning",
            n_missing=n_lost,
        ),
    ]


def _backwards(log: LogColumns, name: str, values: Floats) -> list[LogFinding]:
    """Values that are not in ascending order, as few rows as possible."""
    known = np.flatnonzero(np.isfinite(values))
    present = values[known]
    if len(present) < 2 or (np.diff(present) >= 0.0).all():
        return []
    out = known[~_longest_ascending(present)]
    if len(out) > max(1.0, _FEW * len(log)):
        return log.fault(
            f"{name}_unsorted",
            out,
            f"the log is not in the order of its {name}s",
            f"sort it by {name}, or check logs of several sources one by one",
            severity="warning",
        )

    def text(row: int) -> str:
        return f"the {name} {values[row]:.13g} is out of order, between rows {_around(log, row, values)}"

    return log.fault(
        f"{name}_backwards",
        out,
        text,
        f"correct the {name}, or put the row where it belongs",
    )


def _around(log: LogColumns, row: int, values: Floats) -> str:
    sides = [side for side in (row - 1, row + 1) if 0 <= side < len(values)]
    return " and ".join(f"{log.rows[side]} ({values[side]:.13g})" for side in sides)


def _longest_ascending(values: Floats) -> Bools:
    """Which values form a longest sequence that never falls, by patience sorting."""
    tails: list[float] = []
    ends: list[int] = []
    previous = np.full(len(values), -1, dtype=np.int64)
    for place, value in enumerate(values.tolist()):
        pile = bisect_right(tails, value)
        if pile:
            previous[place] = ends[pile - 1]
        if pile == len(tails):
            tails.append(value)
            ends.append(place)
        else:
            tails[pile], ends[pile] = value, place
    chosen = np.zeros(len(values), np.bool_)
    place = ends[-1]
    while place >= 0:
        chosen[place] = True
        place = int(previous[place])
    return chosen


def _unix_class(time: Floats) -> Ints:
    """Index of the unit that a time since 1970 is in, -1 where it is in none."""
    found = np.full(len(time), -1, dtype=np.int64)
    for place, (low, high) in enumerate(_UNIX):
        found[(time >= low) & (time < high)] = place
    return found


def _other_units(time: Floats) -> Bools:
    """Times whose unit is not that of most rows: they are some power of 1,000 larger or smaller."""
    classes = _unix_class(time)
    finite = np.isfinite(time)
    if finite.any() and (classes[finite] >= 0).mean() > 0.5:
        usual = np.bincount(classes[classes >= 0]).argmax()
        return np.asarray(finite & (classes >= 0) & (classes != usual))
    return _jumps_by_thousands(time, np.flatnonzero(finite & (time > 0.0)))


def _jumps_by_thousands(time: Floats, rows: Ints) -> Bools:
    """Times of a clock with another origin, by jumps of a factor of about 1,000 between neighbours."""
    found = np.zeros(len(time), np.bool_)
    if len(rows) < 3:
        return found
    known = time[rows]
    steps = np.log10(known[1:] / known[:-1]) / 3.0
    powers = np.rint(steps)
    # Far from the clock's origin, neighbours are nearly equal.
    far = np.minimum(known[1:], known[:-1]) > 20.0 * np.median(np.abs(np.diff(known)))
    jump = (powers != 0.0) & (np.abs(steps - powers) < np.log10(1.2) / 3.0) & far
    level = np.concatenate([[0.0], np.cumsum(np.where(jump, powers, 0.0))])
    values, counts = np.unique(level, return_counts=True)
    found[rows] = level != values[counts.argmax()]
    return found


def _reward_units(time: Floats, reward_time: Floats) -> Bools:
    """Rewards whose time is in another unit than their decision's."""
    own, other = _unix_class(time), _unix_class(reward_time)
    return np.asarray((own >= 0) & (other >= 0) & (own != other))


def _whole_unit(log: LogColumns, time: Floats) -> list[LogFinding]:
    classes = _unix_class(time[np.isfinite(time)])
    usual = int(np.median(classes)) if len(classes) else -1
    if usual < 1:
        return []
    return log.fault(
        "time_not_in_seconds",
        np.isfinite(time),
        f"times look like {_UNITS[usual]} since 1970",
        f"divide them by {1000**usual:,}: times of a log are in seconds",
        severity="warning",
    )


def _models(log: LogColumns) -> list[LogFinding]:
    """Rows whose policy is not the one that most rows of their epoch have, or has other epochs as well."""
    column, epoch = log.table.model, log.epoch
    if column is None or epoch is None:
        return []
    texts = np.asarray(column, dtype=object).tolist()
    codes = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    model = np.array([codes[text] for text in texts], dtype=np.int64)
    known = np.array([text is not None for text in texts], dtype=np.bool_) & np.isfinite(epoch)
    several = known & ~_has_most_of(epoch, model, known)
    alone = known & ~several
    shared = alone & ~_has_most_of(model.astype(np.float64), epoch, alone) & ~_is_uniform(log)
    return [
        *log.fault(
            "epoch_with_two_models",
            several,
            lambda row: f"epoch {epoch[row]:.0f} has another policy in most rows than {texts[row]!r}",
            "correct epoch or model; `gyrfalcon audit` says whether the stored policy gives the propensities",
        ),
        *log.fault(
            "model_with_two_epochs",
            shared,
            lambda row: f"the policy {texts[row]!r} stands in epoch {epoch[row]:.0f} and in others",
            "correct epoch or model, unless the same policy was used again",
            severity="warning",
        ),
    ]


def _has_most_of(group: Floats, value: Ints | Floats, known: Bools) -> Bools:
    """Which rows have the value that most rows of their group have."""
    _, groups = np.unique(group, return_inverse=True)
    _, values = np.unique(value, return_inverse=True)
    pairs, pair, counts = np.unique(
        groups[known] * (int(values.max(initial=0)) + 1) + values[known],
        return_inverse=True,
        return_counts=True,
    )
    owner = pairs // (int(values.max(initial=0)) + 1)
    # Within a group the most frequent pair, and among equally frequent ones the first.
    best = np.lexsort((-counts, owner))
    winners = best[np.unique(owner[best], return_index=True)[1]]
    found = np.zeros(len(group), np.bool_)
    found[np.flatnonzero(known)] = np.isin(pair, winners)
    return found


def _is_uniform(log: LogColumns) -> Bools:
    """Rows of uniform play, whose policy stays the same in any number of epochs."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(log.propensity * log.n_eligible - 1.0) < 1e-6)
