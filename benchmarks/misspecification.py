"""How often the intervals of method "one_step" hold the misspecification b.

`python -m benchmarks.misspecification` prints the table of docs/how-to/estimate-misspecification.md. In each
case uniform play over two actions gives logs whose b is known, and each log gives three intervals:

* "one scale": the estimate +- 1.96 standard errors, with random Fourier features of one length scale;
* "estimate": the same with the length scale that cross-validation prefers;
* "bound": what `misspecification_estimate` returns, up to the best risk.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.records import PASSIVE, Log
from gyrfalcon.estimates.misspecification.estimate import misspecification_estimate
from gyrfalcon.estimates.misspecification.result import MisspecificationEstimate
from gyrfalcon.oracles.features.bases import Identity, Joined
from gyrfalcon.oracles.features.smooth import RandomFourier
from gyrfalcon.oracles.linear.linear import Linear

LOGS, QUICK_LOGS = 200, 20
N_EXACT = 400_000
"""Contexts by which b is known, to about half a percent."""


@dataclass(frozen=True, slots=True)
class Case:
    """Contexts uniform on the unit cube, and the mean rewards of two actions, less 0.5."""

    name: str
    n_features: int
    n_rows: int
    noise: float | None
    """The standard deviation of normal noise; None for rewards of 0 and 1."""
    first: Callable[[Floats], Floats]
    second: Callable[[Floats], Floats] = lambda x: np.zeros(len(x))

    def means(self, x: Floats) -> Floats:
        """Mean rewards of both actions, (n, 2)."""
        return 0.5 + np.stack([self.first(x), self.second(x)], axis=1)

    def b(self) -> float:
        """The misspecification of the linear class."""
        x = np.random.default_rng(0).random((N_EXACT, self.n_features))
        design, means = np.column_stack([np.ones(len(x)), x]), self.means(x)
        return float(np.mean((means - design @ np.linalg.lstsq(design, means)[0]) ** 2))

    def log(self, seed: int) -> Log:
        """Rows of uniform play."""
        rng, n = np.random.default_rng([1, seed]), self.n_rows
        x, action = rng.random((n, self.n_features)), rng.integers(0, 2, n)
        mean = self.means(x)[np.arange(n), action]
        if self.noise is None:
            reward = (rng.random(n) < mean).astype(np.float64)
        else:
            reward = mean + self.noise * rng.standard_normal(n)
        zeros = np.zeros(n, dtype=np.int64)
        return Log(Contexts(x), action, reward, np.full(n, 0.5), zeros, np.arange(n), zeros + PASSIVE)


def _corners(x: Floats) -> Floats:
    return np.sign((x[:, 0] - 0.5) * (x[:, 1] - 0.5))


def _friedman(x: Floats) -> Floats:
    curved = 10.0 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20.0 * (x[:, 2] - 0.5) ** 2
    return (curved + 10.0 * x[:, 3] + 5.0 * x[:, 4]) / 30.0 - 0.5


CASES = (
    Case(
        "tanh and cos",
        6,
        800,
        0.1,
        lambda x: 0.3 * np.tanh(3.0 * (2.0 * x[:, 0] - 1.0) * (2.0 * x[:, 1] - 1.0)),
        lambda x: 0.3 * np.cos(3.0 * (x[:, 2] + x[:, 3])),
    ),
    Case("sin 40x", 1, 800, 0.1, lambda x: 0.3 * np.sin(40.0 * x[:, 0])),
    Case("sin 40x", 4, 800, 0.1, lambda x: 0.3 * np.sin(40.0 * x[:, 0])),
    Case("step", 1, 60, 0.1, lambda x: np.where(x[:, 0] > 0.5, 0.5, -0.5)),
    Case("step", 4, 60, 0.1, lambda x: np.where(x[:, 0] > 0.5, 0.5, -0.5)),
    Case("corners", 5, 1000, None, lambda x: 0.4 * _corners(x), lambda x: -0.4 * _corners(x)),
    Case("Friedman", 10, 1500, 0.1, _friedman),
    Case("product", 8, 2000, 0.2, lambda x: 0.5 * x[:, 0] * x[:, 1] - 0.2),
    Case("ten sines", 12, 3000, 0.5, lambda x: 0.1 * np.sin(6.0 * x[:, :10]).sum(axis=1) / 2.0),
    Case("linear", 6, 500, 0.1, lambda x: 0.6 * x[:, 0] - 0.3, lambda x: 0.4 - 0.8 * x[:, 1]),
    Case("linear", 20, 1000, None, lambda x: 0.6 * x[:, 0] - 0.3, lambda x: 0.4 - 0.8 * x[:, 1]),
)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Shares of logs whose intervals hold b, and where the ends are on average."""

    case: str
    n_features: int
    n_rows: int
    noise: float | None
    b: float
    one_scale: float
    estimate: float
    bound: float
    lower_holds: float
    one_scale_lower: float
    lower: float
    upper: float


def main(arguments: list[str] | None = None) -> int:
    """Measure every case and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.misspecification", description=__doc__)
    parser.add_argument("--logs", type=int, metavar="N", help=f"logs of each case, {LOGS} by default")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_LOGS} logs")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of the table")
    options = parser.parse_args(arguments)
    n_logs: int = options.logs if options.logs is not None else (QUICK_LOGS if options.quick else LOGS)
    if n_logs < 1:
        parser.error(f"--logs is {n_logs}; give at least 1.")
    console = Console(stderr=True)
    found = [coverage(case, n_logs) for case in track(CASES, "cases", console=console, transient=True)]
    if options.json:
        print(json.dumps({"logs": n_logs, "cases": [asdict(one) for one in found]}, indent=2))
    else:
        (Console() if Console().is_terminal else Console(width=120)).print(table(found, n_logs))
    return 0


def coverage(case: Case, n_logs: int) -> Coverage:
    """The three intervals of each log of a case, compared with b."""
    b = case.b()
    logs = [case.log(seed) for seed in range(n_logs)]
    before = [one_scale(log) for log in logs]
    now = [misspecification_estimate(log, 2, method="one_step") for log in logs]
    # A class that is right has b = 0 up to rounding.
    b = b if b > 1e-20 else 0.0
    return Coverage(
        case.name,
        case.n_features,
        case.n_rows,
        case.noise,
        b,
        float(np.mean([_held(one, b) for one in before])),
        float(np.mean([_held(one, b) for one in now])),
        float(np.mean([one.lower <= b <= one.upper for one in now])),
        float(np.mean([one.lower <= b for one in now])),
        float(np.mean([one.lower for one in before])),
        float(np.mean([one.lower for one in now])),
        float(np.mean([one.upper for one in now])),
    )


def one_scale(log: Log) -> MisspecificationEstimate:
    """One step against random Fourier features whose length scale is the distance between contexts."""
    n_features = min(max(len(log) // 20, 8), 100)
    fourier = RandomFourier(n_features=n_features, length_scale=math.sqrt(log.contexts.shared.shape[1]))
    richer = Linear(basis=Joined((Identity(), fourier)), ridge=1.0)
    return misspecification_estimate(log, 2, method="one_step", richer=richer)


def _held(one: MisspecificationEstimate, b: float) -> bool:
    return abs(one.untruncated - b) <= 1.96 * one.standard_error


def table(found: Sequence[Coverage], n_logs: int) -> Table:
    """Coverage in percent, and the ends of the interval beside b."""
    made = Table(
        title=f'Logs of 100 whose 95% interval holds b, method "one_step", {n_logs} logs',
        title_justify="left",
        box=None,
        padding=(0, 0, 0, 1),
    )
    made.add_column("\ncase", no_wrap=True)
    for name in (
        *("\nd", "\nn", "\nnoise", "\nb", "one\nscale", "\nestimate", "\nbound", "lower end\nholds"),
        *("lower end,\none scale", "\nlower end", "\nupper end"),
    ):
        made.add_column(name, justify="right", no_wrap=True)
    for one in found:
        made.add_row(*_row(one))
    return made


def _row(one: Coverage) -> list[str]:
    shares = one.one_scale, one.estimate, one.bound, one.lower_holds
    return [
        one.case,
        str(one.n_features),
        str(one.n_rows),
        "0 or 1" if one.noise is None else str(one.noise),
        f"{one.b:.4f}",
        *(f"{100.0 * share:.1f}" for share in shares),
        *(f"{end:.4f}" for end in (one.one_scale_lower, one.lower, one.upper)),
    ]


if __name__ == "__main__":
    sys.exit(main())
