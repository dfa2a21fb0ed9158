"""Scripts that how-to pages show run as shown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from gyrfalcon import EpsilonFalcon, simulate
from gyrfalcon.environments import StepExample

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
