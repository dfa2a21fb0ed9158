"""Sweeps: the same results whoever computes them, progress, failures, full disks and interruptions."""

from __future__ import annotations

import _thread
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gyrfalcon import Problem, Uniform
from gyrfalcon.environments import StepExample
from gyrfalcon.environments.data.logged_replay import LoggedReplay
from gyrfalcon.simulation.replications import simulate
from gyrfalcon.sweeps.errors import CellsFailedError, StorageError, WorkersError
from gyrfalcon.sweeps.grid import Cell, Grid
from gyrfalcon.sweeps.run import run_sweep
from tests.sweeps.own_parts import Deadly, MyLearner, Plain, Refusing
from tests.sweeps.small_grids import contents, small_grid


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What one process stores."""
    folder = tmp_path_factory.mktemp("alone") / "results"
    run_sweep(small_grid(), folder)
    return contents(folder)


def test_two_processes_store_the_same_bytes_as_one(tmp_path: Path, alone: dict[str, bytes]) -> None:
    sweep = run_sweep(small_grid(), tmp_path / "results", jobs=2)
    assert (sweep.n_reused, sweep.n_computed) == (0, 4)
    assert contents(sweep.folder) == alone


def test_nothing_is_computed_twice(tmp_path: Path) -> None:
    run_sweep(small_grid(), tmp_path / "results")
    told: list[tuple[Any, ...]] = []
    again = run_sweep(small_grid(), tmp_path / "results", on_cell=lambda *cell: told.append(cell))
    assert (again.n_reused, again.n_computed, told) == (4, 0, [])


def test_progress_counts_what_is_stored(tmp_path: Path) -> None:
    run_sweep(small_grid(environments=["StepExample"]), tmp_path / "results")
    told: list[tuple[int, int, bool]] = []

    def on_cell(cell: Cell, done: int, total: int) -> None:
        told.append((done, total, (tmp_path / "results" / f"{cell.key}.parquet").exists()))

    run_sweep(small_grid(), tmp_path / "results", on_cell=on_cell)
    assert told == [(3, 4, True), (4, 4, True)]


def test_the_table_has_all_cells_in_the_order_of_the_grid(tmp_path: Path) -> None:
    grid = small_grid(n_replications=27, seeds=[3, 1], learners=["Uniform"], environments=["StepExample"])
    table = run_sweep(grid, tmp_path / "results").table()
    assert table["seed"].to_pylist() == [3] * 81 + [1] * 81
    assert table["replication"].to_pylist() == np.repeat(np.arange(27), 3).tolist() * 2
    together = simulate(Uniform(), StepExample(), 300, 27, seed=1, checkpoints=[100, 200])
    assert np.array_equal(np.asarray(table["regret"])[81:], together.regret.ravel())


def test_parts_of_ones_own_work_in_other_processes(tmp_path: Path) -> None:
    grid = small_grid(learners=[MyLearner(0.3), "LinUCB"], environments=[Plain(0.5), Plain(0.25)])
    one, two = (run_sweep(grid, tmp_path / str(jobs), jobs=jobs) for jobs in (1, 2))
    assert contents(one.folder) == contents(two.folder)
    assert set(one.table()["learner"].to_pylist()) == {"MyLearner(0.3)", "LinUCB"}


def test_a_log_can_be_replayed_in_a_sweep(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    log = LoggedReplay(
        Problem(["a", "b"], features=1),
        rng.random((400, 1)),
        rng.choice(["a", "b"], 400),
        rng.integers(2, size=400),
        np.full(400, 0.5),
    )
    table = run_sweep(
        small_grid(environments=[log], n_rounds=100, checkpoints=1), tmp_path / "results"
    ).table()
    assert np.isnan(table["regret"].to_numpy()).all()
    assert (table["reward"].to_numpy() > 0).all()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_cell_that_fails_is_named_and_the_others_are_stored(tmp_path: Path, jobs: int) -> None:
    grid = small_grid(learners=["Uniform"], environments=[Refusing(100), "StepExample", Refusing(200)])
    with pytest.raises(CellsFailedError) as caught:
        run_sweep(grid, tmp_path / "results", jobs=jobs)
    sentence = str(caught.value)
    assert sentence.startswith("2 cells have no results. Uniform in tests.sweeps.own_parts.Refusing")
    assert "ArithmeticError: round 300 is beyond the last." in sentence
    assert "1 of 3 cells are stored and safe in" in sentence
    assert len(caught.value.failures) == 2
    assert set(contents(tmp_path / "results")) == {f"{grid.cells[1].key}.parquet"}


def test_a_learner_that_can_not_play_an_environment_is_a_sentence(tmp_path: Path) -> None:
    shared = {"name": "LinUCB", "model_class": {"name": "Linear", "layout": "shared"}}
    with pytest.raises(
        CellsFailedError, match=r"LinUCB\(model_class=Linear\(layout='shared'\)\) in StepExample.*: "
    ):
        run_sweep(small_grid(learners=[shared], environments=["StepExample"]), tmp_path / "results")


def test_a_worker_that_is_killed_stops_the_sweep_with_what_is_stored(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    grid = small_grid(learners=["Uniform"], environments=["StepExample", Deadly(str(tmp_path / "died"))])
    run_sweep(small_grid(learners=["Uniform"], environments=["StepExample"]), folder)
    with pytest.raises(
        WorkersError, match=r"a worker process was killed.* 1 of 2 cells are stored and safe in"
    ):
        run_sweep(grid, folder, jobs=2)
    assert run_sweep(grid, folder, jobs=2).n_computed == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"jobs": 0}, r"jobs is 0; give a whole number of at least 1"),
        ({"jobs": 1.5}, r"jobs is 1\.5"),
        ({"jobs": 2, "cluster": "tcp://127.0.0.1:1"}, r"give one of the two"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_made(
    tmp_path: Path, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        run_sweep(small_grid(), tmp_path / "results", **options)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_grid_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"grid is 'grid.toml'; give a Grid, or Grid\.from_toml"):
        run_sweep("grid.toml", tmp_path / "results")  # type: ignore[arg-type]


@pytest.mark.usefixtures("foreground")
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interruption_keeps_what_is_stored_and_goes_on_from_there(
    tmp_path: Path, alone: dict[str, bytes], jobs: int
) -> None:
    def interrupt(cell: Cell, done: int, total: int) -> None:
        if done == 2:
            _thread.interrupt_main()

    folder = tmp_path / "results"
    with pytest.raises(KeyboardInterrupt):
        run_sweep(small_grid(), folder, jobs=jobs, on_cell=interrupt)
    stored = contents(folder)
    assert len(stored) >= 2
    assert stored.items() <= alone.items()
    assert run_sweep(small_grid(), folder, jobs=jobs).n_reused == len(stored)
    assert contents(folder) == alone


@dataclass
class _Failure:
    error: BaseException | None = None


def _sweep_into(folder: Path, failure: _Failure) -> None:
    try:
        run_sweep(small_grid(), folder)
    except BaseException as error:
        failure.error = error


def test_two_sweeps_into_one_folder_do_each_other_no_harm(tmp_path: Path, alone: dict[str, bytes]) -> None:
    failures = [_Failure(), _Failure()]
    threads = [
        threading.Thread(target=_sweep_into, args=(tmp_path / "results", failure)) for failure in failures
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [failure.error for failure in failures] == [None, None]
    assert contents(tmp_path / "results") == alone


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for some cells, where mounting one is allowed."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = _run("mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(disk))
    if mounted.returncode:
        pytest.skip(f"a small file system can't be mounted here: {mounted.stderr.strip()}")
    yield disk
    _run("umount", str(disk))


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_full_disk_stops_the_sweep_with_what_is_safe(small_disk: Path, tmp_path: Path, jobs: int) -> None:
    grid = small_grid(seeds=range(4))
    with pytest.raises(StorageError) as caught:
        run_sweep(grid, small_disk / "results", jobs=jobs)
    stored = contents(small_disk / "results")
    assert 0 < len(stored) < len(grid.cells)
    assert all(name.endswith(".parquet") for name in stored)
    assert "could not be stored: No space left on device" in str(caught.value)
    assert f"{len(stored)} of 16 cells are stored and safe in" in str(caught.value)
    assert "run the same sweep again" in str(caught.value)
    whole = run_sweep(grid, tmp_path / "whole")
    assert stored.items() <= contents(whole.folder).items()
    if jobs == 1:
        assert _run("mount", "-o", "remount,size=10m", str(small_disk)).returncode == 0
        resumed = run_sweep(grid, small_disk / "results")
        assert (resumed.n_reused, resumed.set_aside) == (len(stored), ())
        assert contents(resumed.folder) == contents(whole.folder)


_LIMITED = """
import resource, sys
from gyrfalcon.sweeps.run import run_sweep
from gyrfalcon.sweeps.errors import StorageError
from tests.sweeps.small_grids import contents, small_grid

unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
def fill(cell, done, total):
    if done == 2:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, unlimited[1]))
try:
    run_sweep(small_grid(), sys.argv[1], on_cell=fill)
except StorageError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
print(run_sweep(small_grid(), sys.argv[1]).n_reused)
"""


def test_files_that_may_not_grow_stop_the_sweep_in_the_same_way(
    tmp_path: Path, alone: dict[str, bytes]
) -> None:
    pytest.importorskip("resource")
    folder = tmp_path / "results"
    done = _run(sys.executable, "-c", _LIMITED, str(folder))
    assert done.returncode == 0, done.stderr
    sentence, n_reused = done.stdout.splitlines()
    assert "could not be stored: File too large" in sentence
    assert "2 of 4 cells are stored and safe in" in sentence
    assert n_reused == "2"
    assert contents(folder) == alone


def test_a_folder_that_can_not_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"can't be used for results: Not a directory"):
        run_sweep(small_grid(), tmp_path / "file" / "results")


_THREADS = """
import sys
from gyrfalcon.sweeps.grid import Grid
from gyrfalcon.sweeps.run import run_sweep
n_rounds, n_replications = map(int, sys.argv[2:])
learners = ["LinUCB", "EpsilonFalcon", {"name": "LinTS", "n_draws": 200}]
waves = {"name": "RandomFourier", "n_features": 60}
wide = {"name": "LinUCB", "model_class": {"name": "Linear", "basis": waves}}
environment = {"name": "SinusoidEnvironment", "n_actions": 8, "n_features": 20}
run_sweep(Grid([*learners, wide], [environment], n_rounds, n_replications), sys.argv[1])
"""


@pytest.mark.parametrize("size", [("200", "1"), pytest.param(("700", "2"), marks=pytest.mark.long)])
def test_results_do_not_depend_on_the_number_of_threads(tmp_path: Path, size: tuple[str, str]) -> None:
    for threads in ("1", "4"):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = {**os.environ, **dict.fromkeys(names, threads)}
        command = [sys.executable, "-c", _THREADS, str(tmp_path / threads), *size]
        subprocess.run(command, env=environment, check=True)
    assert contents(tmp_path / "1") == contents(tmp_path / "4")


_WIDE = """
import sys
from threadpoolctl import threadpool_info, threadpool_limits
from gyrfalcon.sweeps.grid import Grid
from gyrfalcon.sweeps.run import run_sweep
if __name__ == "__main__":
    squares = {"name": "Linear", "basis": {"name": "Polynomial", "degree": 2}}
    learners = [{"name": name, "model_class": squares} for name in sys.argv[5:]]
    n_rounds, n_replications = map(int, sys.argv[3:5])
    environment = {"name": "SinusoidEnvironment", "n_features": 20}
    grid = Grid(learners, [environment], n_rounds, n_replications, checkpoints=3)
    with threadpool_limits(2):
        run_sweep(grid, sys.argv[1], jobs=int(sys.argv[2]))
        print(*{one["num_threads"] for one in threadpool_info()})
"""


@pytest.mark.parametrize(
    "size",
    [
        ("300", "1", "LinUCB", "SquareCB"),
        pytest.param(("900", "2", "EpsilonFalcon", "LinUCB"), marks=pytest.mark.long),
    ],
    ids="-".join,
)
def test_wide_classes_give_the_same_bytes_with_two_threads_here_and_in_two_processes(
    tmp_path: Path, size: tuple[str, ...]
) -> None:
    # 230 features of degree two: the last digits of X'X depend on the number of threads from about 200 on.
    free = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    for jobs in ("1", "2"):
        command = [sys.executable, "-c", _WIDE, str(tmp_path / jobs), jobs, *size]
        done = subprocess.run(command, env=free, check=True, capture_output=True, text=True)
        assert done.stdout.split() == ["2"], "the limit is lifted when the sweep is over"
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def test_a_grid_from_a_file_is_swept(tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text(
        'n_rounds = 200\nlearners = ["Uniform"]\n[[environments]]\nname = "StepExample"\nnoise = [0.1, 0.2]\n'
    )
    sweep = run_sweep(Grid.from_toml(tmp_path / "grid.toml"), tmp_path / "results")
    assert set(sweep.table()["environment"].to_pylist()) == {"StepExample", "StepExample(noise=0.2)"}
    expected = simulate(sweep.grid.learners[0].value, StepExample(noise=0.2), 200).regret[0, -1]
    assert expected in sweep.table()["regret"].to_pylist()
