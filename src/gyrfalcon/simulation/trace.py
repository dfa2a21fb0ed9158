"""Traces of simulations: sums at chosen rounds, never the rounds themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.core.policies.kernel_policy import Policy
from gyrfalcon.core.settings import shapes_repr
from gyrfalcon.core.validation import check_whole
from gyrfalcon.frames import Column, Tabular


@dataclass(frozen=True, slots=True)
class Summary:
    """Mean over replications and its standard error.

    Attributes
    ----------
    mean : float
        Mean over replications.
    standard_error : float
        Standard error of the mean; nan for a single replication.

    Examples
    --------
    >>> Summary.of(np.array([1.0, 3.0]))
    Summary(mean=2.0, standard_error=1.0)
    """

    mean: float
    standard_error: float

    @staticmethod
    def of(sample: Floats) -> Summary:
        """The summary of one number per replication."""
        if len(sample) == 0:
            raise ValueError("the sample is empty; give one number per replication.")
        if len(sample) < 2:
            return Summary(float(sample.mean()), float("nan"))
        return Summary(float(sample.mean()), float(sample.std(ddof=1) / np.sqrt(len(sample))))


Checkpoints: TypeAlias = Literal["every"] | int | Sequence[int] | Ints | None
_N_CHECKPOINTS = 100
LATE_SHARE = 0.2
"""Share of the rounds that count as late, by default."""
SUMS = ("regret", "regret_per_round", "reward", "reward_per_round", "propensity", "least_propensity")
"""What a trace has of each replication and checkpoint."""
MOST_ROUNDS = 2**53
"""Above these, a round has no float of its own."""


@dataclass(frozen=True, slots=True)
class PlayedEpoch:
    """An epoch that played a checkpoint's round, and how its policy was fitted."""

    index: int
    start: int
    stop: int
    report: FitReport | None
    policy: Policy | None = None  # only where policies are kept

    __repr__ = shapes_repr

    @staticmethod
    def of(epoch: Epoch, keep_policy: bool) -> PlayedEpoch:
        """The record of an epoch, without the rows behind it."""
        policy = epoch.policy if keep_policy else None
        return PlayedEpoch(epoch.index, epoch.start, epoch.stop, epoch.report, policy)


@dataclass(frozen=True, slots=True)
class Trace(Tabular):
    """Regret, rewards and propensities of R replications at C checkpoints.

    Rewards and regret are in the problem's own units. A checkpoint is a number of rounds played, and the last
    one is all of them. The stretch of a checkpoint are the rounds since the one before.
    `to_pandas`, `to_polars` and `to_arrow` give a table with a row for each replication and checkpoint.

    Attributes
    ----------
    checkpoints : array of int
        (C,) numbers of rounds, increasing.
    regret : array of float
        (R, C) cumulative expected regret; nan in an environment without known expected rewards.
    reward : array of float
        (R, C) cumulative reward, as the environment gave it: a learner may see it clipped.
    propensity : array of float
        (R, C) propensity of the action played in the checkpoint's own round.
    least_propensity : array of float
        (R, C) smallest propensity of the stretch.
    epochs : tuple[tuple[PlayedEpoch, ...], ...]
        For each replication the epochs that played a checkpoint's round, in order.

    Examples
    --------
    >>> trace = Trace(np.array([5]), np.ones((2, 1)), *[np.zeros((2, 1))] * 3, ((), ()))
    >>> trace.to_pandas()["regret_per_round"].tolist()
    [0.2, 0.2]
    """

    checkpoints: Ints
    regret: Floats
    reward: Floats
    propensity: Floats
    least_propensity: Floats
    epochs: tuple[tuple[PlayedEpoch, ...], ...]

    def __repr__(self) -> str:
        runs = f"{self.n_replications} replication{'' if self.n_replications == 1 else 's'}"
        last = f"regret {self.regret[:, -1].mean():.4g}, reward {self.reward[:, -1].mean():.4g}"
        return f"Trace({runs} of {self.n_rounds} rounds, {len(self.checkpoints)} checkpoints, mean {last})"

    def columns(self) -> Mapping[str, Column]:
        """Columns by name, with a row for each replication and checkpoint: what tables are made of."""
        return {
            "replication": np.repeat(np.arange(self.n_replications), len(self.checkpoints)),
            "round": np.tile(self.checkpoints, self.n_replications),
            **{name: getattr(self, name).ravel() for name in SUMS},
        }

    @property
    def n_rounds(self) -> int:
        """Number of rounds of each replication."""
        return int(self.checkpoints[-1])

    @property
    def n_replications(self) -> int:
        """Number of replications, R."""
        return len(self.regret)

    @property
    def lengths(self) -> Ints:
        """(C,): number of rounds of each stretch."""
        return np.diff(self.checkpoints, prepend=0)

    @property
    def regret_per_round(self) -> Floats:
        """(R, C): expected regret, the mean over each stretch."""
        return np.diff(self.regret, prepend=0.0, axis=1) / self.lengths

    @property
    def reward_per_round(self) -> Floats:
        """(R, C): reward, the mean over each stretch."""
        return np.diff(self.reward, prepend=0.0, axis=1) / self.lengths

    def late_regret(self, share: float = LATE_SHARE) -> Floats:
        """(R,): expected regret a round over the last share of the rounds, as near as checkpoints allow.

        >>> trace = Trace(np.array([80, 100]), np.array([[8.0, 9.0]]), *[np.zeros((1, 2))] * 3, ((),))
        >>> trace.late_regret().tolist()
        [0.05]
        """
        return _late(self.regret, self.checkpoints, share)

    def late_reward(self, share: float = LATE_SHARE) -> Floats:
        """(R,): reward a round over the last share of the rounds, as near as checkpoints allow."""
        return _late(self.reward, self.checkpoints, share)

    @staticmethod
    def concat(traces: Sequence[Trace]) -> Trace:
        """All replications of traces with the same checkpoints, in the order given."""
        if not traces:
            raise ValueError("there are no traces to put together; give at least one.")
        first = traces[0]
        if any(not np.array_equal(trace.checkpoints, first.checkpoints) for trace in traces):
            raise ValueError("the traces have different checkpoints; simulate them with the same ones.")
        return Trace(
            first.checkpoints,
            np.concatenate([trace.regret for trace in traces]),
            np.concatenate([trace.reward for trace in traces]),
            np.concatenate([trace.propensity for trace in traces]),
            np.concatenate([trace.least_propensity for trace in traces]),
            tuple(played for trace in traces for played in trace.epochs),
        )


def _late(sums: Floats, checkpoints: Ints, share: float) -> Floats:
    start = late_start(checkpoints, share)
    # No checkpoint is 0: the sums before the first round are.
    before = sums[:, checkpoints == start].sum(axis=1)
    late: Floats = (sums[:, -1] - before) / (checkpoints[-1] - start)
    return late


def late_start(checkpoints: Ints, share: float = LATE_SHARE) -> int:
    """How many rounds come before the last share of them, as near as checkpoints allow.

    >>> late_start(np.array([10, 75, 100]))
    75
    """
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share is {share}; give a number above 0 and up to 1.")
    rounds = np.concatenate([[0], checkpoints[:-1]])
    return int(rounds[np.abs(rounds - (1.0 - share) * checkpoints[-1]).argmin()])


def checkpoint_rounds(checkpoints: Checkpoints, n_rounds: int) -> Ints:
    """The checkpoints as increasing numbers of rounds that end with n_rounds.

    None is about a hundred, spaced evenly in logs; a number is about that many; "every" is each round.

    >>> checkpoint_rounds([10, 50], 100).tolist(), checkpoint_rounds(3, 100).tolist()
    ([10, 50, 100], [1, 10, 100])
    """
    check_whole("n_rounds", n_rounds, below=MOST_ROUNDS)
    if isinstance(checkpoints, str) and checkpoints == "every":
        return np.arange(1, n_rounds + 1)
    if isinstance(checkpoints, str | bool):
        raise ValueError(f"checkpoints is {checkpoints!r}; give 'every', a number, or rounds.")  # noqa: TRY004 - as all settings
    if checkpoints is None or isinstance(checkpoints, int | np.integer):
        return _spaced(_N_CHECKPOINTS if checkpoints is None else int(checkpoints), n_rounds)
    rounds = np.asarray(checkpoints)
    if rounds.ndim != 1 or (rounds.size and rounds.dtype.kind not in "iu"):
        raise ValueError(f"checkpoints are {checkpoints!r}; give whole numbers of rounds.")
    if rounds.size and not 1 <= rounds.min() <= rounds.max() <= n_rounds:
        bad = rounds.min() if rounds.min() < 1 else rounds.max()
        raise ValueError(f"a checkpoint is {bad}; give numbers of rounds from 1 to n_rounds = {n_rounds}.")
    return np.union1d(rounds.astype(np.int64), [n_rounds])


def _spaced(count: int, n_rounds: int) -> Ints:
    if count < 1:
        raise ValueError(f"checkpoints is {count}; give at least 1.")
    if count == 1:
        return np.array([n_rounds])
    return np.unique(np.geomspace(1, n_rounds, min(count, n_rounds)).round().astype(np.int64))


class Recorder:
    """Sums over the stretches between checkpoints, filled as rounds are played."""

    def __init__(self, checkpoints: Ints, n_replications: int, keep_policies: bool) -> None:
        self.checkpoints = checkpoints
        self.keeps_policies = keep_policies
        shape = n_replications, len(checkpoints)
        self._regret, self._reward = np.zeros(shape), np.zeros(shape)
        self._propensity, self._least = np.zeros(shape), np.full(shape, np.inf)
        self._epochs: list[list[PlayedEpoch]] = [[] for _ in range(n_replications)]

    def keeps(self, start: int, stop: int) -> bool:
        """Whether a checkpoint's round is among the rounds start..stop-1."""
        first, last = self._within(start, stop)
        return last > first

    def epoch(self, replication: int, epoch: Epoch) -> None:
        """Record the epoch, if it plays a checkpoint's round."""
        if self.keeps(epoch.start, epoch.stop):
            self.played(replication, PlayedEpoch.of(epoch, self.keeps_policies))

    def played(self, replication: int, epoch: PlayedEpoch) -> None:
        """Record an epoch that plays a checkpoint's round."""
        self._epochs[replication].append(epoch)

    def forget(self, replications: slice) -> None:
        """Delete all that was recorded of these replications."""
        for sums in (self._regret, self._reward, self._propensity):
            sums[replications] = 0.0
        self._least[replications] = np.inf
        for played in self._epochs[replications]:
            played.clear()

    def rounds(
        self, replications: slice, start: int, regret: Floats, reward: Floats, propensity: Floats
    ) -> None:
        """Add rounds from `start` on, (r, n) each."""
        stop = start + regret.shape[-1]
        first, last = self._within(start, stop)
        ends = self.checkpoints[first:last] - start
        cuts = np.concatenate([[0], ends[ends < stop - start]])
        stretches = replications, slice(first, first + len(cuts))
        self._regret[stretches] += np.add.reduceat(regret, cuts, axis=-1)
        self._reward[stretches] += np.add.reduceat(reward, cuts, axis=-1)
        least = np.minimum.reduceat(propensity, cuts, axis=-1)
        self._least[stretches] = np.minimum(self._least[stretches], least)
        self._propensity[replications, first:last] = propensity[..., ends - 1]

    def trace(self) -> Trace:
        """The trace of all that was recorded."""
        return Trace(
            self.checkpoints,
            np.cumsum(self._regret, axis=1),
            np.cumsum(self._reward, axis=1),
            self._propensity,
            self._least,
            tuple(tuple(played) for played in self._epochs),
        )

    def _within(self, start: int, stop: int) -> tuple[int, int]:
        """Which checkpoints are reached by the rounds start..stop-1."""
        first, last = self.checkpoints.searchsorted([start, stop], side="right")
        return int(first), int(last)
