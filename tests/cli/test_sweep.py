from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pyarrow.dataset as ds
import pytest

from gyrfalcon.environments.paper import StepExample
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.simulation.replications import simulate
from tests.cli.terminal import (
    COMMAND,
    ENVIRONMENT,
    WIDTH,
    command,
    grid_file,
    invoke,
    numbers,
    refusal,
    without_progress,
)
from tests.processes import LIMIT, started, wait_until, workers_of

GRID = """
n_rounds = 200
n_replications = 3
seeds = [0, 4]
checkpoints = [160]

[[learners]]
name = "LinUCB"
alpha = [0.1, 1.0]

[[environments]]
name = ["StepExample", "SensitivityExample"]
"""
MANY = """
n_rounds = 2000
n_replications = 25000
[[learners]]
name = "Uniform"
[[environments]]
name = "StepExample"
"""


def test_a_sweep_computes_every_cell_once(tmp_path: Path) -> None:
    asked = ("sweep", grid_file(tmp_path, GRID), "--out", tmp_path / "results", "--jobs", "1")
    first, again = numbers(*asked), numbers(*asked)
    assert (first["cells_computed"], first["cells_reused"]) == (8, 0)
    assert (again["cells_computed"], again["cells_reused"]) == (0, 8)
    assert first["results"] == again["results"]


def test_results_are_over_all_seeds_and_replications(tmp_path: Path) -> None:
    report = numbers("sweep", grid_file(tmp_path, GRID), "--out", tmp_path / "results", "--jobs", "1")
    traces = [simulate(LinUCB(), StepExample(), 200, 3, seed, checkpoints=[160]) for seed in (0, 4)]
    regret = np.concatenate([trace.regret for trace in traces])
    result = report["results"][1]
    assert (result["environment"], result["learner"], result["n_runs"]) == ("StepExample", "LinUCB", 6)
    assert result["regret"]["mean"] == pytest.approx(regret[:, 1].mean())
    assert result["regret"]["standard_error"] == pytest.approx(regret[:, 1].std(ddof=1) / np.sqrt(6))
    assert result["late_regret"]["mean"] == pytest.approx(np.diff(regret).mean() / 40)
    assert report["late_from_round"] == 161


def test_people_get_a_table_by_learner_and_environment(tmp_path: Path) -> None:
    result = invoke("sweep", grid_file(tmp_path, GRID), "--out", tmp_path / "results", "--jobs", "1")
    assert result.exit_code == 0
    assert "8 cells: 8 computed, 0 reused; 0 files set aside." in result.stdout
    table = result.stdout.partition("Results:")[0]
    assert table.count("LinUCB(alpha=0.1)") == 2
    assert max(map(len, table.splitlines())) <= WIDTH


def test_fewer_replications_than_are_stored_are_counted_as_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "results"
    numbers("sweep", grid_file(tmp_path, GRID), "--out", out, "--jobs", "1")
    fewer = GRID.replace("n_replications = 3", "n_replications = 2")
    report = numbers("sweep", grid_file(tmp_path, fewer), "--out", out, "--jobs", "1")
    assert report["cells_computed"] == 0
    assert {result["n_runs"] for result in report["results"]} == {4}


def test_a_corrupt_file_is_reported_and_computed_again(tmp_path: Path) -> None:
    out = tmp_path / "results"
    asked = ("sweep", grid_file(tmp_path, GRID), "--out", out, "--jobs", "1")
    first = numbers(*asked)
    damaged = sorted(out.glob("*.parquet"))[0]
    damaged.write_bytes(damaged.read_bytes()[:-10])
    result = invoke(*asked, "--json")
    report = json.loads(result.stdout)
    assert result.exit_code == 0
    assert damaged.name in result.stderr
    assert (report["cells_computed"], len(report["set_aside"])) == (1, 1)
    assert report["results"] == first["results"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"LinUCB"', '"LinUBC"', "LinUCB"),
        ("alpha", "alhpa", "alpha"),
        ('"StepExample"', '"StepExampl"', "StepExample"),
        ("n_rounds", "n_round", "n_rounds"),
        ("n_rounds = 200", "n_rounds = ", "TOML"),
        ("seeds = [0, 4]", "seeds = [0, 0]", "seed"),
    ],
)
def test_a_bad_file_is_refused_with_its_name(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = grid_file(tmp_path, GRID.replace(old, new, 1))
    result = invoke("sweep", path, "--out", tmp_path / "results")
    assert result.exit_code == 2
    assert str(path) in refusal(result)
    assert words in refusal(result)
    assert not (tmp_path / "results").exists()


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    result = invoke("sweep", tmp_path / "none.toml", "--out", tmp_path / "results")
    assert result.exit_code == 2
    assert "none.toml" in refusal(result)


def test_jobs_and_a_cluster_exclude_each_other(tmp_path: Path) -> None:
    path = grid_file(tmp_path, GRID)
    result = invoke("sweep", path, "--out", tmp_path / "r", "--jobs", "2", "--cluster", "tcp://127.0.0.1:1")
    assert result.exit_code == 2
    assert "give one of the two" in refusal(result)


def test_a_full_disk_stops_the_sweep_and_says_what_is_safe(tmp_path: Path) -> None:
    def no_large_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    asked = ("sweep", grid_file(tmp_path, GRID), "--out", tmp_path / "results", "--jobs", "1")
    result = command(*asked, preexec_fn=no_large_files)
    assert result.returncode == 1
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert f"0 of 8 cells are stored and safe in {tmp_path / 'results'}" in result.stderr
    assert numbers(*asked)["cells_computed"] == 8


@pytest.mark.usefixtures("foreground")
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_leaves_what_is_stored_and_no_traceback(tmp_path: Path, jobs: int) -> None:
    out = tmp_path / "results"
    asked = ["sweep", str(grid_file(tmp_path, MANY)), "--out", str(out), "--jobs", str(jobs)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started([*COMMAND, *asked], env=ENVIRONMENT, **pipes) as process:
        wait_until(lambda: process.poll() is not None or len(list(out.glob("*.parquet"))) >= 2)
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to all processes of the command
        printed, said = process.communicate(timeout=LIMIT)
    stored = len(list(out.glob("*.parquet")))
    assert process.returncode == 130
    assert printed == ""
    last = said.strip().splitlines()[-1]
    assert (
        last == f"stopped; {stored} of 1000 cells are stored in {out}; run the same command again to go on."
    )
    assert "Traceback" not in said
    rows = ds.dataset(out, format="parquet").count_rows(filter=ds.field("round") == 2000)
    assert rows == 25 * stored


@pytest.mark.usefixtures("foreground")
@pytest.mark.parametrize("n_times", [pytest.param(1, marks=pytest.mark.long), 20])
def test_ctrl_c_while_workers_start_is_one_sentence_however_often(tmp_path: Path, n_times: int) -> None:
    out = tmp_path / "results"
    asked = ["sweep", str(grid_file(tmp_path, MANY)), "--out", str(out), "--jobs", "2"]
    with started([*COMMAND, *asked], stderr=subprocess.PIPE, env=ENVIRONMENT) as process:
        wait_until(lambda: process.poll() is not None or workers_of(process.pid))
        for _ in range(n_times):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
                time.sleep(0.02)
        _, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert [line.partition(";")[0] for line in without_progress(said)] == ["stopped"]


@pytest.mark.usefixtures("background")
def test_a_sweep_in_the_background_goes_on_after_ctrl_c(tmp_path: Path) -> None:
    out = tmp_path / "results"
    asked = ["sweep", str(grid_file(tmp_path, GRID)), "--out", str(out), "--jobs", "1", "--json"]
    with started([*COMMAND, *asked], stdout=subprocess.PIPE, env=ENVIRONMENT) as process:
        wait_until(lambda: process.poll() is not None or out.exists())
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        printed, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 0
    assert json.loads(printed)["cells_computed"] == 8
