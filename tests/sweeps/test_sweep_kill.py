"""Sweeps that are killed with signal 9, at chosen and at random moments, and then go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from gyrfalcon.sweeps.grid import Grid
from gyrfalcon.sweeps.run import run_sweep
from tests.processes import LIMIT, is_running, started, wait_until, workers_of
from tests.sweeps.small_grids import contents

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no signal 9")

GRID = Grid([{"name": ["Uniform", "Greedy"]}], ["StepExample"], n_rounds=200, seeds=range(12), checkpoints=2)
SLOW = Grid(["LinUCB"], ["StepExample"], n_rounds=40_000, seeds=range(100))

_PROGRAM = """
import sys
from gyrfalcon.sweeps.run import run_sweep
from tests.sweeps import test_sweep_kill

folder, jobs, grid, function, when, count = sys.argv[1:]
if function != "none":
    test_sweep_kill.die_at(function, when, int(count))
if __name__ == "__main__":
    run_sweep(
        getattr(test_sweep_kill, grid),
        folder,
        jobs=int(jobs),
        on_cell=lambda cell, done, total: print(cell.key, flush=True) or sys.stdin.readline(),
    )
"""


def die_at(function: str, when: str, count: int) -> None:
    """From now on this process kills itself before or after that call of a function of `os`."""
    real, calls = getattr(os, function), []

    def deadly(*arguments: object) -> object:
        calls.append(arguments)
        if len(calls) == count and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*arguments)
        if len(calls) == count:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(os, function, deadly)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What an uninterrupted sweep stores."""
    folder = tmp_path_factory.mktemp("whole") / "results"
    run_sweep(GRID, folder)
    return contents(folder)


@contextmanager
def _sweeping(
    folder: Path, jobs: int, *death: str, grid: str = "GRID", n_cells: int = 1
) -> Iterator[subprocess.Popen[str]]:
    """A sweep that stores some cells and then waits, so that no machine is too fast to be killed at work."""
    arguments = [str(folder), str(jobs), grid, *(death or ("none", "-", "0"))]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with started([sys.executable, "-c", _PROGRAM, *arguments], **pipes) as process:
        assert process.stdin is not None
        process.stdin.write("\n" * (n_cells - 1))
        process.stdin.flush()
        yield process


def _told(process: subprocess.Popen[str]) -> list[str]:
    """The keys of cells that a sweep said are stored until it was killed, but for half a key at the end."""
    assert process.stdout is not None
    return [line.strip() for line in process.stdout if line.endswith("\n")]


def _stored(folder: Path) -> dict[str, bytes]:
    found = contents(folder) if folder.exists() else {}
    return {name: content for name, content in found.items() if not name.startswith(".")}


@pytest.mark.parametrize(
    ("function", "when"),
    [("fsync", "before"), ("replace", "before"), ("replace", "after")],
    ids=["while the file is written", "before it has its name", "after it has its name"],
)
def test_a_sweep_that_dies_while_it_stores_a_cell_goes_on(
    tmp_path: Path, whole: dict[str, bytes], function: str, when: str
) -> None:
    folder = tmp_path / "results"
    # The file and the folder are synchronised once each, so that the fifth call is for the third cell.
    death = function, when, "5" if function == "fsync" else "3"
    with _sweeping(folder, 1, *death, n_cells=len(GRID.cells)) as killed:
        assert len(_told(killed)) == 2
        assert killed.wait(LIMIT) == -signal.SIGKILL
    stored = _stored(folder)
    assert len(stored) == (3 if when == "after" else 2)
    assert (len(contents(folder)) > len(stored)) == (when == "before"), "a temporary file is left behind"
    resumed = run_sweep(GRID, folder)
    assert (resumed.n_reused, resumed.n_computed) == (len(stored), len(GRID.cells) - len(stored))
    assert resumed.set_aside == ()
    assert contents(folder) == whole


def _killed_again_and_again(
    folder: Path, jobs: int, n_kills: int, whole: dict[str, bytes], seed: int
) -> None:
    """Kill a sweep and its workers at random moments, then let it finish; check every step of it."""
    rng = np.random.default_rng(seed)
    computed: list[str] = []
    for _ in range(n_kills):
        before = _stored(folder)
        with _sweeping(folder, jobs, n_cells=(len(GRID.cells) - 1) // n_kills) as process:
            assert process.stdout is not None
            first = process.stdout.readline().strip()  # it is at work
            time.sleep(float(rng.uniform(0.0, 0.05)))
            os.killpg(process.pid, signal.SIGKILL)
            told = [first, *_told(process)]
        after = _stored(folder)
        assert before.items() <= after.items() <= whole.items(), "nothing stored is lost, changed or damaged"
        assert {f"{key}.parquet" for key in told} <= after.keys() - before.keys(), "nothing is computed twice"
        computed += told
    n_stored = len(_stored(folder))
    assert 0 < n_stored < len(GRID.cells), "it was killed at work"
    resumed = run_sweep(GRID, folder, jobs=jobs)
    assert (resumed.n_reused, resumed.n_computed) == (n_stored, len(GRID.cells) - n_stored)
    assert resumed.set_aside == ()
    assert contents(folder) == whole
    assert len(computed) == len(set(computed))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_sweep_that_is_killed_at_random_moments_loses_nothing(
    tmp_path: Path, whole: dict[str, bytes], jobs: int
) -> None:
    _killed_again_and_again(tmp_path / "results", jobs, 3 - jobs, whole, seed=jobs)


@pytest.mark.long
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_sweep_that_is_killed_very_often_loses_nothing(
    tmp_path: Path, whole: dict[str, bytes], jobs: int
) -> None:
    for repetition in range(5):
        _killed_again_and_again(tmp_path / str(repetition), jobs, 6, whole, seed=10 * jobs + repetition)


@pytest.mark.parametrize("n_workers", [1, pytest.param(2, marks=pytest.mark.long)])
def test_workers_end_when_the_sweep_was_killed_before_they_had_work(tmp_path: Path, n_workers: int) -> None:
    with _sweeping(tmp_path / "results", 2, grid="SLOW") as process:
        wait_until(lambda: process.poll() is not None or len(workers_of(process.pid)) >= n_workers)
        workers = workers_of(process.pid)
        process.kill()
        process.wait(LIMIT)
    assert len(workers) >= n_workers
    wait_until(lambda: not any(map(is_running, workers)))


def test_workers_end_when_the_sweep_was_killed(tmp_path: Path) -> None:
    with _sweeping(tmp_path / "results", 2, grid="SLOW") as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        workers = workers_of(process.pid)
        process.kill()
        process.wait(LIMIT)
    assert len(workers) == 2
    wait_until(lambda: not any(map(is_running, workers)))
