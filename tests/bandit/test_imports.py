"""What a bandit needs is imported when it is made or loaded: no decision and no reward waits for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gyrfalcon import Bandit

PLAY = """
import random, sys
from gyrfalcon import Bandit
bandit = {made}
def modules():
    return {{name for name in sys.modules if name.partition(".")[0] in ("numpy", "scipy", "gyrfalcon")}}
before, rng = modules(), random.Random(1)
for event in range({n}):
    decision = bandit.decide({{"x": rng.random(), "y": rng.random()}})
    bandit.reward(decision.event_id, rng.random())
    bandit.wait()
print(bandit.status().n_refits, *sorted(modules() - before))
"""


@pytest.mark.parametrize("made", ["new", "loaded", "background"])
def test_nothing_is_imported_between_construction_and_the_refits(made: str, tmp_path: Path) -> None:
    plain = "Bandit(['a', 'b'], features=['x', 'y'], seed=1)"
    code = {"new": plain, "background": plain.replace(")", ", refit='background')")}.get(made)
    if code is None:
        Bandit(["a", "b"], features=["x", "y"], seed=1).save(tmp_path / "bandit")
        code = f"Bandit.load({str(tmp_path / 'bandit')!r})"
    text = PLAY.format(made=code, n=60)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    n_refits, *imported = done.stdout.split()
    assert int(n_refits) >= 5
    assert imported == []
