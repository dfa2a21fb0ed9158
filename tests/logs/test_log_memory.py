"""Memory of writing and reading logs, which does not grow with the log."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LIMIT = 300
"""Megabytes at most."""
ROWS = 3_000_000
"""Ten features and five probabilities each: as arrays they would be over 400 MB."""

PEAK = """
def peak():
    from pathlib import Path
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024
"""
WRITE = """
import sys
import numpy as np
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.logs import DecisionTable, LogWriter

rng, names = np.random.default_rng(1), tuple(f"x{place}" for place in range(10))
with LogWriter(sys.argv[1]) as writer:
    for first in range(0, int(sys.argv[2]), 50_000):
        shares = rng.dirichlet(np.ones(5), size=50_000)
        action = rng.integers(5, size=50_000)
        writer.append(DecisionTable(
            actions=tuple("abcde"), contexts=Contexts(rng.normal(size=(50_000, 10))), action=action,
            reward=rng.random(50_000), propensity=shares[np.arange(50_000), action], distribution=shares,
            features=names, round=np.arange(first, first + 50_000), time=np.arange(50_000.0) + first))
print(peak())
"""
READ = """
import sys
from gyrfalcon.logs import LogReader

total = sum(len(table) for table in LogReader(sys.argv[1]).tables())
assert total == int(sys.argv[2]), total
print(peak())
"""
KEEP = """
import sys
from gyrfalcon import LinUCB, simulate
from gyrfalcon.bandit import audit_decision_log
from gyrfalcon.environments import StepExample

simulate(LinUCB(), StepExample(), int(sys.argv[2]) // 10, keep_log=sys.argv[1])
report = audit_decision_log(sys.argv[1])
assert report.passed
assert report.n_equal == int(sys.argv[2]) // 10
print(peak())
"""


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell of peaks")
@pytest.mark.parametrize("codes", [(WRITE, READ), (KEEP,)], ids=["tables", "a simulation and its audit"])
def test_large_logs_need_little_memory(codes: tuple[str, ...], tmp_path: Path) -> None:
    for code in codes:
        command = [sys.executable, "-c", PEAK + code, str(tmp_path), str(ROWS)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        assert int(done.stdout) < LIMIT
