"""What share of the capital one row may take: coverage and width of betting sequences by `largest_loss`.

`python -m benchmarks.bets` prints the table behind the default. Rewards are 0 or 1 with a known mean, seen
directly (`betting_sequence`), or through importance weights of 1 / 0.1 in a tenth of the rows
(`off_policy_sequence` without a model). Coverage is uniform over time: the last interval holds the mean if
all before it did, and none was empty.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import product

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from gyrfalcon.core.arrays import Floats
from gyrfalcon.evaluation.intervals.sequences.betting import betting_sequence
from gyrfalcon.evaluation.intervals.sequences.confidence_sequence import ConfidenceSequence
from gyrfalcon.evaluation.intervals.sequences.off_policy_sequence import off_policy_sequence

LOSSES = (0.1, 0.25, 0.5)
MEANS = (0.01, 0.05, 0.2, 0.5)
RUNS = {1_000: 400, 10_000: 200, 100_000: 60}
LEVEL = 0.95
PROPENSITY = 0.1
"""Probability with which the log has the target's action."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out for one mean, length and largest loss."""

    rows: str
    mean: float
    n_rows: int
    n_runs: int
    largest_loss: float
    coverage: float
    width: float


def direct(rng: np.random.Generator, mean: float, n: int) -> Callable[[float], ConfidenceSequence]:
    rewards = (rng.random(n) < mean).astype(float)
    return lambda loss: betting_sequence(rewards, (0.0, 1.0), LEVEL, resolution=1, largest_loss=loss)


def weighted(rng: np.random.Generator, mean: float, n: int) -> Callable[[float], ConfidenceSequence]:
    weights = (rng.random(n) < PROPENSITY) / PROPENSITY
    rewards = (rng.random(n) < mean).astype(float)

    def sequence(loss: float) -> ConfidenceSequence:
        scores: tuple[Floats, Floats] = (weights * rewards, weights * (1.0 - rewards))
        return off_policy_sequence(*scores, level=LEVEL, resolution=1, largest_loss=loss)

    return sequence


def study(scale: float) -> Iterator[Outcome]:
    cases = list(product((direct, weighted), MEANS, RUNS))
    for kind, mean, n in track(cases, "cases", console=Console(stderr=True), transient=True):
        n_runs = max(2, int(RUNS[n] * scale))
        runs = [kind(np.random.default_rng([seed, n]), mean, n) for seed in range(n_runs)]
        for loss in LOSSES:
            sequences = [run(loss) for run in runs]
            covered = float(np.mean([one.empty_from is None and mean in one.last for one in sequences]))
            width = float(np.median([one.last.width for one in sequences]))
            yield Outcome(kind.__name__, mean, n, n_runs, loss, covered, width)


def table(outcomes: list[Outcome]) -> Table:
    """Width and coverage by largest loss."""
    made = Table(
        title=f"Median width at level {LEVEL}, and coverage in percent", title_justify="left", box=None
    )
    for name in ("rows", "mean", "n", *(f"width {loss}" for loss in LOSSES), "coverage"):
        made.add_column(name, justify="right")
    for start in range(0, len(outcomes), len(LOSSES)):
        group = outcomes[start : start + len(LOSSES)]
        first = group[0]
        coverage = " ".join(f"{100.0 * one.coverage:.1f}" for one in group)
        widths = (f"{one.width:.4f}" for one in group)
        made.add_row(first.rows, str(first.mean), f"{first.n_rows:,}", *widths, coverage)
    return made


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bets", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the runs")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of the table")
    options = parser.parse_args(arguments)
    outcomes = list(study(0.1 if options.quick else 1.0))
    if options.json:
        print(json.dumps([asdict(one) for one in outcomes], indent=2))
    else:
        (Console() if Console().is_terminal else Console(width=110)).print(table(outcomes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
