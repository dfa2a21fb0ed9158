"""Appendix E, live: where learners end that are left to the data of their own play."""

from __future__ import annotations

from gyrfalcon.environments.paper import SensitivityExample
from gyrfalcon.learners.falcon import Falcon
from gyrfalcon.learners.optimistic.lints import LinTS
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.simulation.simulate import simulate
from gyrfalcon_paper.claims.claim import Claim, exceeds_0
from gyrfalcon_paper.claims.runs import decided, told

LIVE: dict[str, Learner] = {"LinUCB": LinUCB(), "LinTS": LinTS(), "FALCON": Falcon()}


def live_loop(
    name: str,
    theta: float,
    n_replications: int,
    n_rounds: int,
    printed: float = SensitivityExample.claimed_regret,
) -> list[Claim]:
    """Regret a round of a learner in its own loop on Appendix E's example, over the last quarter."""
    late = n_rounds - n_rounds // 4
    trace = simulate(
        LIVE[name], SensitivityExample(theta), n_rounds, n_replications, seed=83, checkpoints=[late, n_rounds]
    )
    regret = trace.regret_per_round[:, -1]
    holds = exceeds_0(regret - printed)
    why = " Where action 1 is bad, playing it brings data that correct its line." if holds is False else ""
    return [
        Claim(
            key=f"live-{name.lower()}-theta-{theta:g}",
            source="Appendix E, live loop",
            statement=f"Left to its own data, {name} ends with a regret above {printed} a round as well "
            f"(theta = {theta:g}).",
            computed=f"{told(regret)} a round in the last quarter of {n_rounds:,} rounds",
            holds=holds,
            note=f"Not claimed by the paper, though a reader may expect it.{why} {decided(holds)}",
            numbers={"late_regret": float(regret.mean())},
        )
    ]
