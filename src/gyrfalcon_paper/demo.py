"""Section 1.1 of the paper: a wrong linear model, and who is led astray by it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.reports.figures import Band
from gyrfalcon.simulation.simulate import simulate
from gyrfalcon.simulation.trace import Summary, Trace
from gyrfalcon.sweeps.processes import OnPiece, Task, run_all
from gyrfalcon_paper.lines import heights_of, played_model

LEARNERS: dict[str, Learner] = {
    "LinUCB": LinUCB(),
    "FALCON": Falcon(),
    "Epsilon-FALCON": EpsilonFalcon(),
}
FIRST_EPOCH = 100

N_CONTEXTS = 1000
"""Contexts, spaced evenly, by which it is judged what lines would cost."""

PIECE = 25
"""Replications that one worker plays together: enough to share the work, few enough to see progress."""

IN_PROCESS = 200_000
"""Rounds of each learner up to which starting workers would take longer than playing."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one learner came to: its regret, and the lines that it believes in at the end."""

    cumulative: Summary
    late: Summary  # per round over the last half
    rounds: Floats  # (C,): middles of the stretches
    per_round: Band  # mean over each stretch, two standard errors either way
    beliefs: Floats  # (R, 2, 2): for each replication and action, the line's height at x = 0 and at x = 1

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
            np.concatenate([piece.beliefs for piece in pieces]),
        )

    def greedy_regret(self) -> float:
        """Expected regret a round of acting greedily on the lines at the end, averaged over replications."""
        x = (np.arange(N_CONTEXTS) + 0.5) / N_CONTEXTS
        gaps = self.beliefs[:, 0] - self.beliefs[:, 1]
        higher = gaps[:, :1] * (1.0 - x) + gaps[:, 1:] * x > 0.0
        means = StepExample.means(x)
        return float(np.mean(means.max(axis=1) - np.where(higher, means[:, 0], means[:, 1])))


@dataclass(frozen=True, slots=True)
class Piece:
    """Some replications of one learner."""

    name: str
    trace: Trace
    beliefs: Floats  # (r, 2, 2)


def run_demo(n_rounds: int, n_replications: int, on_piece: OnPiece | None = None) -> dict[str, Outcome]:
    """Every learner in the same environments, on all cores; the same numbers on any machine."""
    tasks = [
        Task(name, partial(play_piece, name, n_rounds, first, min(PIECE, n_replications - first)))
        for name in LEARNERS
        for first in range(0, n_replications, PIECE)
    ]
    jobs = 1 if n_rounds * n_replications <= IN_PROCESS else None
    pieces = run_all(tasks, jobs, on_piece or _unheard)
    return {name: Outcome.of([piece for piece in pieces if piece.name == name]) for name in LEARNERS}


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
    beliefs = np.stack([_believed(epochs[-1].policy) for epochs in trace.epochs])
    # The policies themselves stay here: workers would have to send every one of them.
    return Piece(name, _without_epochs(trace), beliefs)


def _checkpoints(n_rounds: int) -> Ints:
    """Stretches that double, as epochs do: each has its full share of passive rounds, which come last."""
    doubled = FIRST_EPOCH << np.arange(int(np.log2(max(n_rounds / FIRST_EPOCH, 1.0))) + 1)
    return np.union1d(doubled[doubled < n_rounds], [n_rounds - n_rounds // 2, n_rounds])


def _believed(policy: Policy | None) -> Floats:
    """The lines that a policy plays by, (2, 2); nan if it plays by none."""
    model = played_model(policy)
    return np.full((2, 2), np.nan) if model is None else heights_of(model)


def _without_epochs(trace: Trace) -> Trace:
    return Trace(
        trace.checkpoints,
        trace.regret,
        trace.reward,
        trace.propensity,
        trace.least_propensity,
        tuple(() for _ in trace.epochs),
    )


def _unheard(done: int, total: int, name: str) -> None:
    del done, total, name
