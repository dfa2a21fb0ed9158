from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from gyrfalcon import Bandit
from gyrfalcon.environments.paper import SensitivityExample
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.simulation.replications import simulate
from tests.cli.terminal import WIDTH, command, invoke, numbers, refusal, without_progress

SMALL = ("--rounds", "500", "--replications", "3")


def test_the_numbers_are_those_of_the_library() -> None:
    report = numbers(
        *("simulate", "LinUCB", "SensitivityExample", *SMALL, "--seed", "7"),
        *("--set", "alpha=0.3", "--environment-set", "theta=0.01"),
    )
    trace = simulate(LinUCB(alpha=0.3), SensitivityExample(theta=0.01), 500, 3, 7, checkpoints=[400])
    sample = trace.regret[:, -1]
    assert report["cumulative_regret"]["mean"] == pytest.approx(sample.mean())
    assert report["cumulative_regret"]["standard_error"] == pytest.approx(sample.std(ddof=1) / np.sqrt(3))
    late = (trace.regret[:, -1] - trace.regret[:, 0]) / 100
    assert report["regret_per_round_last_fifth"]["mean"] == pytest.approx(late.mean())
    assert report["reward_per_round"]["mean"] == pytest.approx(trace.reward[:, -1].mean() / 500)
    assert report["simulation"] == "LinUCB(alpha=0.3) in SensitivityExample(theta=0.01)"


def test_an_environment_alone_is_played_by_the_default_of_a_bandit() -> None:
    report = numbers("simulate", "StepExample", *SMALL)
    assert report["simulation"] == "AdaptiveFalcon in StepExample"
    assert "AdaptiveFalcon" in repr(Bandit(["a", "b"]))


def test_people_get_a_table_with_standard_errors() -> None:
    result = invoke("simulate", "EpsilonFalcon", "StepExample", *SMALL)
    assert result.exit_code == 0
    assert "cumulative regret" in result.stdout
    assert "standard error" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= WIDTH


def test_a_single_replication_has_no_standard_error() -> None:
    report = numbers("simulate", "Uniform", "StepExample", "--rounds", "50", "--replications", "1")
    assert report["cumulative_regret"]["standard_error"] is None
    assert "1 replication," in invoke("simulate", "Uniform", "StepExample", "--replications", "1").stdout


@pytest.mark.parametrize("rounds", [1, 4, 5, 6])
def test_very_few_rounds_work(rounds: int) -> None:
    assert numbers("simulate", "Uniform", "StepExample", "--rounds", rounds)["rounds"] == rounds


def test_the_trace_is_the_same_in_every_kind_of_file(tmp_path: Path) -> None:
    for ending in ("parquet", "csv", "json"):
        files = numbers("simulate", "Falcon", "StepExample", *SMALL, "--out", tmp_path / f"t.{ending}")
        assert files["files"]["trace"] == str(tmp_path / f"t.{ending}")
    records = pq.read_table(tmp_path / "t.parquet").to_pylist()
    with (tmp_path / "t.csv").open() as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    assert records == rows == json.loads((tmp_path / "t.json").read_text())
    assert {record["replication"] for record in records} == {0, 1, 2}
    assert records[-1]["round"] == 500


def test_checkpoints_are_as_asked_for_and_where_the_last_fifth_begins(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    numbers("simulate", "Uniform", "StepExample", *SMALL, "--checkpoints", "10,1e2", "--out", path)
    rounds = [row["round"] for row in json.loads(path.read_text()) if row["replication"] == 0]
    assert rounds == [10, 100, 400, 500]
    numbers("simulate", "Uniform", "StepExample", *SMALL, "--checkpoints", "every", "--out", path)
    assert len(json.loads(path.read_text())) == 3 * 500


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_figure_is_drawn(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "new" / f"regret.{ending}"
    numbers("simulate", "Uniform", "StepExample", *SMALL, "--figure", path)
    begins = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert path.read_bytes().startswith(begins[ending])


def test_epochs_are_those_of_the_first_replication() -> None:
    calibrated = ("simulate", "EpsilonFalcon", "StepExample")
    report = numbers(*calibrated, *SMALL, "--epochs")
    played = simulate(EpsilonFalcon(), SensitivityExample(), 500, 1).epochs[0]
    assert [epoch["until"] for epoch in report["epochs"]] == [epoch.stop for epoch in played]
    assert report["epochs"][0]["gamma"] is None
    assert report["epochs"][-1]["passive"] == 10
    text = invoke(*calibrated, *SMALL, "--epochs").stdout
    assert "multiplier" in text
    assert "In the last of them" not in text
    assert max(map(len, text.splitlines())) <= WIDTH


def test_the_last_epoch_is_explained_by_the_learner() -> None:
    simulation = ("simulate", "AdaptiveFalcon", "StepExample", *SMALL, "--epochs")
    details = numbers(*simulation)["epochs"][-1]["details"]
    assert any(line.startswith("active class: ") for line in details)
    text = invoke(*simulation).stdout
    told = text.partition("In the last of them:\n\n")[2].strip().split("\n\n")
    assert [" ".join(line.split()) for line in told] == details
    assert max(map(len, text.splitlines())) <= WIDTH


@pytest.mark.parametrize(
    ("learner", "setting", "first"),
    [
        ("AdaptiveFalcon", "epsilon=auto", 16),
        ("AdaptiveFalcon", "epsilon=0.1", 16),
        ("EpsilonFalcon", "epsilon=0.1", 100),
        ("EpsilonFalcon", "c_beta=0.1", 100),
        ("EpsilonFalcon", "constants=paper", 4),
    ],
)
def test_no_setting_changes_the_algorithm(learner: str, setting: str, first: int) -> None:
    report = numbers("simulate", learner, "StepExample", "--set", setting, *SMALL, "--epochs")
    assert report["epochs"][0]["until"] == first


def test_a_data_set_can_be_played() -> None:
    report = numbers("simulate", "Greedy", "iris", "--rounds", "150", "--replications", "2")
    assert 0.3 < report["reward_per_round"]["mean"] < 1.0


def test_a_environment_within_a_environment_can_be_set() -> None:
    report = numbers(
        *("simulate", "Uniform", "Delayed", "--rounds", "100"),
        *("--environment-set", "environment.name=StepExample", "--environment-set", "mean=5"),
    )
    assert "StepExample" in report["simulation"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("LinUCBB", "StepExample"), "'LinUCB'"),
        (("LinUCB", "StepExmple"), "'StepExample'"),
        (("LinUCB", "StepExample", "--set", "alpa=1"), "'alpha'"),
        (("LinUCB", "StepExample", "--environment-set", "nois=1"), "'noise'"),
        (("LinUCB", "StepExample", "--set", "alpha=-1"), "alpha is -1"),
        (("LinUCB", "StepExample", "--set", "alpha"), "--set 'alpha'"),
        (("LinUCB", "StepExample", "--set", "schedule.first=3"), "'size'"),
        (("LinUCB", "StepExample", "--rounds", "0"), "at least 1"),
        (("LinUCB", "StepExample", "--replications", "0"), "at least 1"),
        (("LinUCB", "StepExample", "--seed", "-1"), "at least 0"),
        (("LinUCB", "StepExample", "--out", "trace.txt"), ".parquet, .csv or .json"),
        (("LinUCB", "StepExample", "--figure", "regret.jpg"), ".png, .svg or .pdf"),
        (("LinUCB", "StepExample", "--checkpoints", "3,x"), "--checkpoints 3,x"),
        (("LinUCB", "StepExample", "--checkpoints", "3,100000"), "100000"),
        (("LinUCB",), "ENVIRONMENT"),
        ((), "there is no ENVIRONMENT"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(arguments: tuple[str, ...], words: str) -> None:
    result = invoke("simulate", *arguments)
    assert result.exit_code == 2
    assert words in refusal(result)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "trace.csv"
    folder.mkdir()
    result = invoke("simulate", "LinUCB", "StepExample", "--out", folder)
    assert result.exit_code == 2
    assert "is a folder" in refusal(result)


def test_a_folder_that_cant_be_made_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = invoke(
        "simulate", "LinUCB", "StepExample", "--rounds", "1e9", "--out", tmp_path / "file" / "t.csv"
    )
    assert result.exit_code == 2
    assert "file" in refusal(result)


def test_the_real_command_prints_json_alone() -> None:
    result = command("simulate", "Uniform", "StepExample", *SMALL, "--json")
    assert result.returncode == 0
    assert without_progress(result.stderr) == []
    assert json.loads(result.stdout)["rounds"] == 500


def test_a_log_that_is_kept_is_computed_again_and_is_not_kept_twice(tmp_path: Path) -> None:
    folder = tmp_path / "decisions"
    chosen = ("simulate", "LinUCB", "StepExample", *SMALL, "--keep-log", folder)
    report = numbers(*chosen)
    assert report["files"] == {"log": str(folder)}
    assert {**report, "files": {}} == numbers("simulate", "LinUCB", "StepExample", *SMALL)
    audit = numbers("audit", folder)
    assert (audit["passed"], audit["n_equal"]) == (True, 1500)
    assert "has replication 0 of the experiment 'simulation' already" in refusal(invoke(*chosen))
