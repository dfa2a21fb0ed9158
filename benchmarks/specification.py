"""Size and power of specification tests, and coverage of intervals of b from rows of known propensities.

`python -m benchmarks.specification` prints both tables of docs/how-to/diagnose-a-log.md. A case draws logs
whose b is known: "uniform" play; "greedy" play around a fixed wrong policy with a share of uniform play; or a
learner in its loop, whose propensities follow from earlier rewards.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import decide
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import POLICY, Log
from gyrfalcon.estimates.misspecification.estimate import misspecification_estimate
from gyrfalcon.estimates.misspecification.specification_tests import specification_test
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.baselines.epsilon_greedy import EpsilonGreedy
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.protocol import Learner

LOGS, INTERVAL_LOGS, QUICK_LOGS = 1000, 400, 20
Noise = Literal["normal", "unequal", "skewed", "0 or 1", "clicks"]
LEARNERS: dict[str, Learner] = {
    "EpsilonGreedy": EpsilonGreedy(epsilon=0.2),
    "EpsilonFalcon": EpsilonFalcon(),
    "AdaptiveFalcon": AdaptiveFalcon(),
}


@dataclass(frozen=True, slots=True)
class Case:
    """Logs with mean rewards "linear" or a "step" of the first action, at a play and a noise."""

    means: Literal["linear", "step", "sine"]
    n_rows: int
    n_features: int
    n_actions: int
    noise: Noise
    play: str
    """"uniform", "greedy" with the share of uniform play behind it, or a learner's name."""

    @property
    def b(self) -> float:
        """The misspecification of the linear class, in which all actions but the first are right."""
        if self.means == "linear":
            return 0.0
        if self.means == "step":
            return 1.0 / 16.0 / self.n_actions
        # Of sin(6 u) on the unit interval less its best line, by moments of the sine.
        u = (np.arange(200_000) + 0.5) / 200_000
        y, line = 0.3 * np.sin(6.0 * u), np.column_stack([np.ones_like(u), u])
        left = y - line @ np.linalg.lstsq(line, y)[0]
        return float(np.mean(left**2)) / self.n_actions

    def mean_rewards(self, x: Floats) -> Floats:
        """Mean rewards of all actions, (n, K)."""
        slopes = np.random.default_rng(5).uniform(-0.4, 0.4, (self.n_actions, self.n_features))
        means = 0.5 + (x - 0.5) @ (2.0 * slopes / self.n_features).T
        if self.means == "step":
            means[:, 0] = x[:, 0] > 0.5
        if self.means == "sine":
            means[:, 0] += 0.3 * np.sin(6.0 * x[:, 0])
        return np.asarray(means)

    def log(self, seed: int) -> Log:
        """One log."""
        rng = np.random.default_rng([11, seed])
        x = rng.random((self.n_rows, self.n_features))
        rewards = self._rewards(rng, x)
        uniforms = rng.random((self.n_rows, 3))
        if self.play in LEARNERS:
            return self._played(LEARNERS[self.play], x, rewards, uniforms)
        share = 1.0 if self.play == "uniform" else float(self.play.split()[1])
        p = np.full(rewards.shape, share / self.n_actions)
        favourite = np.argmax([np.sin(1.7 * (a + 1) * x[:, 0] + a) for a in range(self.n_actions)], axis=0)
        rows = np.arange(self.n_rows)
        p[rows, favourite] += 1.0 - share
        action = (uniforms[:, :1] > p.cumsum(axis=1)).sum(axis=1).clip(0, self.n_actions - 1)
        return _log(Contexts(x), action, rewards[rows, action], p[rows, action])

    def _rewards(self, rng: np.random.Generator, x: Floats) -> Floats:
        means = self.mean_rewards(x)
        if self.noise == "0 or 1":
            return np.asarray((rng.random(means.shape) < means) * 1.0)
        if self.noise == "clicks":  # one in a hundred
            return np.asarray((rng.random(means.shape) < means / 50.0) * 1.0)
        if self.noise == "skewed":
            return np.asarray(means + 0.2 * (rng.exponential(size=means.shape) - 1.0) * (0.2 + x[:, :1]))
        scale = 0.05 * (1.0 + 4.0 * x[:, :1] ** 2) if self.noise == "unequal" else 0.1
        return np.asarray(means + scale * rng.standard_normal(means.shape))

    def _played(self, learner: Learner, x: Floats, rewards: Floats, uniforms: Floats) -> Log:
        """The log of a learner in its loop."""
        problem = Problem(list(range(self.n_actions)), features=[f"x{j}" for j in range(self.n_features)])
        epoch, start, logs = learner.start(problem), 0, []
        while start < self.n_rows:
            stop = min(epoch.stop, self.n_rows)
            rows = np.arange(start, stop)
            contexts = Contexts(np.ascontiguousarray(x[start:stop]))
            decisions = decide(epoch, rows, contexts, uniforms[start:stop])
            logs.append(Log.of(contexts, decisions, rewards[rows, decisions.action]))
            start = stop
            if start < self.n_rows:
                epoch = learner.next_epoch(epoch, logs[-1])
        return Log.concat(logs, self.n_actions)


def _log(contexts: Contexts, action: Ints, reward: Floats, propensity: Floats) -> Log:
    zeros = np.zeros(len(action), dtype=np.int64)
    return Log(contexts, action, reward, propensity, zeros, np.arange(len(action)), zeros + POLICY)


TESTED = (
    Case("linear", 200, 1, 2, "unequal", "uniform"),
    Case("linear", 200, 3, 2, "skewed", "uniform"),
    Case("linear", 1000, 1, 2, "normal", "uniform"),
    Case("linear", 1000, 1, 2, "0 or 1", "uniform"),
    Case("linear", 1000, 5, 3, "unequal", "uniform"),
    Case("linear", 1000, 10, 2, "0 or 1", "uniform"),
    Case("linear", 1000, 3, 3, "unequal", "greedy 0.2"),
    Case("linear", 1000, 1, 2, "0 or 1", "greedy 0.1"),
    Case("linear", 1500, 5, 5, "skewed", "greedy 0.2"),
    Case("linear", 1000, 2, 3, "unequal", "EpsilonGreedy"),
    Case("linear", 1000, 2, 3, "normal", "AdaptiveFalcon"),
    Case("step", 1000, 1, 2, "normal", "uniform"),
    Case("step", 300, 1, 2, "normal", "greedy 0.2"),
    Case("step", 1000, 1, 2, "normal", "AdaptiveFalcon"),
)
ESTIMATED = (
    Case("step", 1000, 1, 2, "normal", "greedy 0.2"),
    Case("step", 1000, 1, 2, "normal", "greedy 0.05"),
    Case("step", 2000, 1, 3, "0 or 1", "greedy 0.2"),
    Case("sine", 2000, 2, 2, "unequal", "greedy 0.2"),
    Case("sine", 2000, 5, 2, "normal", "greedy 0.2"),
    Case("linear", 1000, 1, 3, "unequal", "greedy 0.1"),
    Case("linear", 1000, 5, 3, "0 or 1", "greedy 0.2"),
    Case("step", 2000, 1, 2, "normal", "EpsilonGreedy"),
    Case("step", 2000, 1, 2, "normal", "EpsilonFalcon"),
)


@dataclass(frozen=True, slots=True)
class Rejections:
    """Shares of logs in which a test of size 0.05 rejects."""

    case: Case
    both: float
    reset: float
    kernel: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """Shares of logs whose 95% interval of b, from all rows, holds it."""

    case: Case
    method: str
    b: float
    mean: float
    held: float
    lower_holds: float


def rejections(case: Case, n_logs: int) -> Rejections:
    """The tests of each log."""
    found = [specification_test(case.log(seed), case.n_actions, seed=seed) for seed in range(n_logs)]
    own = [[one.p_value <= 0.05 for one in tests.tests] for tests in found]
    reset, kernel = np.mean(own, axis=0).tolist()
    return Rejections(case, float(np.mean([tests.rejects() for tests in found])), reset, kernel)


def coverage(case: Case, n_logs: int) -> Coverage:
    """The interval of each log, from all rows, compared with b."""
    b = case.b
    found = [misspecification_estimate(case.log(seed), case.n_actions, rows="all") for seed in range(n_logs)]
    return Coverage(
        case,
        found[0].method,
        b,
        float(np.mean([one.untruncated for one in found])),
        float(np.mean([one.lower <= b <= one.upper for one in found])),
        float(np.mean([one.lower <= b for one in found])),
    )


def main(arguments: list[str] | None = None) -> int:
    """Measure every case and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.specification", description=__doc__)
    parser.add_argument(
        "--logs",
        type=int,
        metavar="N",
        help=f"logs of each case; by default {LOGS} for tests and {INTERVAL_LOGS} for intervals",
    )
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_LOGS} logs")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    options = parser.parse_args(arguments)
    given: int | None = QUICK_LOGS if options.quick and options.logs is None else options.logs
    n_tests, n_intervals = (LOGS, INTERVAL_LOGS) if given is None else (given, given)
    if n_tests < 1:
        parser.error(f"--logs is {n_tests}; give at least 1.")
    console = Console(stderr=True)
    tested = [rejections(case, n_tests) for case in track(TESTED, "tests", console=console, transient=True)]
    held = [
        coverage(case, n_intervals) for case in track(ESTIMATED, "intervals", console=console, transient=True)
    ]
    if options.json:
        document = {"tests": [asdict(one) for one in tested], "intervals": [asdict(one) for one in held]}
        print(json.dumps({"logs": [n_tests, n_intervals], **document}, indent=2))
        return 0
    output = Console() if Console().is_terminal else Console(width=120)
    output.print(table_of_tests(tested, n_tests))
    output.print(table_of_intervals(held, n_intervals))
    return 0


def table_of_tests(found: Sequence[Rejections], n_logs: int) -> Table:
    """Rejections in percent: sizes where means are linear, powers elsewhere."""
    rows = [
        [*_case(one.case), *(f"{100.0 * share:.1f}" for share in (one.both, one.reset, one.kernel))]
        for one in found
    ]
    error = 100.0 * math.sqrt(0.05 * 0.95 / n_logs)
    title = f"Logs of 100 in which tests of size 0.05 reject, {n_logs} logs (standard error {error:.1f})"
    return _table(title, [*_NAMES, "both", "RESET", "kernel"], rows)


def table_of_intervals(found: Sequence[Coverage], n_logs: int) -> Table:
    """Coverage in percent."""
    rows = [
        [
            *_case(one.case),
            one.method.split(",")[0].replace("_", " "),
            f"{one.b:.4f}",
            f"{one.mean:.4f}",
            f"{100.0 * one.held:.1f}",
            f"{100.0 * one.lower_holds:.1f}",
        ]
        for one in found
    ]
    title = f"Logs of 100 whose 95% interval, from weighted rows, holds b, {n_logs} logs"
    return _table(title, [*_NAMES, "method", "b", "mean", "interval", "lower end"], rows)


_NAMES = ("means", "n", "d", "K", "noise", "play")


def _case(case: Case) -> list[str]:
    sizes = (case.n_rows, case.n_features, case.n_actions)
    return [case.means, *map(str, sizes), case.noise, case.play]


def _table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    made = Table(title=title, title_justify="left", box=None, padding=(0, 0, 0, 1))
    for name in names:
        texts = name in ("means", "noise", "play", "method")
        made.add_column(name, justify="left" if texts else "right", no_wrap=True)
    for row in rows:
        made.add_row(*row)
    return made


if __name__ == "__main__":
    sys.exit(main())
