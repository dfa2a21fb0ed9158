"""Write the stored files of the newest format version: `python -m tests.storage.make_files`.

The files of a version are written once, when its format is frozen, and never again: the test beside this file
loads those of every version. Until 0.1.0 is published, version 4 may still be written anew.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gyrfalcon import AdaptiveFalcon, Bandit, EpsilonFalcon, FixedBatch, Learner, LinTS, LinUCB, RegCB
from gyrfalcon.registry import ENTRIES
from gyrfalcon.storage.migrations import VERSION

FILES = Path(__file__).parent / "files"
LEARNERS: dict[str, Learner] = {
    "epsilon_falcon": EpsilonFalcon(schedule=FixedBatch(40)),
    "adaptive": AdaptiveFalcon(classes=("linear", "quadratic"), schedule=FixedBatch(40)),
    "linucb": LinUCB(schedule=FixedBatch(40)),
    "lints": LinTS(schedule=FixedBatch(40), n_draws=10),
    "regcb": RegCB(schedule=FixedBatch(40)),
}
N_DECISIONS = 30


def noon() -> float:
    """A clock that stands still, so that a file has no time of its own."""
    return 43_200.0


def played(learner: Learner) -> Bandit:
    """A bandit in its third epoch, some of whose decisions still wait for their rewards."""
    bandit = Bandit(["a", "b", "c"], learner=learner, features=["x", "y"], seed=7, clock=noon)
    for row, context in enumerate(contexts(100, seed=1)):
        decision = bandit.decide(context)
        if row % 10 < 9 or row < 80:
            bandit.reward(decision.event_id, float(decision.action == "abc"[row % 3]))
    return bandit


def decisions(bandit: Bandit) -> list[dict[str, Any]]:
    """What a bandit decides next, and with which probabilities."""
    rows = enumerate(contexts(N_DECISIONS, seed=2))  # a loaded bandit makes other ids, and draws by them
    made = [bandit.decide(context, event_id=f"visit {row}") for row, context in rows]
    return [{"event_id": one.event_id, "action": one.action, "propensity": one.propensity} for one in made]


def contexts(n: int, seed: int) -> list[dict[str, float]]:
    rows = np.random.default_rng([seed, 2024]).uniform(-1.0, 1.0, (n, 2)).round(3)
    return [{"x": float(x), "y": float(y)} for x, y in rows]


def stored_fields() -> dict[str, list[str]]:
    """The names under which the fields of every class stand in a file; none for an Enum."""
    classes = {entry.id: entry.load() for entry in ENTRIES if entry.id is not None}
    return {
        class_id: [field.name for field in fields(cls) if field.init] if is_dataclass(cls) else []
        for class_id, cls in classes.items()
    }


def main() -> None:
    folder = FILES / f"version-{VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    expected = {}
    for name, learner in LEARNERS.items():
        bandit = played(learner)
        bandit._live.engine.refit_seconds = 0.0  # so that the same learners give the same files
        bandit.save(folder / f"{name}.gyrfalcon")
        expected[name] = decisions(bandit)
    for name, data in {"decisions": expected, "fields": stored_fields()}.items():
        (folder / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
