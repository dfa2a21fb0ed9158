"""Section 1.1 of the paper: a wrong linear model, and who is led astray by it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

import numpy as np

from gyrfalcon.core.types import Floats
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.experiments.simulate import simulate
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.learner import Learner
from gyrfalcon.learners.linucb import LinUCB
from gyrfalcon.report.figures import Band

LEARNERS: dict[str, Learner] = {
    "LinUCB": LinUCB(),
    "FALCON": Falcon(),
    "Epsilon-FALCON": EpsilonFalcon(),
}
N_POINTS = 40
UNIFORM_REGRET = 0.25


@dataclass(frozen=True, slots=True)
class Summary:
    """A mean over replications and its standard error."""

    mean: float
    standard_error: float

    @staticmethod
    def of(sample: Floats) -> Summary:
        """Of one number per replication."""
        return Summary(float(sample.mean()), float(sample.std(ddof=1) / np.sqrt(len(sample))))


@dataclass(frozen=True, slots=True)
class Regret:
    """The regret of one learner over replications: cumulative, late, and per round over time."""

    cumulative: Summary
    late: Summary  # per round over the last fifth
    rounds: Floats  # middles of stretches of rounds, spaced evenly in logs
    per_round: Band  # mean over each stretch, two standard errors either way

    @staticmethod
    def of(runs: list[Floats]) -> Regret:
        """Summaries of the runs' regret by round."""
        n_rounds = len(runs[0])
        edges = np.concatenate([[0], np.geomspace(50, n_rounds, N_POINTS).astype(np.int64)])
        per_round = np.stack([np.add.reduceat(run, edges[:-1]) / np.diff(edges) for run in runs])
        mean, error = per_round.mean(axis=0), per_round.std(axis=0, ddof=1) / np.sqrt(len(runs))
        return Regret(
            Summary.of(np.array([run.sum() for run in runs])),
            Summary.of(np.array([run[-n_rounds // 5 :].mean() for run in runs])),
            (edges[1:] + edges[:-1]) / 2,
            Band(mean, mean - 2 * error, mean + 2 * error),
        )


def run_demo(n_rounds: int, n_replications: int, on_run: Callable[[str], object] = str) -> dict[str, Regret]:
    """Every learner on the same worlds, a replication each, on all cores; `on_run` hears of each run."""
    results = {}
    # A fork would copy the progress bar's thread in the middle of whatever it does.
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as workers:
        for name in LEARNERS:
            runs = []
            for regret in workers.map(partial(_regret, name, n_rounds), range(n_replications)):
                runs.append(regret)
                on_run(name)
            results[name] = Regret.of(runs)
    return results


def _regret(name: str, n_rounds: int, seed: int) -> Floats:
    return simulate(LEARNERS[name], StepExample(), n_rounds, seed).regret
