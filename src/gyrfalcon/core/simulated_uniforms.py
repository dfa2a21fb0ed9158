"""Uniforms of simulated decisions: two streams of a replication, for actions and for coins."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.epochs import Epoch, Mixture, PassiveDesign
from gyrfalcon.core.policies.limited import control_share_of
from gyrfalcon.core.sampling import UNIFORMS_PER_DECISION

N_COINS = UNIFORMS_PER_DECISION - 1
"""Uniforms of a decision besides that of its action."""


def action_generator(seed: int) -> np.random.Generator:
    """The random stream by which a learner's actions are drawn, one number in each round."""
    return np.random.default_rng([seed, 1])


def coin_generator(seed: int) -> np.random.Generator:
    """The random stream of coins, two numbers in each round of an epoch that needs them."""
    return np.random.default_rng([seed, 2])


def needs_coins(epoch: Epoch) -> bool:
    """Whether an epoch flips coins before it draws actions: for bases, passive rounds or a control share."""
    coins = epoch.passive_design is PassiveDesign.COIN and epoch.passive_share > 0.0
    return coins or control_share_of(epoch.policy) > 0.0 or isinstance(epoch.policy, Mixture)


def uniforms_again(seed: int, rounds: Ints, n_coined: int | None) -> Floats:
    """The uniforms of these rounds as a simulation drew them, (n, 3).

    Parameters
    ----------
    seed
        Seed of the replication.
    rounds
        Rounds of the decisions, at least one, in increasing order.
    n_coined
        Rounds before the first of these that drew coins; None if these rounds draw none, and none of their
        coins is looked at.

    Examples
    --------
    >>> drawn = action_generator(7).random(10)
    >>> bool((uniforms_again(7, np.array([3, 8]), None)[:, 2] == drawn[[3, 8]]).all())
    True
    """
    first, last = int(rounds[0]), int(rounds[-1])
    uniforms = np.zeros((len(rounds), UNIFORMS_PER_DECISION))
    uniforms[:, N_COINS] = _skipped(action_generator(seed), first).random(last - first + 1)[rounds - first]
    if n_coined is not None:
        coins = _skipped(coin_generator(seed), n_coined * N_COINS)
        uniforms[:, :N_COINS] = coins.random((len(rounds), N_COINS))
    return uniforms


def _skipped(generator: np.random.Generator, n_numbers: int) -> np.random.Generator:
    """The generator after as many uniforms, each of which takes one step."""
    bits = generator.bit_generator
    assert isinstance(bits, np.random.PCG64)
    bits.advance(n_numbers)
    return generator
