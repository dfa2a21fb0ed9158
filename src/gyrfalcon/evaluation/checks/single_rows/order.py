"""Faults of order: epochs and rounds that go backwards, repeat or are missing."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.evaluation.checks.columns import LogColumns
from gyrfalcon.evaluation.checks.finding import LogFinding
from gyrfalcon.evaluation.checks.single_rows.runs import repeated_values, runs_of

_FEW = 0.05
"""Share of rows out of order up to which these are faults, and beyond which the whole log is unsorted."""


def order_faults(log: LogColumns) -> list[LogFinding]:
    """Faults of epochs and rounds; where a bandit was restarted, those of each run by itself."""
    runs = runs_of(log)
    if runs is None:
        return [*epoch_faults(log), *round_faults(log)]
    assert log.round is not None
    found = log.fault(
        "rounds_interleaved",
        repeated_values(log.round),
        "rounds are there again for other events, as where a bandit is loaded from its file after a crash, "
        "or several share a log",
        "nothing, if that is so: the rows of each run were checked by themselves",
        severity="warning",
        n_runs=len(np.unique(runs)),
    )
    for run in np.unique(runs):
        places = np.flatnonzero(runs == run)
        rows = log.take(runs == run)
        found += [replace(one, rows=places[one.rows]) for one in (*epoch_faults(rows), *round_faults(rows))]
    return found


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
        *backwards(log, "epoch", log.epoch),
        *_models(log),
    ]


def round_faults(log: LogColumns) -> list[LogFinding]:
    """Rounds that repeat, go backwards or are missing."""
    if log.round is None or len(log) < 2:
        return []
    rounds = np.where(np.abs(log.round) < 2.0**53, log.round, np.nan)
    order = np.argsort(rounds, kind="stable")
    steps = np.diff(rounds[order])
    repeated = repeated_values(rounds)
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
        *backwards(log, "round", np.where(repeated, np.nan, rounds)),
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


def backwards(log: LogColumns, name: str, values: Floats) -> list[LogFinding]:
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


def _models(log: LogColumns) -> list[LogFinding]:
    """Rows whose policy is not the one that most rows of their epoch have, or has other epochs as well."""
    column, epoch = log.table.model, log.epoch
    if column is None or epoch is None:
        return []
    texts, model = np.asarray(column, dtype=object), log.model_codes
    known = (model >= 0) & np.isfinite(epoch)
    several = known & ~_has_most_of(epoch, model, known)
    if several.mean() > _FEW:
        return log.fault(
            "epochs_interleaved",
            several,
            "many epochs have several policies, as where several bandits share a log",
            "check the log of each bandit by itself",
            severity="warning",
        )
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
