"""The two environments in which simulations are timed."""

from __future__ import annotations

from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.synthetic.families import LinearEnvironment

PotentialOutcomes = StepExample | LinearEnvironment

STEP = StepExample()
TEN = LinearEnvironment(n_actions=10, n_features=20)
NAMES = {STEP: "Section 1.1", TEN: "10 actions, 20 features"}
