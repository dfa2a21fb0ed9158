"""Sweeps on a Dask cluster of real processes: the same results, failures as sentences, deaths survived."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import pytest
from distributed import Client, LocalCluster

from gyrfalcon.sweeps import workers
from gyrfalcon.sweeps.errors import CellsFailedError, WorkersError
from gyrfalcon.sweeps.grid import Cell
from gyrfalcon.sweeps.run import run_sweep
from tests.processes import LIMIT
from tests.sweeps.own_parts import Deadly, MyLearner, Plain, Refusing
from tests.sweeps.small_grids import contents, small_grid

# Of how many workers a cell may be the death: every other one takes seconds to start.
_TWO_DEATHS = {"distributed.scheduler.allowed-failures": 1}
_TIMEOUTS = ("comm.timeouts.connect", "comm.timeouts.tcp", "deploy.lost-worker-timeout")


def _cluster(n_workers: int) -> Any:
    return LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )


@pytest.fixture(autouse=True, scope="module")
def patience() -> Iterator[None]:
    """A busy machine may take its time to start processes and to connect them."""
    settings = {f"distributed.{name}": f"{LIMIT} s" for name in _TIMEOUTS} | _TWO_DEATHS
    with pytest.MonkeyPatch.context() as patched, dask.config.set(settings):
        patched.setattr(workers, "ANSWER", LIMIT)
        patched.setattr(workers, "PATIENCE", LIMIT)
        yield


@pytest.fixture(scope="module")
def cluster(patience: None) -> Iterator[Any]:
    with _cluster(2) as running:
        yield running


def test_a_cluster_stores_the_same_bytes_as_one_process(tmp_path: Path, cluster: Any) -> None:
    told: list[tuple[int, int]] = []

    def on_cell(cell: Cell, done: int, total: int) -> None:
        told.append((done, total))

    one = run_sweep(small_grid(), tmp_path / "one")
    many = run_sweep(small_grid(), tmp_path / "many", cluster=cluster.scheduler_address, on_cell=on_cell)
    assert (many.n_reused, many.n_computed) == (0, 4)
    assert contents(many.folder) == contents(one.folder)
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_cluster_computes_only_what_is_missing(tmp_path: Path, cluster: Any) -> None:
    run_sweep(small_grid(environments=["StepExample"]), tmp_path / "results")
    sweep = run_sweep(small_grid(), tmp_path / "results", cluster=cluster.scheduler_address)
    assert (sweep.n_reused, sweep.n_computed) == (2, 2)
    assert run_sweep(small_grid(), tmp_path / "results", cluster=cluster.scheduler_address).n_computed == 0


def test_more_cells_than_are_sent_ahead_all_come_back(tmp_path: Path, cluster: Any) -> None:
    grid = small_grid(learners=["Uniform"], seeds=range(3 * workers._LEAST_AHEAD))
    sweep = run_sweep(grid, tmp_path / "results", cluster=cluster.scheduler_address)
    assert len(contents(sweep.folder)) == sweep.n_computed == 6 * workers._LEAST_AHEAD


def test_parts_of_ones_own_and_named_data_work_on_a_cluster(tmp_path: Path, cluster: Any) -> None:
    grid = small_grid(learners=[MyLearner(0.3)], environments=[Plain(0.5), "iris"])
    one = run_sweep(grid, tmp_path / "one")
    many = run_sweep(grid, tmp_path / "many", cluster=cluster.scheduler_address)
    assert contents(many.folder) == contents(one.folder)


def test_a_cell_that_fails_on_a_cluster_is_named(tmp_path: Path, cluster: Any) -> None:
    grid = small_grid(learners=["Uniform"], environments=[Refusing(100), "StepExample"])
    with pytest.raises(
        CellsFailedError, match=r"1 cell has no results\. Uniform in .*Refusing, .*beyond the last"
    ):
        run_sweep(grid, tmp_path / "results", cluster=cluster.scheduler_address)
    assert len(contents(tmp_path / "results")) == 1


def test_another_version_on_the_workers_is_refused(
    tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "__version__", "99.0")
    with pytest.raises(
        CellsFailedError, match=r"the worker has gyrfalcon .*, and the sweep 99\.0; install the same"
    ):
        run_sweep(small_grid(), tmp_path / "results", cluster=cluster.scheduler_address)


@pytest.mark.long
def test_a_worker_that_is_killed_is_replaced_and_nothing_is_lost(tmp_path: Path) -> None:
    grid = small_grid(seeds=range(5))
    with _cluster(2) as cluster, Client(cluster, set_as_default=False) as client:  # type: ignore[no-untyped-call]

        def kill_one(cell: Cell, done: int, total: int) -> None:
            if done == 2:
                pid = next(iter(client.run(os.getpid).values()))
                os.kill(pid, signal.SIGKILL)

        sweep = run_sweep(grid, tmp_path / "many", cluster=cluster.scheduler_address, on_cell=kill_one)
    assert sweep.n_computed == len(grid.cells)
    assert contents(sweep.folder) == contents(run_sweep(grid, tmp_path / "one").folder)


def test_a_cell_that_kills_its_worker_once_is_computed_by_another(tmp_path: Path, cluster: Any) -> None:
    grid = small_grid(learners=["Uniform"], environments=[Deadly(str(tmp_path / "died"))])
    assert run_sweep(grid, tmp_path / "results", cluster=cluster.scheduler_address).n_computed == 1


@pytest.mark.long
def test_a_cell_that_kills_every_worker_is_named_and_the_others_are_stored(
    tmp_path: Path, cluster: Any
) -> None:
    grid = small_grid(learners=["Uniform"], environments=[Deadly(), "StepExample"])
    with pytest.raises(
        CellsFailedError, match=r"Uniform in .*Deadly, .*: KilledWorker: .* 1 of 2 cells are stored"
    ):
        run_sweep(grid, tmp_path / "results", cluster=cluster.scheduler_address)


def test_an_address_where_nobody_answers_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "ANSWER", 1)
    with pytest.raises(
        WorkersError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1; .* 0 of 4 cells"
    ):
        run_sweep(small_grid(), tmp_path / "results", cluster="tcp://127.0.0.1:1")


@pytest.mark.parametrize(
    "address", ["garbage", "nonsense://x", "tcp://127.0.0.1", "tcp://127.0.0.1:port", ""]
)
def test_what_is_no_address_is_refused_at_once(tmp_path: Path, address: str) -> None:
    with pytest.raises(WorkersError, match=rf"^'{address}' is no address of .* give one with its port"):
        run_sweep(small_grid(), tmp_path / "results", cluster=address)


def test_a_cluster_without_workers_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "PATIENCE", 1)
    with (
        _cluster(0) as cluster,
        pytest.raises(WorkersError, match=r"has no workers; start some with `dask worker"),
    ):
        run_sweep(small_grid(), tmp_path / "results", cluster=cluster.scheduler_address)
