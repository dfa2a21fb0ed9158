from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from gyrfalcon import __version__
from gyrfalcon.cli.main import app

runner = CliRunner()


def test_the_demo_prints_numbers_for_machines_and_draws_a_figure(tmp_path: Path) -> None:
    options = ["demo", "--rounds", "1000", "--replications", "3", "--out", str(tmp_path), "--json"]
    result = runner.invoke(app, options)
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert set(report["regret"]) == {"LinUCB", "FALCON", "Epsilon-FALCON"}
    assert all(0.0 < row["cumulative"] < 500.0 for row in report["regret"].values())
    assert Path(report["figure"]).read_bytes().startswith(b"\x89PNG")


def test_the_demo_prints_a_table_for_people(tmp_path: Path) -> None:
    options = ["demo", "--rounds", "1000", "--replications", "2", "--out", str(tmp_path)]
    result = runner.invoke(app, options)
    assert result.exit_code == 0
    assert "Epsilon-FALCON" in result.stdout
    assert "standard error" in result.stdout


def test_too_few_rounds_are_refused() -> None:
    result = runner.invoke(app, ["demo", "--rounds", "10"])
    assert result.exit_code == 2
    assert "10" in result.output


def test_the_version_is_shown() -> None:
    assert runner.invoke(app, ["--version"]).stdout.strip() == __version__
