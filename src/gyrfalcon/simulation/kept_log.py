"""Log of a simulation's decisions: what a live bandit would have logged, in the same format."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from gyrfalcon.bandit.decision_rules import DecisionRules
from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.epochs import Epoch, action_probabilities
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.records import CONTROL, Decisions
from gyrfalcon.environments.protocol import NEVER
from gyrfalcon.frames import phase_column, text_column
from gyrfalcon.logs.lines.folder import LogFolder
from gyrfalcon.logs.parquet.schema import SimulatedRows, Uniforms
from gyrfalcon.logs.parquet.writer import LogWriter
from gyrfalcon.logs.simulated import check_not_there

LogPlace: TypeAlias = str | os.PathLike[str] | LogFolder
"""Where `simulate(keep_log=...)` writes to."""


_MOST_BYTES = 2**25
"""Size of files at most, which are made in memory."""


@contextmanager
def kept_log(
    place: LogPlace | None, problem: Problem, uniforms: Uniforms, replications: range
) -> Iterator[KeptLog | None]:
    """The log of these replications for as long as the block lasts, complete at its end; None without one.

    Where the block fails, the folder has no rows of it, unless the process is killed.

    Raises
    ------
    ValueError
        If the folder has some of the replications already.
    """
    if place is None:
        yield None
        return
    folder = place if isinstance(place, LogFolder) else LogFolder(place)
    about = SimulatedRows(folder.experiment or "simulation", replications.start, replications.stop)
    check_not_there(folder.path, about)
    max_bytes = min(folder.max_bytes, _MOST_BYTES)
    writer = LogWriter(folder.path, max_bytes=max_bytes, uniforms=uniforms, simulated=about)
    rules = DecisionRules(folder.path, folder.classes, synced=False)
    try:
        yield KeptLog(problem, about, writer, rules, folder.keep_seed)
        writer.close()
    except BaseException:
        writer.discard()  # a simulation that failed can be tried again, with the same folder
        raise


@dataclass(frozen=True)
class KeptLog:
    """Writes rounds of replications, and the policies that decided by their content hash.

    Parameters
    ----------
    problem
        The problem of the simulation.
    about
        Name of the experiment and numbers of its replications.
    writer
        Writer of the rows.
    rules
        Content hashes of policies, and their files.
    keeps_seed
        Whether rows have the seed of their replication.
    """

    problem: Problem
    about: SimulatedRows
    writer: LogWriter
    rules: DecisionRules
    keeps_seed: bool

    def replication(self, number: int, seed: int) -> KeptReplication:
        """The log of one replication, the number-th of this simulation."""
        return KeptReplication(self, self.about.first + number, seed)


@dataclass(frozen=True)
class KeptReplication:
    """Writes the rounds of one replication.

    Parameters
    ----------
    log
        The log of all replications.
    number
        Number of the replication.
    seed
        Seed of its random streams.
    """

    log: KeptLog
    number: int
    seed: int

    @cached_property
    def seed_text(self) -> str | None:
        """The seed as a column of the log has it; None if it is to leave it out."""
        return str(self.seed) if self.log.keeps_seed else None

    @cached_property
    def experiment(self) -> str:
        """The experiment that the replication is, as a column of the log has it."""
        return f"{self.log.about.experiment}/{self.number}"

    def add(
        self, epoch: Epoch, contexts: Contexts, decisions: Decisions, reward: Floats, due: Ints | None = None
    ) -> None:
        """Write rounds of an epoch, whose rewards (in the problem's units) are known at the ends of `due`."""
        problem, n = self.log.problem, len(decisions)
        model = self.log.rules.latest_hash(epoch, problem)
        if model is not None:
            self.log.rules.store(model)  # which raises where a disk was full before
        known = decisions.round if due is None else due
        arrives = known < NEVER
        own = decisions.round - epoch.start
        passive = (decisions.component & 1).astype(np.bool_)
        table = DecisionTable(
            actions=problem.actions,
            contexts=contexts,
            action=decisions.action,
            reward=np.where(arrives, reward, np.nan),
            propensity=decisions.propensity,
            distribution=action_probabilities(epoch, decisions.round, contexts),
            features=tuple(problem.features.names),
            action_features=tuple(problem.action_features.names),
            event_id=text_column([f"{self.experiment}/{round_}" for round_ in decisions.round.tolist()]),
            time=decisions.round.astype(np.float64),
            reward_time=np.where(arrives, known + 1.0, np.nan),
            epoch=decisions.epoch,
            round=decisions.round,
            passive=passive,
            model=np.full(n, model, dtype=object),
            experiment=np.full(n, self.experiment, dtype=object),
            reward_range=None if problem.out_of_range == "accept" else problem.reward_range,
            cost=problem.cost,
        )
        further = {
            "epoch_round": own,
            "seed": np.full(n, self.seed_text, dtype=object),
            "phase": phase_column(passive, decisions.component == CONTROL),
        }
        self.log.writer.append(table, further)
