"""`simulate` against a loop over epochs in bare NumPy."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from benchmarks.environments import NAMES, STEP, TEN, PotentialOutcomes
from benchmarks.epoch_loop import Setting, cumulative_regret, linear_setting, step_setting
from benchmarks.rows import Quantity, Race, Row, require
from gyrfalcon import EpsilonFalcon
from gyrfalcon.simulation.replications import simulate

N_CHECKED, CHECKED_ROUNDS = 20, 50_000


def setting_of(outcomes: PotentialOutcomes) -> Setting:
    return step_setting() if outcomes is STEP else linear_setting(TEN)


@cache
def agreement(outcomes: PotentialOutcomes) -> str:
    """What both sides' regret is; a Disagreement if the means are 5 standard errors apart."""
    ours = simulate(EpsilonFalcon(), outcomes, CHECKED_ROUNDS, N_CHECKED, seed=1).regret[:, -1]
    setting = setting_of(outcomes)
    theirs = np.array([cumulative_regret(setting, CHECKED_ROUNDS, seed)[-1] for seed in range(N_CHECKED)])
    error = np.hypot(ours.std(ddof=1), theirs.std(ddof=1)) / np.sqrt(N_CHECKED)
    means = f"{ours.mean():,.0f} and {theirs.mean():,.0f}, standard error of the difference {error:,.0f}"
    require(abs(ours.mean() - theirs.mean()) < 5.0 * error, f"the regrets differ: {means}.")
    return f"regret after {CHECKED_ROUNDS:,} rounds {means}"


def against_hand(outcomes: PotentialOutcomes, n_rounds: int) -> Race:
    ours = partial(simulate, EpsilonFalcon(), outcomes, n_rounds, seed=0)
    theirs = partial(cumulative_regret, setting_of(outcomes), n_rounds, 0)
    return Race(ours, theirs, note=agreement(outcomes), n_ours=n_rounds, n_theirs=n_rounds)


ROWS = [
    Row(
        key=f"simulate {n_rounds:.0e} / NumPy by hand: {NAMES[environment]}",
        ours=f"simulate Epsilon-FALCON, {NAMES[environment]}, {n_rounds:,} rounds",
        theirs="the same in bare NumPy, by epochs",
        prepare=partial(against_hand, environment, n_rounds),
        quantity=Quantity.TIMES_FASTER,
        limit=0.7,
        most_pairs=most_pairs,
    )
    for environment in (STEP, TEN)
    for n_rounds, most_pairs in ((100_000, None), (1_000_000, 5))
]
