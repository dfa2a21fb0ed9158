"""Estimators against bare NumPy, the Open Bandit Pipeline, and a bare scan of a log's Parquet files."""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from benchmarks.rows import NotRun, Quantity, Race, Row, peer, require
from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation import doubly_robust, estimate_in_batches, inverse_propensity

N_ROWS, N_ACTIONS = 100_000, 10
N_LOGGED, N_FEATURES = 1_000_000, 5
BATCH_ROWS = 2**16


@dataclass(frozen=True, slots=True)
class Arrays:
    """A log in memory, with a target and predictions."""

    rewards: Floats
    actions: Ints
    propensities: Floats
    target: Floats
    predictions: Floats

    @property
    def log(self) -> tuple[Floats, Ints, Floats, Floats]:
        return self.rewards, self.actions, self.propensities, self.target

    def values(self) -> Floats:
        return np.asarray(self.logged(self.target) / self.propensities * self.rewards)

    def corrected(self) -> Floats:
        weights = self.logged(self.target) / self.propensities
        expected = (self.target * self.predictions).sum(axis=1)
        return np.asarray(expected + weights * (self.rewards - self.logged(self.predictions)))

    def logged(self, table: Floats) -> Floats:
        return np.asarray(table[np.arange(len(self.actions)), self.actions])


@cache
def arrays(n: int, n_actions: int = N_ACTIONS) -> Arrays:
    rng = np.random.default_rng(0)
    return Arrays(
        rng.random(n),
        rng.integers(0, n_actions, n),
        rng.uniform(0.05, 1.0, n),
        rng.dirichlet(np.ones(n_actions), n),
        rng.random((n, n_actions)),
    )


def value_and_error(contributions: Floats) -> tuple[float, float]:
    return float(contributions.mean()), float(contributions.std()) / len(contributions) ** 0.5


def against_numpy(estimator: str, n: int) -> Race:
    log = arrays(n)
    bare = log.values if estimator == "ips" else log.corrected
    ours = _ours(log, estimator)
    difference = abs(ours() - bare().mean())
    require(difference < 1e-12, f"values differ by {difference:.1e}")
    return Race(ours, lambda: value_and_error(bare()))


def against_obp(estimator: str, n: int) -> Race:
    log = arrays(n)
    with peer("obp"):
        theirs = _of_obp(log, estimator)
        value = theirs()
    ours = _ours(log, estimator)
    require(abs(ours() - value) < 1e-10, f"values are {ours()} and {value}")
    return Race(ours, theirs)


def _ours(log: Arrays, estimator: str) -> Callable[[], float]:
    if estimator == "ips":
        return lambda: inverse_propensity(*log.log).value
    return lambda: doubly_robust(*log.log, log.predictions).value


def _of_obp(log: Arrays, estimator: str) -> Callable[[], float]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from obp.ope import DoublyRobust, InverseProbabilityWeighting
    arguments = {
        "reward": log.rewards,
        "action": log.actions,
        "pscore": log.propensities,
        "action_dist": log.target[:, :, None],
        "position": np.zeros(len(log.actions), dtype=int),
    }
    if estimator == "ips":
        return partial(InverseProbabilityWeighting().estimate_policy_value, **arguments)
    model = {"estimated_rewards_by_reg_model": log.predictions[:, :, None]}
    return partial(DoublyRobust().estimate_policy_value, **arguments, **model)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """A log of a million rows as Parquet files, which the interpreter removes when it ends."""
    from gyrfalcon.logs import LogWriter

    folder, rng = tempfile.TemporaryDirectory(), np.random.default_rng(0)
    with LogWriter(folder.name) as writer:
        for _ in range(0, N_LOGGED, N_ROWS):
            action = rng.integers(0, N_ACTIONS, N_ROWS)
            table = DecisionTable(
                actions=tuple(f"item {number}" for number in range(N_ACTIONS)),
                contexts=Contexts(rng.normal(size=(N_ROWS, N_FEATURES))),
                action=action,
                reward=(rng.random(N_ROWS) < 0.1).astype(float),
                propensity=rng.uniform(0.05, 1.0, N_ROWS),
                features=tuple(f"x{number}" for number in range(N_FEATURES)),
            )
            writer.append(table)
    return folder


def from_parquet(estimator: str) -> Race:
    """Ours with a target of fixed shares and a linear model; theirs reads the columns as NumPy arrays.

    The note has the most memory that the process has had, which includes what was measured before.
    """
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise NotRun(str(error)) from error
    from gyrfalcon.logs import LogReader

    pa.set_cpu_count(1)
    folder = Path(_folder().name)
    columns = ["action", "propensity", "reward"]
    if estimator == "dr":
        columns += [f"context.x{number}" for number in range(N_FEATURES)]
    shares = np.full(N_ACTIONS, 1.0 / N_ACTIONS)
    coefficients = np.random.default_rng(1).normal(size=(N_FEATURES, N_ACTIONS))
    reader = LogReader(folder)

    def ours() -> float:
        return estimate_in_batches(
            reader.tables(columns, BATCH_ROWS),
            lambda table: np.broadcast_to(shares, (len(table), N_ACTIONS)),
            estimator,
            predictions=(lambda table: table.contexts.shared @ coefficients) if estimator == "dr" else None,
        ).value

    def theirs() -> int:
        n = 0
        for path in sorted(folder.glob("*.parquet")):
            batches = ParquetFile(path).iter_batches(BATCH_ROWS, columns=columns, use_threads=False)
            for batch in batches:
                n += batch.num_rows
                for column in batch.columns:
                    (getattr(column, "indices", column)).to_numpy()
        return n

    require(theirs() == N_LOGGED, f"the scan read {theirs()} of {N_LOGGED} rows")
    ours()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Race(
        ours,
        theirs,
        n_ours=N_LOGGED,
        n_theirs=N_LOGGED,
        note=f"{memory:.0f} MB so far",
    )


ROWS = [
    Row(
        key="evaluation: IPS / NumPy",
        ours=f"inverse_propensity, checked, {N_ROWS:,} rows, {N_ACTIONS} actions",
        theirs="mean and standard error of w r in NumPy",
        prepare=partial(against_numpy, "ips", N_ROWS),
        limit=2.0,
    ),
    Row(
        key="evaluation: DR / NumPy",
        ours=f"doubly_robust, checked, {N_ROWS:,} rows, {N_ACTIONS} actions",
        theirs="mean and standard error of doubly robust scores in NumPy",
        prepare=partial(against_numpy, "dr", N_ROWS),
    ),
    Row(
        key="evaluation: IPS from Parquet / scan",
        ours=f"estimate_in_batches from LogReader, IPS, {N_LOGGED:,} rows, a row",
        theirs="the same columns read by PyArrow into NumPy, a row",
        prepare=partial(from_parquet, "ips"),
        limit=1.0 / 0.7,
    ),
    Row(
        key="evaluation: DR from Parquet / scan",
        ours=f"estimate_in_batches from LogReader, DR of a linear model, {N_FEATURES} features, a row",
        theirs="the same columns read by PyArrow into NumPy, a row",
        prepare=partial(from_parquet, "dr"),
        limit=2.0,
    ),
]

OBP_ROWS = [
    Row(
        key="evaluation: IPS / OBP",
        ours=f"inverse_propensity, {N_ROWS:,} rows, {N_ACTIONS} actions",
        theirs="obp InverseProbabilityWeighting, value alone",
        prepare=partial(against_obp, "ips", N_ROWS),
        limit=3.0,
        quantity=Quantity.TIMES_FASTER,
    ),
    Row(
        key="evaluation: DR / OBP",
        ours=f"doubly_robust, {N_ROWS:,} rows, {N_ACTIONS} actions",
        theirs="obp DoublyRobust, value alone",
        prepare=partial(against_obp, "dr", N_ROWS),
        limit=8.0,
        quantity=Quantity.TIMES_FASTER,
    ),
]
"""For an environment of its own, with the versions of libraries that obp takes: `make agreement`."""
