"""What limits on propensities cost in reward, and what they gain in knowledge.

`python -m benchmarks.price_of_knowing` prints the tables of docs/how-to/price-of-knowing.md: AdaptiveFalcon
with a floor, a decaying floor, a least passive share or a control share, after 1,000 and 10,000 rounds of
each run. All settings meet the same rounds, seed by seed, so that differences in reward are paired. From each
log it evaluates every constant policy, and the greedy policy of the model that was fitted to all rows: doubly
robust scores with predictions by time, and 95% intervals with MinVar weights. Families have another truth
under each seed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch, action_probabilities, decide
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.policies.limited import unlimited
from gyrfalcon.core.policies.untried import without_trying
from gyrfalcon.core.records import Decisions, Log
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.protocol import Environment
from gyrfalcon.environments.synthetic.families import LinearEnvironment, SinusoidEnvironment
from gyrfalcon.evaluation.estimators.model_assisted import doubly_robust
from gyrfalcon.evaluation.intervals.adaptive_weights import (
    min_var_weights,
    variance_proxies,
    weighted_interval,
)
from gyrfalcon.evaluation.predictions.by_time import predictions_by_time
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.limited import Limited
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.reward_scale import estimated_rewards
from gyrfalcon.oracles.linear.linear import Linear
from gyrfalcon.simulation.trace import Summary

ENVIRONMENTS: dict[str, Callable[[int], Environment]] = {
    "section 1.1": lambda _: StepExample(),
    "linear": lambda seed: LinearEnvironment(environment_seed=seed),
    "sinusoid": lambda seed: SinusoidEnvironment(environment_seed=seed),
}
SETTINGS: dict[str, Callable[[object], Learner]] = {
    "none": lambda _: AdaptiveFalcon(),
    "floor 0.02": lambda _: Limited(AdaptiveFalcon(), floor=0.02),
    "floor 0.05": lambda _: Limited(AdaptiveFalcon(), floor=0.05),
    "floor 0.1": lambda _: Limited(AdaptiveFalcon(), floor=0.1),
    "floor 0.2": lambda _: Limited(AdaptiveFalcon(), floor=0.2),
    "floor 0.2 t^-1/4": lambda _: Limited(AdaptiveFalcon(), floor=0.2, decay=0.25),
    "passive 0.1": lambda _: AdaptiveFalcon(floor=0.1),
    "passive 0.3": lambda _: AdaptiveFalcon(floor=0.3),
    "control 0.1": lambda label: Limited(AdaptiveFalcon(), control=(label, 0.1)),
    "control 0.2": lambda label: Limited(AdaptiveFalcon(), control=(label, 0.2)),
}
"""Limits by name, and least passive shares; the control is the first action."""
LENGTHS = (1_000, 10_000)
SEEDS = 20
QUICK_LENGTHS, QUICK_SEEDS = (300, 1_000), 3
_FRESH = 20_000
"""Contexts over which values of policies are known up to an error that does not show."""
_LATEST = 500
"""Contexts before an epoch over which the variance of its scores is averaged."""
_FAR = 10**6
"""Where the rounds of fresh contexts begin."""
_CAPTION = (
    "Cost: reward of a round below that without limits, paired, with its standard error. Widths of 95% "
    "intervals: the first action always, the action with the widest one always, and the final greedy policy. "
    "Covered: of 100 such intervals. Regret: of the final greedy policy, on fresh contexts."
)


@dataclass(frozen=True, slots=True)
class Known:
    """What one run was worth, and what its log says, at one length."""

    environment: str
    setting: str
    n_rounds: int
    seed: int
    reward: float
    """Mean expected reward of a round."""
    widths: tuple[float, ...]
    """Widths of the intervals of the constant policies, in the order of the actions."""
    greedy_width: float
    n_covered: int
    """How many of these intervals hold the true value."""
    regret: float
    """Simple regret of the final greedy policy."""


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    lengths, n_seeds = (QUICK_LENGTHS, QUICK_SEEDS) if options.quick else (LENGTHS, options.seeds)
    cells = [
        (place, setting, seed)
        for place in options.environments
        for setting in SETTINGS
        for seed in range(n_seeds)
    ]
    found: list[Known] = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        for cell in progress.track(cells, description="runs"):
            found += known(*cell, lengths)
    if options.json:
        print(json.dumps([asdict(one) for one in found], indent=2))
        return 0
    console = Console() if Console().is_terminal else Console(width=120)
    for n_rounds in lengths:
        console.print(table([one for one in found if one.n_rounds == n_rounds], n_rounds, n_seeds))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.price_of_knowing", description=__doc__)
    parser.add_argument("--seeds", type=int, metavar="N", default=SEEDS, help=f"{SEEDS} by default")
    parser.add_argument(
        "--environments", nargs="+", choices=ENVIRONMENTS, default=list(ENVIRONMENTS), help="all by default"
    )
    parser.add_argument("--json", action="store_true", help="print every run as JSON instead of the tables")
    parser.add_argument("--quick", action="store_true", help="1,000 rounds at most, and 3 seeds")
    return parser


def known(place: str, setting: str, seed: int, lengths: Sequence[int]) -> Iterator[Known]:
    """One run, evaluated when it has these lengths."""
    environment = ENVIRONMENTS[place](seed)
    learner = SETTINGS[setting](environment.problem.actions[0])
    run = Run(learner, environment, seed)
    fresh = environment.draw(_FAR, _FAR + _FRESH, seed)
    for n_rounds in lengths:
        run.play_until(n_rounds)
        log = Log.concat(run.logs, environment.problem.n_actions)
        greedy = run.final_policy()
        constants = np.eye(environment.problem.n_actions)
        targets = [_constant(row) for row in constants]
        values = [
            float((target(fresh.contexts) * fresh.means).sum(axis=1).mean()) for target in (*targets, greedy)
        ]
        intervals = run.intervals(log, [*targets, greedy])
        yield Known(
            environment=place,
            setting=setting,
            n_rounds=n_rounds,
            seed=seed,
            reward=float(np.concatenate(run.expected).mean()),
            widths=tuple(high - low for low, high in intervals[:-1]),
            greedy_width=intervals[-1][1] - intervals[-1][0],
            n_covered=sum(low <= value <= high for (low, high), value in zip(intervals, values, strict=True)),
            regret=float(fresh.means.max(axis=1).mean()) - values[-1],
        )


Target = Callable[[Contexts], Floats]


def _constant(row: Floats) -> Target:
    return lambda contexts: np.tile(row, (len(contexts), 1))


class Run:
    """One run of a learner, which can be looked at in the middle of an epoch and played on."""

    def __init__(self, learner: Learner, environment: Environment, seed: int) -> None:
        self.learner, self.environment, self.seed = learner, environment, seed
        self.epoch = learner.start(environment.problem)
        self.epochs: list[Epoch] = [self.epoch]
        self.logs: list[Log] = []
        self.expected: list[Floats] = []
        self._open: list[Log] = []  # of the epoch in play
        self._round = 0

    def play_until(self, n_rounds: int) -> None:
        """Play on, so that this number of rounds is over."""
        while self._round < n_rounds:
            stop = min(self.epoch.stop, n_rounds)
            self._play(stop)
            if stop == self.epoch.stop:
                self.epoch = self._next()
                self.epochs.append(self.epoch)
                self._open = []

    def final_policy(self) -> Target:
        """The greedy policy of the model that is fitted to all rows so far."""
        policy = without_trying(unlimited((self._next() if self._open else self.epoch).policy))
        assert isinstance(policy, KernelPolicy)
        scorer = policy.scorer
        return lambda contexts: np.eye(self.environment.problem.n_actions)[
            estimated_rewards(scorer, contexts).argmax(axis=1)
        ]

    def intervals(self, log: Log, targets: Sequence[Target]) -> list[tuple[float, float]]:
        """95% intervals of the targets' values, by doubly robust scores and MinVar weights."""
        predictions = predictions_by_time(
            log, Linear(ridge=1.0), n_actions=self.environment.problem.n_actions, first=0.5
        )
        found = []
        weights = self._weights(log, targets)
        for target, weight in zip(targets, weights, strict=True):
            estimate = doubly_robust(
                log.reward, log.action, log.propensity, target(log.contexts), predictions
            )
            interval = weighted_interval(estimate.contributions, weight)
            found.append((interval.low, interval.high))
        return found

    def _play(self, stop: int) -> None:
        rounds = np.arange(self._round, stop)
        outcomes = self.environment.draw(self._round, stop, self.seed)
        uniforms = np.random.default_rng([self.seed, self._round]).random((len(rounds), 3))
        decisions: Decisions = decide(self.epoch, rounds, outcomes.contexts, uniforms)
        chosen = np.arange(len(rounds)), decisions.action
        log = Log.of(outcomes.contexts, decisions, outcomes.rewards[chosen])
        self.logs.append(log)
        self._open.append(log)
        self.expected.append(outcomes.means[chosen])
        self._round = stop

    def _next(self) -> Epoch:
        return self.learner.next_epoch(self.epoch, Log.concat(self._open, self.environment.problem.n_actions))

    def _weights(self, log: Log, targets: Sequence[Target]) -> list[Floats]:
        """MinVar weights (n,) of each target, by the latest contexts before each row's epoch."""
        proxies = np.ones((len(targets), len(log)))
        for epoch in self.epochs:
            rows = np.flatnonzero(log.epoch == epoch.index)
            before = slice(max(0, epoch.start - _LATEST), max(1, epoch.start))
            if len(rows):
                contexts = log.contexts.take(before)
                shares = action_probabilities(epoch, np.full(len(contexts), epoch.start), contexts)
                for place, target in enumerate(targets):
                    proxies[place, rows] = variance_proxies(target(contexts), shares).mean()
        return [min_var_weights(row) for row in proxies]


def table(found: Sequence[Known], n_rounds: int, n_seeds: int) -> Table:
    """Means over seeds of all settings in all environments."""
    drawn = Table(
        title=f"AdaptiveFalcon within limits: {n_rounds:,} rounds, {n_seeds} seeds, in points of reward",
        caption=_CAPTION,
        title_justify="left",
        caption_justify="left",
        box=None,
        padding=(0, 0, 0, 1),
    )
    drawn.add_column("\nenvironment", no_wrap=True)
    drawn.add_column("\nlimits", no_wrap=True)
    for name in ("\ncost", "width\nfirst", "\nwidest", "\ngreedy", "\ncovered", "\nregret"):
        drawn.add_column(name, justify="right", no_wrap=True)
    for place in dict.fromkeys(one.environment for one in found):
        here = [one for one in found if one.environment == place]
        baseline = np.array([one.reward for one in here if one.setting == "none"])
        for number, setting in enumerate(SETTINGS):
            cells = [one for one in here if one.setting == setting]
            drawn.add_row("" if number else place, setting, *_row(cells, baseline))
    return drawn


def _row(cells: Sequence[Known], baseline: Floats) -> list[str]:
    cost = Summary.of(baseline - np.array([one.reward for one in cells]))
    n_intervals = sum(len(one.widths) + 1 for one in cells)
    columns = (
        [one.widths[0] for one in cells],
        [max(one.widths) for one in cells],
        [one.greedy_width for one in cells],
    )
    return [
        f"{100 * cost.mean:.2f} ({100 * cost.standard_error:.2f})",
        *(f"{100 * float(np.mean(column)):.1f}" for column in columns),
        f"{100 * sum(one.n_covered for one in cells) / n_intervals:.0f}",
        f"{100 * float(np.mean([one.regret for one in cells])):.2f}",
    ]


if __name__ == "__main__":
    sys.exit(main())
