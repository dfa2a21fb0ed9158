"""Simulated experiments: when they stop, for what, and how good the final policy is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.core.records import Log
from gyrfalcon.core.validation import check_whole
from gyrfalcon.engine.threads import one_blas_thread
from gyrfalcon.engine.turnover import turn_over
from gyrfalcon.environments.protocol import Drawable
from gyrfalcon.environments.validation import problem_of
from gyrfalcon.experiment.controlled import ControlledLearner, stages_of
from gyrfalcon.experiment.designs import checked_design
from gyrfalcon.experiment.evidence import Evidence
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.learners.rapr import RAPR
from gyrfalcon.simulation.engine import Rounds, Run, chosen_of, chunks, regret_of
from gyrfalcon.simulation.replications import replication_seed


@dataclass(frozen=True, slots=True)
class SimulatedExperiments:
    """What replications of an experiment ended with.

    Parameters
    ----------
    stopped_at : array of int
        Rounds after which a policy was known to be better than the control, (R,); all where none was.
    decision : tuple of str
        What each replication decided for: "policy learned by epoch 3", "always 'b'" or the control's name.
    is_better : array of bool
        Whether the decision is for another policy than the control, (R,).
    gain : array of float
        How much more than the control the chosen policy truly earns a round, (R,), in the problem's units.
    regret : array of float
        Expected regret of all rounds up to the end, (R,), in the problem's units.
    """

    stopped_at: Ints
    decision: tuple[str, ...]
    is_better: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
    gain: Floats
    regret: Floats

    def __repr__(self) -> str:
        return (
            f"SimulatedExperiments({len(self.decision)} replications, {self.is_better.mean():.1%} with a "
            f"better policy than the control, {self.stopped_at.mean():.0f} rounds on average)"
        )


def simulate_experiment(
    environment: Drawable,
    control: object,
    *,
    max_rounds: int,
    learner: Learner | None = None,
    n_replications: int = 1,
    seed: int = 0,
    control_share: float = 0.1,
    level: float = 0.95,
    minimum_effect: float = 0.0,
) -> SimulatedExperiments:
    """Simulate an experiment, in independent replications, until it stops or its rounds are over.

    Parameters
    ----------
    environment
        Environment to draw contexts and rewards from, whose rewards have a range that is kept to.
    control
        Label of an action, or a policy.
    max_rounds
        Rounds after which a replication ends without a decision.
    learner
        How to learn; `RAPR()` by default.
    n_replications
        Number of independent replications.
    seed
        Random seed.
    control_share, level, minimum_effect
        As for `Experiment`.

    Examples
    --------
    >>> from gyrfalcon.environments import LinearEnvironment
    >>> simulate_experiment(LinearEnvironment(noise="bernoulli"), 1, max_rounds=2000, n_replications=4)
    SimulatedExperiments(4 replications, 100.0% with a better policy than the control, 339 rounds on average)
    """
    check_whole("max_rounds", max_rounds)
    check_whole("n_replications", n_replications)
    problem = problem_of(environment)
    design = checked_design(
        problem,
        control,
        control_share=control_share,
        level=level,
        minimum_effect=minimum_effect,
        max_rounds=max_rounds,
    )
    controlled = ControlledLearner(RAPR() if learner is None else learner, design)
    runs = [
        Run(controlled, environment, problem, max_rounds, replication_seed(seed, number))
        for number in range(n_replications)
    ]
    with one_blas_thread():
        ended = [_Replication(run, design.control).ended() for run in runs]
    stopped_at, names, gains, regrets = zip(*ended, strict=True)
    decided = [design.name if name is None else name for name in names]
    return SimulatedExperiments(
        np.array(stopped_at),
        tuple(decided),
        np.array([name is not None for name in names]),
        np.array(gains),
        np.array(regrets),
    )


class _Replication:
    """One replication, whose rows are compared as they come."""

    def __init__(self, run: Run, control: Policy) -> None:
        assert isinstance(run.learner, ControlledLearner)
        self._run, self._control = run, control
        self._evidence = Evidence(run.learner.design, run.problem)
        self._rounds, self._regret = Rounds(run), 0.0

    def ended(self) -> tuple[int, str | None, float, float]:
        """Rounds played, the decision, its true gain and the regret on the way."""
        run = self._run
        epoch = run.learner.start(run.problem)
        while True:
            logs = []
            for first, last in chunks(epoch.start, min(epoch.stop, run.n_rounds)):
                logs.append(self._played(epoch, first, last))
                if self._evidence.better:
                    best = self._evidence.better[0]
                    assert best.refuted_at is not None
                    return best.refuted_at + 1, best.name, self._gain(best.policy), self._regret
            if epoch.stop >= run.n_rounds:
                return run.n_rounds, None, 0.0, self._regret
            epoch = turn_over(run.learner, epoch, Log.concat(logs, run.problem.n_actions), epoch.stop)

    def _played(self, epoch: Epoch, first: int, last: int) -> Log:
        outcomes, problem = self._rounds.outcomes(first, last), self._run.problem
        decisions = self._rounds.decisions(epoch, first, outcomes)
        chosen = chosen_of(decisions.action, problem.n_actions)
        reward = problem.rewards.to_unit(outcomes.rewards.take(chosen))
        log = Log.of(outcomes.contexts, decisions, reward)
        self._evidence.add(stages_of(epoch), log)
        self._regret += float(regret_of(outcomes, chosen, problem).sum())
        return log

    def _gain(self, policy: Policy) -> float:
        """The mean gain of a policy over contexts that were not played."""
        outcomes = self._run.environment.draw(0, 4096, self._run.seed + 1)
        difference = policy.probabilities(outcomes.contexts) - self._control.probabilities(outcomes.contexts)
        gain = float((difference * outcomes.means).sum(axis=1).mean())
        return -gain if self._run.problem.cost else gain
