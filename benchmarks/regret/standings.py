"""Who stands where: mean rewards, differences to the baseline paired over seeds, wins, ties and losses."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.regret.cells import Result
from gyrfalcon.simulation.trace import Summary

MEASURES = ("reward", "reward_second_half", "reward_last_quarter")
SURE = 2.0
"""Standard errors from which on a difference counts."""

BySeed = Mapping[int, Result]
Table = Mapping[str, Mapping[str, BySeed]]
"""Results by contestant, environment and seed."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A contestant's mean reward less the baseline's in one environment, over seeds that both have played."""

    mean: float
    standard_error: float
    n_seeds: int

    @property
    def verdict(self) -> str:
        """Win or loss from two standard errors on, else tie; with one seed nothing is known."""
        if math.isnan(self.standard_error) or abs(self.mean) <= SURE * self.standard_error:
            return "tie"
        return "win" if self.mean > 0.0 else "loss"


@dataclass(frozen=True, slots=True)
class Standing:
    """A contestant over some environments, all of which it has played, as has the baseline."""

    contestant: str
    means: Mapping[str, float]
    """By measure, over environments and seeds."""
    difference: Summary
    """Of means over environments, which are fixed: its standard error comes from the seeds."""
    verdicts: Mapping[str, int]
    seconds: float
    """Of a run, the mean over environments."""


def by_contestant(results: Iterable[Result]) -> Table:
    """Results by contestant, environment and seed."""
    table: dict[str, dict[str, dict[int, Result]]] = defaultdict(lambda: defaultdict(dict))
    for result in results:
        table[result.contestant][result.environment][result.seed] = result
    return table


def paired(theirs: BySeed, base: BySeed, measure: str = "reward") -> Difference | None:
    """The difference over common seeds, under which both met the same rounds; None if there are none."""
    seeds = sorted(_common(theirs, base))
    if not seeds:
        return None
    sample = [getattr(theirs[seed], measure) - getattr(base[seed], measure) for seed in seeds]
    summary = Summary.of(np.array(sample))
    return Difference(summary.mean, summary.standard_error, len(seeds))


def differences(table: Table, baseline: str, measure: str = "reward") -> dict[str, dict[str, Difference]]:
    """By contestant and environment; the baseline is not among them."""
    base = table.get(baseline, {})
    return {
        name: {
            environment: difference
            for environment, theirs in environments.items()
            if environment in base and (difference := paired(theirs, base[environment], measure)) is not None
        }
        for name, environments in table.items()
        if name != baseline
    }


def standing(table: Table, name: str, environments: Sequence[str], baseline: str) -> Standing | None:
    """Where a contestant stands over these environments; None if it has not played all of them."""
    own, base = table.get(name, {}), table.get(baseline, {})
    if not environments or any(environment not in own for environment in environments):
        return None
    known = [
        paired(own[environment], base[environment]) for environment in environments if environment in base
    ]
    verdicts = [difference.verdict for difference in known if difference is not None]
    return Standing(
        name,
        {
            measure: float(np.mean([_mean(own[environment], measure) for environment in environments]))
            for measure in MEASURES
        },
        _over_environments(own, base, environments),
        {verdict: verdicts.count(verdict) for verdict in ("win", "tie", "loss")},
        float(np.mean([_mean(own[environment], "seconds") for environment in environments])),
    )


def mean_reward(table: Table, name: str, environment: str) -> float | None:
    """Of a contestant in an environment, over all of its seeds."""
    results = table.get(name, {}).get(environment)
    return _mean(results, "reward") if results else None


def _mean(results: BySeed, measure: str) -> float:
    return float(np.mean([getattr(result, measure) for result in results.values()]))


def _over_environments(
    own: Mapping[str, BySeed], base: Mapping[str, BySeed], environments: Sequence[str]
) -> Summary:
    """Differences of means over environments, for seeds under which both have played all of them."""
    seeds = set.intersection(
        *(_common(own[environment], base.get(environment, {})) for environment in environments)
    )
    sample = [
        np.mean([own[w][seed].reward - base[w][seed].reward for w in environments]) for seed in sorted(seeds)
    ]
    return Summary.of(np.array(sample)) if sample else Summary(math.nan, math.nan)


def _common(theirs: BySeed, base: BySeed) -> set[int]:
    """The seeds under which both met the same rounds."""
    both = theirs.keys() & base.keys()
    return {seed for seed in both if theirs[seed].rounds == base[seed].rounds}
