from __future__ import annotations

from pathlib import Path

from gyrfalcon import Bandit, Experiment
from tests.cli.terminal import WIDTH, invoke, numbers, refusal


def test_a_saved_experiment_is_shown(tmp_path: Path) -> None:
    experiment = Experiment(["red", "blue"], control="red", seed=1)
    for _ in range(600):
        decision = experiment.decide()
        experiment.reward(decision.event_id, 1.0 if decision.action == "blue" else 0.5)
    experiment.save(tmp_path / "buttons")
    result = invoke("experiment", tmp_path / "buttons")
    assert result.exit_code == 0
    assert "600 decided, 600 compared, 0 open" in result.stdout
    assert "it is known that always 'blue' is better than always 'red'" in " ".join(result.stdout.split())
    assert max(map(len, result.stdout.splitlines())) <= WIDTH
    report = numbers("experiment", tmp_path / "buttons")
    assert report["status"]["decision"] == report["result"]["policy"] == "always 'blue'"
    assert report["result"]["is_better"]


def test_other_files_are_refused(tmp_path: Path) -> None:
    Bandit(["a", "b"]).save(tmp_path / "bandit")
    assert "holds a Bandit, not an Experiment" in refusal(invoke("experiment", tmp_path / "bandit"))
