"""AdaptiveFalcon with one ingredient switched off each, in the linear class alone; and our LinUCB's."""

from __future__ import annotations

from typing import Any

from benchmarks.regret.contestants import BASELINE, CONTESTANTS, LINEAR, REFITS, Contestant, ours
from benchmarks.regret.textbook import TextbookLinUCB
from gyrfalcon.core.schedules import Doubling
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.oracles.linear.linear import Linear

_COST = next(one.milliseconds for one in CONTESTANTS if one.name == LINEAR)


def without(name: str, **settings: Any) -> Contestant:
    """AdaptiveFalcon in the linear class, but for these settings."""
    learner = AdaptiveFalcon(classes=("linear",), **settings)
    return ours(f"{LINEAR}: {name}", learner, _COST)


ABLATIONS = (
    without("no bonus", bonus=0.0),
    without("gate never open", gate="never"),
    without("gate always open", gate="always"),
    without("share does not decay", decay=0.0),
    without("share not raised by the gate", epsilon=0.03),
    without("share by Corollary 1", epsilon="corollary"),
    # Without passive rows there is nothing that the gate could be opened by.
    without("no passive rows", epsilon=0.0, floor=0.0, gate="never"),
    without("refits at doublings", schedule=Doubling(16)),
    without("gamma scale 100", c_gamma=100.0),
    without("fits of the last epoch", data="last_epoch"),
    # Quick refits leave few rows in an epoch; the paper's epochs double.
    without("fits of the last epoch, at doublings", data="last_epoch", schedule=Doubling(16)),
    without("passive rows of the last epoch", passive_data="last_epoch"),
    without("passive tail", passive_design="tail"),
    ours(
        f"{BASELINE}: not standardised",
        LinUCB(alpha=0.3, schedule=REFITS, model_class=Linear(standardise=False)),
        (0.012, 0.07, 0.04),
        slow=True,
    ),
    Contestant(f"{BASELINE}: textbook", "gyrfalcon", TextbookLinUCB(0.3), (0.07, 0.15, 0.12), slow=True),
    Contestant(
        f"{BASELINE}: textbook after 16 uniform rounds",
        "gyrfalcon",
        TextbookLinUCB(0.3, n_uniform=16),
        (0.07, 0.15, 0.12),
        slow=True,
    ),
)
"""They take part only when asked for, and are compared with the preset as it is."""
