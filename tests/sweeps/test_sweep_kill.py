"""Sweeps that are killed with signal 9, at chosen and at random moments, and then go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gyrfalcon.sweeps.grid import Grid
from gyrfalcon.sweeps.run import run_sweep
from tests.sweeps.small_grids import contents

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no signal 9")

GRID = Grid([{"name": ["Uniform", "Greedy"]}], ["StepExample"], n_rounds=200, seeds=range(80), checkpoints=2)
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
        on_cell=lambda cell, done, total: print(cell.key, flush=True),
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


def _started(folder: Path, jobs: int, *death: str, grid: str = "GRID") -> subprocess.Popen[str]:
    arguments = [str(folder), str(jobs), grid, *(death or ("none", "-", "0"))]
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


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
    killed = _started(folder, 1, function, when, "5" if function == "fsync" else "3")
    told = killed.communicate()[0].split()
    assert killed.returncode == -signal.SIGKILL
    assert len(told) == 2
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
        process = _started(folder, jobs)
        assert process.stdout is not None
        told = [process.stdout.readline().strip()]  # it is at work
        time.sleep(float(rng.uniform(0.0, 0.05)))
        os.killpg(process.pid, signal.SIGKILL)
        told = [key for key in [*told, *process.communicate()[0].split()] if len(key) == 32]
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
    _killed_again_and_again(tmp_path / "results", jobs, 4 - jobs, whole, seed=jobs)


@pytest.mark.long
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_sweep_that_is_killed_very_often_loses_nothing(
    tmp_path: Path, whole: dict[str, bytes], jobs: int
) -> None:
    for repetition in range(5):
        _killed_again_and_again(tmp_path / str(repetition), jobs, 6, whole, seed=10 * jobs + repetition)


def _workers(parent: int) -> list[int]:
    command = ["ps", "-A", "-ww", "-o", "pid=", "-o", "ppid=", "-o", "args="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
    return [int(row[0]) for row in rows if int(row[1]) == parent and "LokyProcess" in row[2]]


def _is_running(pid: int) -> bool:
    """Whether a process is there and not just waiting to be noticed."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(state.stdout.strip()) and not state.stdout.strip().startswith("Z")


def test_workers_end_when_the_sweep_was_killed(tmp_path: Path) -> None:
    process = _started(tmp_path / "results", 2, grid="SLOW")
    assert process.stdout is not None
    process.stdout.readline()
    workers = _workers(process.pid)
    process.kill()
    process.communicate()
    assert len(workers) == 2
    deadline = time.monotonic() + 60.0
    while any(map(_is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not any(map(_is_running, workers))


@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_workers_end_when_the_sweep_was_killed_before_they_had_work(tmp_path: Path, seconds: float) -> None:
    process = _started(tmp_path / "results", 2, grid="SLOW")
    deadline = time.monotonic() + 60.0
    while not (workers := _workers(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(seconds)
    workers = _workers(process.pid)
    process.kill()
    process.communicate()
    assert workers
    while any(map(_is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not any(map(_is_running, workers))
