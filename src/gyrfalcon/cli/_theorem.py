"""Theorem 2 for one problem: its bounds side by side, and sentences that interpret them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from gyrfalcon.cli._output import number
from gyrfalcon.core.schedules import passive_count
from gyrfalcon.theory import (
    RegretBound,
    TunedRate,
    Variant,
    constants,
    epochwise_regret_bound,
    gamma,
    optimal_epsilon,
    regret_bound,
    slack,
    tuned_rate,
    unit_gamma,
    unit_slack,
)

_MOST_ROUNDS = 10**150
"""Where a search over horizons gives up: floats end where its square does."""
_COVERED = (
    "The theorem is for convex classes of models with values in [0, 1]. `Linear` is unbounded, so that the "
    "theorem is not proved of it."
)


@dataclass(frozen=True, slots=True)
class EpochRates:
    """The rounds of an epoch, counted from 1, the gamma that plays it and the slack after it."""

    index: int
    start: int
    stop: int
    gamma: float
    unit_gamma: float
    n_passive: int
    slack: float
    unit_slack: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Theorem:
    """The quantities in Theorem 2 for one problem, in the theory's own symbols."""

    T: int
    K: int
    comp: float
    b: float
    epsilon: float
    delta: float
    tau_1: int
    rho: float
    rho_prime: float
    C: float

    def bound(self, variant: Variant = "corrected") -> RegretBound:
        """The regret bound in closed form."""
        return regret_bound(**asdict(self), variant=variant)

    def bounds(self) -> dict[str, RegretBound]:
        """The bound as it can be proved, as it is printed, and summed epoch by epoch."""
        return {
            "corrected": self.bound(),
            "printed": self.bound("paper"),
            "epoch_by_epoch": epochwise_regret_bound(**asdict(self)),
        }

    def tuned(self) -> TunedRate:
        """Corollary 1: the rate when epsilon follows b."""
        return tuned_rate(self.T, self.K, self.comp, self.b, self.delta, self.rho, self.rho_prime)

    @property
    def optimal_epsilon(self) -> float:
        """The passive share that balances the rates."""
        return optimal_epsilon(self.b, self.K, self.rho)

    @property
    def unclipped_epsilon(self) -> float:
        """The optimal passive share by its formula alone, which may be above one half."""
        return optimal_epsilon(self.b, self.K, self.rho, clip=False)

    @property
    def vacuous(self) -> bool:
        """Whether the bound says no more than that no round costs more than 1."""
        return self.bound().total >= self.T

    def meaningful_from(self) -> int | None:
        """The rounds from which on the bound is below T, to three digits; None if there are none.

        The bound per round falls with T, down to the cost of passive rounds and misspecification.
        """
        low, high = 1, _MOST_ROUNDS
        if replace(self, T=high).vacuous:
            return None
        while high - low > max(1, low // 1000):
            middle = math.isqrt(low * high) if high > 4 * low else (low + high) // 2
            low, high = (middle, high) if replace(self, T=middle).vacuous else (low, middle)
        return high

    def epochs(self) -> Iterator[EpochRates]:
        """The epochs of Algorithm 1 up to T: each is as long as all before it together."""
        index, start, stop, n_before = 1, 0, self.tau_1, 0
        while start < self.T:
            yield self._rates(index, start, stop, n_before)
            index, start, stop, n_before = index + 1, stop, 2 * stop, stop - start

    def sentences(self) -> list[str]:
        """Sentences that interpret the bounds and the passive share."""
        return [*self._about_bound(), *self._about_epsilon(), _COVERED]

    def _rates(self, index: int, start: int, stop: int, n_before: int) -> EpochRates:
        n_passive = passive_count(self.epsilon, stop - start)
        known = (self.comp, index, self.delta, self.rho, self.rho_prime)
        return EpochRates(
            index,
            start + 1,
            min(stop, self.T),
            gamma(n_before, self.K, *known, C=self.C),
            unit_gamma(n_before, self.K, *known),
            n_passive,
            slack(n_passive, *known, C=self.C),
            unit_slack(n_passive, *known),
        )

    def _about_bound(self) -> list[str]:
        total = self.bound().total
        if total < self.T:
            return [f"The bound is not vacuous: at most {total / self.T:.3g} per round."]
        excess = (
            f"The bound is vacuous: {number(total / self.T)} per round, and no round can cost more than 1."
        )
        rounds = self.meaningful_from()
        if rounds is not None:
            return [f"{excess} It is meaningful from about {rounds:.2e} rounds on."]
        limit = self._limit_per_round()
        return [
            f"{excess} More rounds do not help: passive rounds and misspecification alone come to "
            f"{limit:,.3g} per round. The rates alone are the column with constants 1."
        ]

    def _limit_per_round(self) -> float:
        """The bound per round in the limit of many rounds."""
        k = constants(self.rho, self.rho_prime, self.C)
        rate = self.bound().rate
        return self.epsilon + k.C_10 * rate.misspecification / self.T

    def _about_epsilon(self) -> list[str]:
        best, formula = self.optimal_epsilon, self.unclipped_epsilon
        text = f"The optimal passive share for b = {self.b:g} and K = {self.K} is epsilon = {best:.4g}"
        if formula > 0.5:
            text += f" (the formula's {formula:.3g} is above one half, which no share may reach)"
        elif formula < best:
            text += " (the smallest that is allowed: a class that is nearly right needs no passive rounds)"
        tuned = self.tuned()
        corollary = f"Corollary 1's rate is then {number(tuned.total)}, {tuned.total / self.T:.3g} per round."
        return [f"{text}. {corollary}"]
