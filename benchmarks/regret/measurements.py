"""What requirements are about: means, paired differences and times, each from the seeds that all share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.regret.contestants import CONTESTANTS
from benchmarks.regret.samples import missing, sample
from benchmarks.regret.standings import Table
from gyrfalcon.core.arrays import Floats
from gyrfalcon.simulation.trace import Summary

WABBITS = tuple(one.name for one in CONTESTANTS if one.package == "vowpalwabbit")


@dataclass(frozen=True, slots=True)
class Measured:
    """A number, what it may be off by, and from how much it comes."""

    value: float
    standard_error: float
    n_seeds: int
    note: str = ""
    complete: bool = True
    """Whether all have played that it is about; seeds are counted apart."""
    by_environment: Mapping[str, Summary] = field(default_factory=dict)
    """The same number in each environment, where it is that of the worst one."""

    @staticmethod
    def of(per_seed: Floats, note: str = "", complete: bool = True) -> Measured:
        """The mean of one number per seed."""
        summary = Summary.of(per_seed)
        return Measured(summary.mean, summary.standard_error, len(per_seed), note, complete)


def mean(table: Table, *, name: str, environments: Sequence[str], part: str = "reward") -> Measured | str:
    """The mean reward over these environments."""
    found = sample(table, (name,), environments, part)
    return Measured.of(found[0].mean(axis=0)) if found.size else missing(table, (name,), environments)


def difference(
    table: Table, *, name: str, other: str, environments: Sequence[str], part: str = "reward"
) -> Measured | str:
    """The mean reward over these environments less that of another contestant."""
    found = sample(table, (name, other), environments, part)
    if not found.size:
        return missing(table, (name, other), environments)
    return Measured.of((found[0] - found[1]).mean(axis=0))


def z_of_difference(table: Table, *, name: str, other: str, environments: Sequence[str]) -> Measured | str:
    """The difference over its standard error; nan if there is but one seed."""
    found = difference(table, name=name, other=other, environments=environments)
    if isinstance(found, str):
        return found
    if math.isnan(found.standard_error):
        return f"{name} and {other} have one seed in common; a standard error needs two"
    note = f"the difference is {_points(Summary(found.value, found.standard_error))} points"
    return Measured(_ratio(found.value, found.standard_error), math.nan, found.n_seeds, note)


def lead_over_wabbits(table: Table, *, name: str, environments: Sequence[str]) -> Measured | str:
    """The difference to that configuration of Vowpal Wabbit which it leads by least."""
    if not sample(table, (name,), environments, "reward").size:
        return missing(table, (name,), environments)
    pairs = {other: difference(table, name=name, other=other, environments=environments) for other in WABBITS}
    leads = {other: found for other, found in pairs.items() if isinstance(found, Measured)}
    if not leads:
        return (
            f"no configuration has been played in all {len(environments)} environments under a seed of {name}"
        )
    best = min(leads, key=lambda other: leads[other].value)
    absent = [other for other in WABBITS if other not in leads]
    note = f"the best is {best}" + (
        f"; not played in all environments yet: {', '.join(absent)}" if absent else ""
    )
    # Among those with fewer seeds another may turn out to be the best.
    least = min(found.n_seeds for found in leads.values())
    return Measured(leads[best].value, leads[best].standard_error, least, note, not absent)


def worst_against_best(
    table: Table, *, name: str, others: Sequence[str], environments: Sequence[str], part: str
) -> Measured | str:
    """The least difference, over environments, to the best of the others in each environment."""

    def compared(found: Floats) -> tuple[Floats, str]:
        best = int(found[1:].mean(axis=1).argmax())
        honest = f"{100.0 * _chosen_elsewhere(found).mean():+.2f}" if found.shape[1] > 1 else "unknown"
        return found[0] - found[1 + best], f"to {others[best]}; {honest} if chosen on the other seeds"

    return _worst(table, (name, *others), environments, part, compared, lowest=True)


def _chosen_elsewhere(found: Floats) -> Floats:
    """The differences of row 0 to the best of the others, under each seed that of the other seeds."""
    others = found[1:]
    best = (others.sum(axis=1, keepdims=True) - others).argmax(axis=0)
    chosen: Floats = found[0] - others[best, np.arange(found.shape[1])]
    return chosen


def times_as_long(table: Table, *, name: str, other: str, environments: Sequence[str]) -> Measured | str:
    """The processor time of these environments together over that of another contestant."""
    found = sample(table, (name, other), environments, "seconds")
    if not found.size:
        return missing(table, (name, other), environments)
    seconds = found.mean(axis=1)
    means = seconds.mean(axis=1)
    return Measured.of(seconds[0] / seconds[1], f"{means[0]:.2f} s against {means[1]:.2f} s a run")


def most_times_as_long(table: Table, *, name: str, other: str, environments: Sequence[str]) -> Measured | str:
    """The same in the environment where it is most."""
    return _worst(table, (name, other), environments, "seconds", lambda found: (found[0] / found[1], ""))


def most_seconds_more(table: Table, *, name: str, other: str, environments: Sequence[str]) -> Measured | str:
    """The processor seconds more than another contestant's, in the environment where they are most."""
    return _worst(table, (name, other), environments, "seconds", lambda found: (found[0] - found[1], ""))


def _worst(
    table: Table,
    names: Sequence[str],
    environments: Sequence[str],
    part: str,
    compared: Callable[[Floats], tuple[Floats, str]],
    lowest: bool = False,
) -> Measured | str:
    """The environment where a number is worst, among those in which all of these contestants have played."""
    samples = {environment: sample(table, names, (environment,), part)[:, 0] for environment in environments}
    played = {environment: compared(found) for environment, found in samples.items() if found.size}
    if not played:
        return missing(table, names, environments)
    summaries = {environment: Summary.of(per_seed) for environment, (per_seed, _) in played.items()}
    ranked = sorted(
        summaries, key=lambda environment: summaries[environment].mean * (1.0 if lowest else -1.0)
    )
    worst, absent = ranked[0], [environment for environment in environments if environment not in played]
    notes = [f"worst in {worst}" if len(environments) > 1 else "", played[worst][1]]
    notes += [f"not played by all yet in {', '.join(absent)}"] if absent else []
    return Measured(
        summaries[worst].mean,
        summaries[worst].standard_error,
        min(len(per_seed) for per_seed, _ in played.values()),
        "; ".join(filter(None, notes)),
        not absent,
        {environment: summaries[environment] for environment in ranked},
    )


def _points(summary: Summary) -> str:
    return f"{100.0 * summary.mean:+.2f} ± {100.0 * summary.standard_error:.2f}"


def _ratio(value: float, error: float) -> float:
    """value / error, where 0/0 is 0: contestants that earn the same are equal."""
    if error > 0.0:
        return value / error
    return math.copysign(math.inf, value) if value else 0.0
