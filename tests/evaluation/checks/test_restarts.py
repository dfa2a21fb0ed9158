"""Rounds that a bandit decides again after a restart are no faults; what else is wrong is still found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gyrfalcon import Bandit
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation import check_log
from gyrfalcon.evaluation.checks.single_rows.runs import repeated_values
from gyrfalcon.logs import read_log


class Shop:
    """Bandits that write to one folder and are loaded from one file."""

    def __init__(self, folder: Path) -> None:
        self.rng = np.random.default_rng(1)
        self.file, self.log = folder / "shop.bandit", folder / "log"
        self.bandit = Bandit(["red", "blue"], features=["age"], seed=1, log=self.log)

    def loaded(self) -> Bandit:
        return Bandit.load(self.file, log=self.log)

    def visits(self, bandit: Bandit, n: int) -> None:
        for age in self.rng.uniform(0.0, 1.0, n).tolist():
            decision = bandit.decide([age])
            chance = 0.8 if decision.action == "blue" else 0.2
            bandit.reward(decision.event_id, float(self.rng.random() < chance))


def restarted(folder: Path, n_lost: int = 60) -> DecisionTable:
    """300 decisions are saved, `n_lost` more are lost in a crash, and 200 follow."""
    shop = Shop(folder)
    shop.visits(shop.bandit, 300)
    shop.bandit.save(shop.file)
    shop.visits(shop.bandit, n_lost)
    shop.visits(shop.loaded(), 200)
    return read_log(shop.log)


@pytest.mark.parametrize("n_lost", [5, 60, 150])
def test_a_restart_is_a_warning_alone(tmp_path: Path, n_lost: int) -> None:
    check = check_log(restarted(tmp_path, n_lost))
    assert check.passed
    (found,) = check.findings
    assert (found.kind, found.severity) == ("rounds_interleaved", "warning")
    assert found.details["n_runs"] == 2
    assert found.rows.tolist() == list(range(300 + n_lost, 300 + 2 * n_lost))
    assert check.usable.all()


def test_two_workers_of_one_file_are_a_warning_alone(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.visits(shop.bandit, 300)
    shop.bandit.save(shop.file)
    workers = shop.loaded(), shop.loaded()
    for turn in range(160):
        shop.visits(workers[turn % 2], 1)
    check = check_log(read_log(shop.log))
    assert check.passed
    assert [one.kind for one in check.findings] == ["rounds_interleaved"]


def test_faults_of_a_restarted_log_are_found(tmp_path: Path) -> None:
    table = restarted(tmp_path)
    assert table.round is not None
    assert table.epoch is not None
    rounds, epoch = np.array(table.round), np.array(table.epoch)
    rounds[100], epoch[450] = 50, 1
    found = check_log(replace(table, round=rounds, epoch=epoch)).errors
    rows = {(one.kind, row) for one in found for row in one.rows.tolist()}
    assert {("epoch_backwards", 450), ("round_repeated", 100)} <= rows
    assert {row for _, row in rows} == {100, 450}


def test_rows_that_were_joined_twice_are_faults(tmp_path: Path) -> None:
    """Without event ids nothing says that rounds that are there again are other events."""
    table = replace(restarted(tmp_path, 10), event_id=None)
    assert "round_repeated" in {one.kind for one in check_log(table).errors}


def test_repeated_values_are_those_after_the_first() -> None:
    values = np.array([3.0, 1.0, 3.0, np.nan, 1.0, 3.0, np.nan])
    assert repeated_values(values).tolist() == [False, False, True, False, True, True, False]
