"""Who plays in the environments of practice: three by default, and anybody by name."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.regret.ablations import ABLATIONS
from benchmarks.regret.contestants import AUTO, BASELINE, CONTESTANTS, LINEAR, Contestant, ours
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon

SHORT = {"auto": AUTO, "linear": LINEAR, "linucb": BASELINE}
"""Those that play by default, by what they may be called."""
HALF_LIFE = "half-lives"
_COST = next(one.milliseconds for one in CONTESTANTS if one.name == AUTO)
HALF_LIVES = tuple(
    ours(f"{AUTO}, half-life {rounds}", AdaptiveFalcon(half_life=float(rounds)), _COST)
    for rounds in (500, 1000, 2000, 4000, 8000)
)
"""What a choice of the half-life from the data is measured by."""


def chosen(names: Sequence[str]) -> list[Contestant]:
    """The contestants of these names; "half-lives" are all of these."""
    known = {one.name.lower(): one for one in (*CONTESTANTS, *HALF_LIVES, *ABLATIONS)}
    found: dict[str, Contestant] = {}
    for name in names:
        if name == HALF_LIFE:
            found |= {one.name: one for one in HALF_LIVES}
            continue
        one = known.get(SHORT.get(name, name).lower())
        if one is None:
            listed = "; ".join(other.name for other in known.values())
            raise ValueError(
                f"--contestants has {name!r}; give {', '.join(SHORT)}, {HALF_LIFE}, or one of {listed}."
            )
        found[one.name] = one
    return list(found.values())
