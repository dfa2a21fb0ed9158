"""Section 1.1 of the paper: a wrong linear model, and who is led astray by it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from gyrfalcon.core.types import Floats
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.experiments.simulate import simulate
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.learner import Learner
from gyrfalcon.learners.linucb import LinUCB

LEARNERS: dict[str, Learner] = {
    "LinUCB": LinUCB(),
    "FALCON": Falcon(),
    "Epsilon-FALCON": EpsilonFalcon(),
}
N_POINTS = 40


@dataclass(frozen=True, slots=True)
class Regret:
    """The regret of one learner over replications: cumulative, late, and per round over time."""

    cumulative: Floats  # (replications,)
    late: Floats  # (replications,) per round over the last fifth
    edges: Floats  # (points + 1,) rounds, spaced evenly in logs
    per_round: Floats  # (replications, points)

    @staticmethod
    def of(runs: list[Floats]) -> Regret:
        """Summaries of the runs' regret by round."""
        n_rounds = len(runs[0])
        edges = np.concatenate([[0], np.geomspace(50, n_rounds, N_POINTS).astype(np.int64)])
        widths = np.diff(edges)
        per_round = np.stack([np.add.reduceat(run, edges[:-1]) / widths for run in runs])
        return Regret(
            np.array([run.sum() for run in runs]),
            np.array([run[-n_rounds // 5 :].mean() for run in runs]),
            edges.astype(np.float64),
            per_round,
        )


def mean_and_error(sample: Floats) -> tuple[Floats, Floats]:
    """Mean over replications and its standard error."""
    return sample.mean(axis=0), sample.std(axis=0, ddof=1) / np.sqrt(len(sample))


def run_demo(n_rounds: int, n_replications: int, on_run: Callable[[str], object] = str) -> dict[str, Regret]:
    """Every learner on the same worlds, a replication each, on all cores; `on_run` hears of each run."""
    results = {}
    with ProcessPoolExecutor() as workers:
        for name in LEARNERS:
            runs = []
            for regret in workers.map(partial(_regret, name, n_rounds), range(n_replications)):
                runs.append(regret)
                on_run(name)
            results[name] = Regret.of(runs)
    return results


def _regret(name: str, n_rounds: int, seed: int) -> Floats:
    return simulate(LEARNERS[name], StepExample(), n_rounds, seed).regret
