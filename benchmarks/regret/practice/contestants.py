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
PARTS = "parts"


def without(name: str, learner: AdaptiveFalcon) -> Contestant:
    """The default learner with a part switched off."""
    return ours(f"{AUTO}: {name}", learner, _COST)


WITHOUT_A_PART = (
    without("nothing forgotten", AdaptiveFalcon(half_life=None)),
    without("no bonus", AdaptiveFalcon(bonus=0.0)),
    without("gate never open", AdaptiveFalcon(gate="never")),
    without("no splines or Fourier features", AdaptiveFalcon(classes=("linear", "quadratic"))),
    without("no logistic class", AdaptiveFalcon(classes=("linear", "mixed"))),
)
"""The default learner with one of its parts switched off each."""


def chosen(names: Sequence[str]) -> list[Contestant]:
    """The contestants of these names; "half-lives" and "parts" are all of these."""
    known = {one.name.lower(): one for one in (*CONTESTANTS, *HALF_LIVES, *WITHOUT_A_PART, *ABLATIONS)}
    groups = {HALF_LIFE: HALF_LIVES, PARTS: WITHOUT_A_PART}
    found: dict[str, Contestant] = {}
    for name in names:
        if name in groups:
            found |= {one.name: one for one in groups[name]}
            continue
        one = known.get(SHORT.get(name, name).lower())
        if one is None:
            listed = "; ".join(other.name for other in known.values())
            raise ValueError(
                f"--contestants has {name!r}; give {', '.join((*SHORT, *groups))}, or one of {listed}."
            )
        found[one.name] = one
    return list(found.values())
