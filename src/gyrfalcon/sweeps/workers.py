"""Who computes the cells of a sweep: this process, several on this machine, or a Dask cluster.

Results are the same bytes whoever computes them. A worker hands them back and stores nothing: the machines
of a cluster need not share a disk, and there is one place at which a full disk is met.
"""

from __future__ import annotations

import secrets
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from gyrfalcon import __version__
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.simulation.trace import Trace
from gyrfalcon.sweeps.errors import WorkersError
from gyrfalcon.sweeps.grid import Cell
from gyrfalcon.sweeps.processes import WorkerKilledError, completed, one_thread
from gyrfalcon.sweeps.store import encoded

PATIENCE = 60
"""Seconds to wait for a cluster's first worker."""
ANSWER = 10
"""Seconds to wait for a scheduler's first answer."""
_LEAST_AHEAD = 8
"""Cells that a cluster has been sent at least, so that a worker that joins finds work."""


@dataclass(frozen=True)
class Outcome:
    """The file of a cell, by the cell's place in the list; or a sentence on why there is none."""

    number: int
    content: bytes = b""
    failure: str = ""


Outcomes = Generator[Outcome, None, None]


def outcomes(cells: Sequence[Cell], jobs: int, cluster: str | None) -> Outcomes:
    """What becomes of the cells, each as soon as it is known; close it to stop all work at once."""
    if not cells:
        return
    if cluster is not None:
        yield from _on_cluster(cells, cluster)
    else:
        yield from _on_this_machine(cells, jobs)


def computed(number: int, cell: Cell, version: str) -> Outcome:
    """The results of a cell; whatever goes wrong becomes a sentence that names it."""
    if version != __version__:
        sentence = f"the worker has gyrfalcon {__version__}, and the sweep {version}; install the same."
        return Outcome(number, failure=f"{cell}: {sentence}")
    try:
        with one_thread():  # a cluster's workers come here directly
            return Outcome(number, encoded(cell, _played(cell)))
    except Exception as error:  # of a learner or environment that may be anybody's
        return Outcome(number, failure=f"{cell}: {_sentence(error)}")


def _played(cell: Cell) -> Trace:
    return simulate(
        cell.learner.value,
        cell.environment.value,
        cell.n_rounds,
        cell.n_replications,
        cell.seed,
        checkpoints=cell.checkpoints,
        first_replication=cell.first_replication,
    )


def _on_this_machine(cells: Sequence[Cell], jobs: int) -> Outcomes:
    work = (partial(computed, number, cell, __version__) for number, cell in enumerate(cells))
    with closing(completed(work, jobs)) as running:
        try:
            for _, outcome in running:
                yield outcome
        except WorkerKilledError as error:
            raise WorkersError(str(error)) from error


def _on_cluster(cells: Sequence[Cell], address: str) -> Outcomes:
    # Straight through the client, not joblib's Dask backend: every future is known by its cell, so that a
    # worker's death is a sentence about that cell, and only so many cells are sent ahead as are needed.
    from distributed import as_completed

    with _client(address) as client:
        todo = enumerate(cells)
        sent: dict[Any, int] = {}
        running = as_completed(loop=client.loop)  # type: ignore[no-untyped-call]
        try:
            _send(client, todo, sent, running)
            _wait_for_worker(client, address)
            for future in running:
                yield _outcome(future, sent.pop(future), cells)
                _send(client, todo, sent, running)
        except (OSError, CancelledError) as error:
            raise WorkersError(f"the Dask scheduler at {address} went away; start it again.") from error


def _client(address: str) -> Any:
    from distributed import Client

    _check_address(address)
    try:
        return Client(address, set_as_default=False, timeout=ANSWER)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:  # a timeout is an OSError
        raise WorkersError(
            f"no Dask scheduler answers at {address}; start one with `dask scheduler`, and give its address, "
            "such as tcp://127.0.0.1:8786."
        ) from error


def _check_address(address: str) -> None:
    """Refuse what Dask could not connect to: its client would be left half made, and never end."""
    from distributed.comm.addressing import parse_address, parse_host_port
    from distributed.comm.registry import get_backend

    try:
        scheme, location = parse_address(address)
        get_backend(scheme)
        if scheme != "inproc":
            parse_host_port(location)
    except (ValueError, TypeError) as error:
        raise WorkersError(
            f"{address!r} is no address of a Dask scheduler; give one with its port, such as "
            "tcp://127.0.0.1:8786."
        ) from error


def _wait_for_worker(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except OSError as error:
        raise WorkersError(
            f"the cluster at {address} has no workers; start some with `dask worker {address}`."
        ) from error


def _send(client: Any, todo: Iterator[tuple[int, Cell]], sent: dict[Any, int], running: Any) -> None:
    """Keep every worker busy, and another cell ready for each."""
    ahead = max(2 * sum(client.nthreads().values()), _LEAST_AHEAD)
    while len(sent) < ahead:
        number, cell = next(todo, (None, None))
        if number is None or cell is None:
            return
        # A key of its own: what another sweep sends, and may cancel, is not shared.
        key = f"cell-{cell.key}-{secrets.token_hex(4)}"
        future = client.submit(computed, number, cell, __version__, key=key, pure=False)
        sent[future] = number
        running.add(future)


def _outcome(future: Any, number: int, cells: Sequence[Cell]) -> Outcome:
    try:
        outcome: Outcome = future.result()
    except CancelledError:  # all cells at once, as with a lost scheduler
        raise
    except Exception as error:  # the cluster's own, as of a cell that killed every worker that tried it
        return Outcome(number, failure=f"{cells[number]}: {_sentence(error)}")
    return outcome


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split()) or "it gave no reason"
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    return f"{kind}{text.rstrip('.')}."
