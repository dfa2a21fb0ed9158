"""Logs read and written by columns, against a bare scan of the same Parquet files by PyArrow."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache, partial
from pathlib import Path

import numpy as np

from benchmarks.rows import Quantity, Race, Row, Run, peer, require
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.logs import DecisionTable, LogReader, LogWriter

N_ROWS = 1_000_000
BATCH = 2**16
FEW = ("reward", "action", "propensity")
MANY = ("contexts", *FEW, "distribution")


def table(n: int, seed: int = 0) -> DecisionTable:
    """Decisions with ten features and the probabilities of five actions."""
    rng = np.random.default_rng(seed)
    shares, action = rng.dirichlet(np.ones(5), size=n), rng.integers(5, size=n)
    return DecisionTable(
        actions=tuple("abcde"),
        contexts=Contexts(rng.normal(size=(n, 10))),
        action=action,
        reward=rng.integers(2, size=n).astype(np.float64),
        propensity=shares[np.arange(n), action],
        distribution=shares,
        features=tuple(f"x{place}" for place in range(10)),
        time=np.arange(float(n)),
        round=np.arange(n),
    )


@cache
def folder() -> Path:
    """A log of N_ROWS decisions, removed at the end."""
    path = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    written(path, table(N_ROWS))
    return path


def written(path: Path, rows: DecisionTable) -> None:
    with LogWriter(path) as writer:
        writer.append(rows)


def read(columns: tuple[str, ...]) -> int:
    return sum(len(one) for one in LogReader(folder()).tables(columns))


def scanned(columns: tuple[str, ...]) -> int:
    import pyarrow.parquet

    n_rows = 0
    for path in sorted(folder().glob("*.parquet")):
        file = pyarrow.parquet.ParquetFile(path)
        chosen = [name for name in file.schema_arrow.names if name.split(".")[0] in columns]
        n_rows += sum(batch.num_rows for batch in file.iter_batches(BATCH, columns=chosen))
    return n_rows


def against_a_scan(columns: tuple[str, ...]) -> Race:
    with peer("pyarrow"):
        physical = tuple("context" if name == "contexts" else name for name in columns)
        require(read(columns) == scanned(physical) == N_ROWS, "the two sides read other rows")
    size = sum(path.stat().st_size for path in folder().glob("*.parquet")) / 1e6
    return Race(partial(read, columns), partial(scanned, physical), note=f"{size:.0f} MB of files")


def writing() -> Run:
    with peer("pyarrow"):
        rows = table(BATCH)
        folder()
    path = Path(tempfile.mkdtemp(dir=folder().parent))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Run(partial(written, path, rows), BATCH)


ROWS = [
    Row(
        key="log columns: reward, action, propensity",
        ours="LogReader: reward, action, propensity, 1e6 rows",
        theirs="a bare scan by PyArrow",
        prepare=partial(against_a_scan, FEW),
        limit=1 / 0.7,
    ),
    Row(
        key="log columns: contexts and distributions",
        ours="LogReader: these, 10 features, 5 probabilities",
        theirs="a bare scan by PyArrow",
        prepare=partial(against_a_scan, MANY),
        limit=1 / 0.5,
    ),
    Row(
        key="log columns: writing",
        ours="LogWriter: 65,536 rows to the disk",
        theirs="",
        prepare=writing,
        quantity=Quantity.RATE,
    ),
]
