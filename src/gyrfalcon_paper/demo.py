"""Section 1.1 of the paper: a misspecified linear model, played by four learners."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.reward_scale import estimated_rewards
from gyrfalcon.reports.figures import Band
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.simulation.trace import Summary, Trace
from gyrfalcon.sweeps.processes import OnPiece, Task, run_all
from gyrfalcon_paper.linear_models import interval_contexts

LEARNERS: dict[str, Learner] = {
    "LinUCB": LinUCB(),
    "FALCON": Falcon(),
    "Epsilon-FALCON": EpsilonFalcon(),
    "AdaptiveFalcon": AdaptiveFalcon(),
}
ADAPTIVE_REPLICATIONS = 6
"""Replications of the default learner: it refits some five hundred times a run, the others eleven times."""
FIRST_EPOCH = 100

GRID = (np.arange(1000) + 0.5) / 1000
"""Contexts, spaced evenly, at which estimated rewards are compared with the truth."""

PIECE = 25
"""Replications that one worker plays together: enough to share the work, few enough to see progress."""

IN_PROCESS = 200_000
"""Rounds of each learner up to which starting workers would take longer than playing."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Results of one learner: its regret, and its estimates of the expected rewards after the last round."""

    cumulative: Summary
    late: Summary  # per round over the last half
    rounds: Floats  # (C,): middles of the stretches
    per_round: Band  # mean over each stretch, two standard errors either way
    estimates: Floats  # (R, 2, G): estimated reward of each action over the grid of contexts

    @staticmethod
    def of(pieces: list[Piece]) -> Outcome:
        """All pieces of a learner, in their order."""
        trace = Trace.concat([piece.trace for piece in pieces])
        stretches = [Summary.of(column) for column in trace.regret_per_round.T]
        return Outcome(
            Summary.of(trace.regret[:, -1]),
            Summary.of(trace.late_regret(0.5)),
            trace.checkpoints - trace.lengths / 2,
            Band.of(
                np.array([summary.mean for summary in stretches]),
                np.array([summary.standard_error for summary in stretches]),
            ),
            np.concatenate([piece.estimates for piece in pieces]),
        )

    def greedy_regret(self) -> float:
        """Expected regret per round of the greedy policy for the final estimates, mean over replications."""
        first = self.estimates[:, 0] > self.estimates[:, 1]
        means = StepExample.means(GRID)
        return float(np.mean(means.max(axis=1) - np.where(first, means[:, 0], means[:, 1])))

    @property
    def n_replications(self) -> int:
        """The number of replications behind these numbers."""
        return len(self.estimates)


@dataclass(frozen=True, slots=True)
class Piece:
    """Some replications of one learner."""

    name: str
    trace: Trace
    estimates: Floats  # (r, 2, G)


def run_demo(n_rounds: int, n_replications: int, on_piece: OnPiece | None = None) -> dict[str, Outcome]:
    """Every learner in the same environments, on all cores; the same numbers on any machine."""
    tasks = [task for name in reversed(LEARNERS) for task in _tasks(name, n_rounds, n_replications)]
    jobs = 1 if n_rounds * n_replications <= IN_PROCESS else None
    pieces = run_all(tasks, jobs, on_piece or _no_progress)
    return {name: Outcome.of([piece for piece in pieces if piece.name == name]) for name in LEARNERS}


def _tasks(name: str, n_rounds: int, n_replications: int) -> list[Task]:
    """Pieces of work for one learner; replications of the default learner are pieces of their own."""
    n, size = n_replications, PIECE
    if name == "AdaptiveFalcon":
        n, size = min(n_replications, ADAPTIVE_REPLICATIONS), 1
    return [
        Task(name, partial(play_piece, name, n_rounds, first, min(size, n - first)))
        for first in range(0, n, size)
    ]


def play_piece(name: str, n_rounds: int, first: int, n_replications: int) -> Piece:
    """Replications first..first+n_replications-1 of a learner."""
    trace = simulate(
        LEARNERS[name],
        StepExample(),
        n_rounds,
        n_replications,
        checkpoints=_checkpoints(n_rounds),
        first_replication=first,
        keep_policies=True,
    )
    estimates = np.stack([_estimated(epochs[-1].policy) for epochs in trace.epochs])
    # The policies themselves stay here: workers would have to send every one of them.
    return Piece(name, _without_epochs(trace), estimates)


def _checkpoints(n_rounds: int) -> Ints:
    """Stretches that double, as epochs do: each has its full share of passive rounds, which come last."""
    doubled = FIRST_EPOCH << np.arange(int(np.log2(max(n_rounds / FIRST_EPOCH, 1.0))) + 1)
    return np.union1d(doubled[doubled < n_rounds], [n_rounds - n_rounds // 2, n_rounds])


def _estimated(policy: Policy | None) -> Floats:
    """Estimated rewards over the grid without any optimism bonus, (2, G); nan if the policy has no model."""
    if not isinstance(policy, KernelPolicy):
        return np.full((2, len(GRID)), np.nan)
    return np.ascontiguousarray(estimated_rewards(policy.scorer, interval_contexts(GRID)).T)


def _without_epochs(trace: Trace) -> Trace:
    return Trace(
        trace.checkpoints,
        trace.regret,
        trace.reward,
        trace.propensity,
        trace.least_propensity,
        tuple(() for _ in trace.epochs),
    )


def _no_progress(done: int, total: int, name: str) -> None:
    del done, total, name
