from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.terminal import invoke, numbers, refusal
from tests.logs.helpers import edit, played


def test_a_log_without_faults_passes(tmp_path: Path) -> None:
    played(tmp_path, 60)
    result = invoke("check", tmp_path)
    assert result.exit_code == 0
    assert result.stdout.startswith("passed: 60 rows of ")
    assert max(len(line) for line in result.stdout.splitlines() if str(tmp_path) not in line) <= 100
    report = numbers("check", tmp_path, "--alpha", 0.001)
    assert (report["passed"], report["n_rows"], report["alpha"]) == (True, 60, 0.001)
    assert {one["kind"] for one in report["findings"]} == {"reward_missing"}


def test_a_faulty_row_is_named_and_set_aside_and_the_exit_code_is_1(tmp_path: Path) -> None:
    folder = tmp_path / "decisions"
    played(folder, 60)
    victim = edit(folder, lambda line: line.update(propensity=1.7))
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    result = invoke("check", folder, "--set-aside", tmp_path / "faults.csv")
    assert result.exit_code == 1
    assert "error    propensity_above_one (1 row)" in result.stdout
    assert "row 6: the propensity is 1.7, which is above 1." in result.stdout
    assert f"Wrote {tmp_path / 'faults.csv'}." in " ".join(result.stderr.split())
    (row,) = csv.DictReader((tmp_path / "faults.csv").read_text().splitlines())
    assert (row["row"], row["event_id"]) == ("6", victim)
    assert row["faults"].split(", ") == ["propensity_above_one", "propensity_mismatch"]
    assert before == {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.parquet", "both"])
def test_rows_go_to_files_of_any_format_and_none_is_lost(tmp_path: Path, name: str) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    folder = tmp_path / "decisions"
    played(folder, 60)
    edit(folder, lambda line: line.update(propensity=-1.0))
    assert invoke("check", folder, "--set-aside", tmp_path / name).exit_code == 1
    if name == "rows.parquet":
        assert pq.read_table(tmp_path / name).to_pydict()["row"] == [6]
        return
    files = [tmp_path / name] if name != "both" else sorted((tmp_path / name).iterdir())
    rows = [[json.loads(line)["row"] for line in file.read_text().splitlines()] for file in files]
    assert rows[0] == [6]
    if name == "both":
        assert rows[1] == [row for row in range(60) if row != 6]


def test_ranges_and_shares_are_taken_from_the_command_line(tmp_path: Path) -> None:
    played(tmp_path, 200)
    result = invoke("check", tmp_path, "--reward-range=0,0.5", "--json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert report["findings"][0]["kind"] == "reward_out_of_range"
    assert report["n_set_aside"] == report["findings"][0]["n_rows"]
    shares = ("--share", "a=0.02", "--share", "b=0.49", "--share", "c=0.49")
    assert "sample_ratio" in invoke("check", tmp_path, *shares).stdout
    assert "give a name and a share" in refusal(invoke("check", tmp_path, "--share", "a"))
    assert "no action of the log" in refusal(invoke("check", tmp_path, "--share", "d=1"))
    assert "elsewhere does not exist" in refusal(invoke("check", tmp_path / "elsewhere"))
    assert "give a file that ends in" in refusal(invoke("check", tmp_path, "--set-aside", tmp_path / "x.txt"))
