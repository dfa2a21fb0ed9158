"""Scripts that how-to pages show run as shown, and limits that they name are those of the code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gyrfalcon import EpsilonFalcon, simulate
from gyrfalcon.environments import StepExample
from gyrfalcon.evaluation.verdict import limits as known_limits

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"


def test_the_regressor_of_ones_own_runs_and_is_what_the_page_shows() -> None:
    script = HOW_TO / "own_regressor.py"
    assert script.read_text() in (HOW_TO / "bring-your-own-regressor.md").read_text()
    run = subprocess.run(
        [sys.executable, "-W", "error", str(script)], capture_output=True, text=True, check=True
    )
    first, second = run.stdout.splitlines()
    # Linear models are misspecified: the page says that a class with steps has less regret, on the same
    # rounds.
    linear = simulate(
        EpsilonFalcon(epsilon=0.1),
        StepExample(),
        1600,
        n_replications=10,
        checkpoints=[800],
    )
    assert float(first.rpartition(" ")[2]) < 800 * linear.late_regret(0.5).mean()
    assert int(second.rpartition(" ")[2]) <= 20


@pytest.mark.parametrize(
    ("finding", "limits"),
    [
        ("mean weight", known_limits.MEAN_WEIGHT),
        ("expected effective rows", known_limits.EXPECTED_ROWS),
        ("rows the value rests on", known_limits.MATCHING_ROWS),
        ("rare rows drawn", known_limits.DRAWN_SHARE),
        ("expected spread", known_limits.SPREAD),
        ("calibration", known_limits.CALIBRATION_Z),
        ("missing rewards, propensities", known_limits.MISSING),
        ("change over time", known_limits.CHANGE_Z),
    ],
)
def test_the_page_on_verdicts_names_the_limits_of_each_finding(
    finding: str, limits: known_limits.Limits
) -> None:
    lines = (HOW_TO / "evaluate-a-log.md").read_text().splitlines()
    (row,) = [line for line in lines if line.startswith(f"| {finding} |")]
    *_, caution, distrust, _ = row.split("|")
    for cell, limit in ((caution, limits.caution), (distrust, limits.distrust)):
        number = re.search(r"[\d.]+", cell)
        assert number is not None
        assert float(number[0]) / (100.0 if "%" in cell else 1.0) == pytest.approx(limit)
