"""Simulation of a learner in an environment: settings and seed determine the trace, on any machine."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.validation import check_whole
from gyrfalcon.engine.threads import one_blas_thread
from gyrfalcon.environments.data.logged_replay import LoggedReplay
from gyrfalcon.environments.protocol import Drawable
from gyrfalcon.environments.validation import problem_of
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.simulation.batched import NotBatchableError, how_many_together, play_together
from gyrfalcon.simulation.engine import OnRounds, Run, play
from gyrfalcon.simulation.kept_log import KeptLog, LogPlace, kept_log
from gyrfalcon.simulation.logged import replay
from gyrfalcon.simulation.trace import MOST_ROUNDS, Checkpoints, Recorder, Trace, checkpoint_rounds


def simulate(
    learner: Learner,
    environment: Drawable | LoggedReplay,
    n_rounds: int,
    n_replications: int = 1,
    seed: int = 0,
    *,
    checkpoints: Checkpoints = None,
    first_replication: int = 0,
    keep_policies: bool = False,
    keep_log: LogPlace | None = None,
    on_rounds: OnRounds | None = None,
) -> Trace:
    """Simulate a learner in an environment or on a log, in independent replications.

    An environment's random streams depend on the seed and the replication alone, so that all learners see the
    same contexts and rewards (common random numbers); a learner's own stream is independent of them.

    On a log, rounds are the rows that count: see `LoggedReplay`. All replications replay the same log, so
    that their spread does not show what another log would have given.

    Parameters
    ----------
    learner
        Learner with its settings, such as `LinUCB()`.
    environment
        Environment to draw contexts and rewards from, or logged decisions to replay.
    n_rounds
        Number of rounds of each replication.
    n_replications
        Number of independent replications.
    seed
        Random seed.
    checkpoints
        Rounds at which to record: None for about a hundred evenly spaced on a logarithmic scale, a number for
        about that many, "every", or the rounds themselves.
    first_replication
        Number of the first replication, so that replications can be computed anywhere and in any parts.
    keep_policies
        Whether the epochs of the trace keep their policies, and with them their models.
    keep_log
        Folder for a log of every decision with its distribution and reward, and of the policies that
        decided: see `read_log` and `LogReader`. `LogFolder` has settings for it. Time counts rounds, and the
        experiment of a row is "simulation/3" in replication 3. Replications are then computed one after the
        other; the trace is the same.
    on_rounds
        Progress callback, called with the number of rounds that were just played.

    Returns
    -------
    Trace
        Regret, rewards and propensities at the checkpoints, a row for each replication.

    Raises
    ------
    ValueError
        If a setting is not valid, `keep_log` has the replications already, the log has too few rows for
        `n_rounds`, a learner of your own gives probabilities that are none, or an environment of your own
        gives other rows when rounds are cut elsewhere.

    Examples
    --------
    >>> from gyrfalcon.environments.paper import StepExample
    >>> from gyrfalcon.learners.baselines.uniform import Uniform
    >>> trace = simulate(Uniform(), StepExample(), 1000, n_replications=3, checkpoints=[500])
    >>> trace.regret.shape, trace.checkpoints.tolist()
    ((3, 2), [500, 1000])
    """
    _check_parts(learner, environment)
    check_whole("n_rounds", n_rounds, below=MOST_ROUNDS)
    check_whole("n_replications", n_replications, below=MOST_ROUNDS)
    check_whole("seed", seed, least=0)
    check_whole("first_replication", first_replication, least=0)
    recorder = Recorder(checkpoint_rounds(checkpoints, n_rounds), n_replications, keep_policies)
    numbers = range(first_replication, first_replication + n_replications)
    seeds, report = [replication_seed(seed, number) for number in numbers], on_rounds or _no_progress
    with one_blas_thread():  # outcomes and sums of rows are products of matrices too, not only fits
        if isinstance(environment, LoggedReplay):
            with kept_log(keep_log, environment.problem, "replay", numbers) as kept:
                for place, own_seed in enumerate(seeds):
                    log = None if kept is None else kept.replication(place, own_seed)
                    replay(learner, environment, n_rounds, own_seed, place, recorder, report, log)
            return recorder.trace()
        problem = problem_of(environment)
        runs = [
            Run(learner, environment, problem, n_rounds, own_seed, checks_draws=place == 0)
            for place, own_seed in enumerate(seeds)
        ]
        with kept_log(keep_log, problem, "simulation", numbers) as kept:
            _play_all(runs, recorder, report, kept)
        return recorder.trace()


def _play_all(runs: list[Run], recorder: Recorder, on_rounds: OnRounds, kept: KeptLog | None) -> None:
    """Play the replications, as many together as can be: each has the same trace either way."""
    size = how_many_together(runs[0]) if kept is None else 1
    for first in range(0, len(runs), size):
        group = runs[first : first + size]
        progress = ProgressOnce(on_rounds)
        if len(group) > 1:
            try:
                play_together(group, first, recorder, progress)
                continue
            except NotBatchableError:
                recorder.forget(slice(first, first + len(group)))
                progress.restart()
        for number, run in enumerate(group, start=first):
            log = None if kept is None else kept.replication(number, run.seed)
            play(run, number, recorder, progress, log)


class ProgressOnce:
    """Progress callback that counts rounds once, though some may have to be played again."""

    def __init__(self, on_rounds: OnRounds) -> None:
        self._on_rounds = on_rounds
        self._n_reported = self._n_played = 0

    def __call__(self, n_rounds: int) -> None:
        """Report n more rounds, if they are new."""
        self._n_played += n_rounds
        if self._n_played > self._n_reported:
            self._on_rounds(self._n_played - self._n_reported)
            self._n_reported = self._n_played

    def restart(self) -> None:
        """Count from the first round again, because all rounds are played once more."""
        self._n_played = 0


def replication_seed(seed: int, replication: int) -> int:
    """The seed of a replication's streams; replication 0 has the seed itself.

    >>> replication_seed(7, 0), replication_seed(7, 1) == replication_seed(8, 0)
    (7, False)
    """
    if replication == 0:
        return seed
    return int(np.random.SeedSequence([seed, replication]).generate_state(1, np.uint64)[0])


def _check_parts(learner: object, environment: object) -> None:
    if isinstance(learner, type) or not hasattr(learner, "next_epoch"):
        raise ValueError(f"learner is {learner!r}; give a learner with its settings, such as LinUCB().")
    playable = isinstance(environment, LoggedReplay) or hasattr(environment, "draw")
    if isinstance(environment, type) or not playable:
        raise ValueError(
            f"environment is {environment!r}; give an environment that can be drawn, as StepExample()."
        )


def _no_progress(n_rounds: int) -> None:
    del n_rounds
