from __future__ import annotations

import json
from pathlib import Path

from tests.cli.terminal import WIDTH, invoke, numbers, refusal
from tests.logs.helpers import close, edit, played


def test_a_log_that_agrees_passes(tmp_path: Path) -> None:
    played(tmp_path, 40)
    result = invoke("audit", tmp_path)
    assert result.exit_code == 0
    assert "passed: 40 decisions" in result.stdout
    assert "recomputed      40 (40 equal, 0 different)" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= WIDTH
    report = numbers("audit", tmp_path, "--seed", 1)
    assert (report["passed"], report["n_equal"], report["differences"]) == (True, 40, [])


def test_a_log_that_was_changed_fails_with_exit_code_1(tmp_path: Path) -> None:
    played(tmp_path, 40)
    victim = edit(tmp_path, lambda line: line.update(propensity=0.125))
    result = invoke("audit", tmp_path)
    assert result.exit_code == 1
    assert f"{victim}: propensity is 0.125, recomputed " in result.stdout
    machine = invoke("audit", tmp_path, "--json")
    assert machine.exit_code == 1
    assert json.loads(machine.stdout)["differences"][0]["event_id"] == victim


def test_closed_files_are_compacted_and_counted(tmp_path: Path) -> None:
    close(played(tmp_path, 40))
    assert invoke("compact", tmp_path).stdout == (
        "Compacted 1 file with 40 decisions; 0 files still written.\n"
    )
    assert numbers("compact", tmp_path) == {"n_files": 0, "n_rows": 0, "n_open": 0}
    assert invoke("audit", tmp_path).exit_code == 0
    assert "elsewhere does not exist" in refusal(invoke("compact", tmp_path / "elsewhere"))
    assert "elsewhere does not exist" in refusal(invoke("audit", tmp_path / "elsewhere"))
