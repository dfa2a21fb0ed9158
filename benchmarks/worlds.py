"""The two worlds in which simulations are timed."""

from __future__ import annotations

from gyrfalcon.environments.families import LinearWorld
from gyrfalcon.environments.paper import StepExample

World = StepExample | LinearWorld

STEP = StepExample()
TEN = LinearWorld(n_actions=10, n_features=20)
NAMES = {STEP: "Section 1.1", TEN: "10 actions, 20 features"}
