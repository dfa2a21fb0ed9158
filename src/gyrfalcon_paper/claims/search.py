"""Appendix D: Algorithm 2 as printed on random problems, beside the exact fit and our own search."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.solvers.algorithm_2 import printed_search
from gyrfalcon.oracles.solvers.constrained import constrained_least_squares
from gyrfalcon.oracles.solvers.dual_search import DualFit, dual_search
from gyrfalcon_paper.claims.claim import Finding, Verdict, at_most
from gyrfalcon_paper.claims.exact import Ends

KAPPA = 1e-6
"""The threshold that Algorithm 2 is run with, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Solution:
    """A weighted regression's risks."""

    active_risk: float
    passive_risk: float


@dataclass(frozen=True, slots=True)
class Regressions:
    """Active and passive rows of a linear class, and the slack; calling it is the weighted regression."""

    X: Floats
    r: Floats
    X_passive: Floats
    r_passive: Floats
    slack: float

    def __call__(self, multiplier: float) -> Solution:
        """The regression of least active risk + multiplier passive risk."""
        n, n_passive = len(self.r), len(self.r_passive)
        if multiplier == math.inf:
            rows, target = self.X_passive, self.r_passive
        else:
            weight = math.sqrt(multiplier * n / n_passive)
            rows = np.concatenate([self.X, weight * self.X_passive])
            target = np.concatenate([self.r, weight * self.r_passive])
        fitted = np.linalg.lstsq(rows, target, rcond=None)[0]
        return Solution(
            float(((self.X @ fitted - self.r) ** 2).mean()),
            float(((self.X_passive @ fitted - self.r_passive) ** 2).mean()),
        )


@dataclass(frozen=True, slots=True)
class Race:
    """One problem: the exact multiplier and optimum, and what both searches found."""

    problem: Regressions
    exact: float
    """lambda*."""
    optimum: float
    """The least active risk within the constraint."""
    printed: DualFit[Solution]
    ours: DualFit[Solution]

    @property
    def binds(self) -> bool:
        """Whether the constraint changes the fit."""
        return self.exact > 0.0


def algorithm_2(
    n_problems: int,
    kappa: float = KAPPA,
    printed_factor: float = 3.0,
    accuracy: float = 1.0,
    tolerance: float = 1.5,
    beyond: float = 1.0,
    dual_at: float = 1.0,
) -> list[Finding]:
    """Every claim about Algorithm 2, on the same problems; tolerances are multiples of kappa.

    The dual is compared with the optimum at `dual_at` times the optimal multiplier.
    """
    races = [race(seed, kappa) for seed in range(n_problems)]
    binding = [each for each in races if each.binds]
    ends = [exact_ends(each, kappa) for each in binding]
    return [
        _duality(races, dual_at),
        _regressions(binding, kappa, printed_factor),
        _accuracy(binding, ends, accuracy * kappa),
        _feasible(binding, ends, tolerance * kappa),
        _inactive([each for each in races if not each.binds], tolerance * kappa),
        _right_end(ends, beyond * kappa),
        _our_accuracy(binding),
    ]


def race(seed: int, kappa: float = KAPPA) -> Race:
    """Both searches and the exact fit on one problem."""
    problem = random_regressions(seed)
    exact = constrained_least_squares(
        problem.X, problem.r, problem.X_passive, problem.r_passive, problem.slack
    )
    optimum = float(((problem.X @ exact.coefficients - problem.r) ** 2).mean())
    printed = printed_search(problem, problem.slack, kappa=kappa)
    return Race(problem, exact.multiplier, optimum, printed, dual_search(problem, problem.slack))


def random_regressions(seed: int) -> Regressions:
    """A problem whose truth differs between active and passive rows; play may hardly vary some features.

    Every third problem has enough slack that the constraint may not bind.
    """
    rng = np.random.default_rng([50, seed])
    d = int(rng.integers(1, 9))
    n, n_passive = int(rng.integers(4 * d + 4, 200)), int(rng.integers(2 * d + 2, 80))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-2.0 * (seed % 2), 0.0, size=d)
    X_passive = rng.standard_normal((n_passive, d))
    truth, drift = rng.standard_normal(d), 10.0 ** rng.uniform(-2.0, 0.0) * rng.standard_normal(d)
    r = X @ truth + 0.5 * rng.standard_normal(n)
    r_passive = X_passive @ (truth + drift) + 0.5 * rng.standard_normal(n_passive)
    largest = 4.0 if seed % 3 == 0 else -0.5
    return Regressions(X, r, X_passive, r_passive, float(10.0 ** rng.uniform(largest - 4.5, largest)))


def exact_ends(each: Race, kappa: float) -> Ends:
    """Where Algorithm 2 ends on a problem in 40-digit arithmetic."""
    problem = each.problem
    return Ends.of(problem.X, problem.r, problem.X_passive, problem.r_passive, problem.slack, kappa)


def _duality(races: list[Race], at: float) -> Finding:
    largest = max(abs(_dual(each, at * each.exact) - each.optimum) / each.optimum for each in races)
    return Finding("algorithm-2-duality", largest < 1e-7, {"largest_gap": largest, "problems": len(races)})


def _dual(each: Race, multiplier: float) -> float:
    fit = each.problem(multiplier)
    return fit.active_risk + multiplier * (fit.passive_risk - each.printed.alpha - each.problem.slack)


def _regressions(binding: list[Race], kappa: float, factor: float) -> Finding:
    """A doubling is one regression, a halving two: factor log2 of the multiplier, and what kappa requires."""
    counts, ours = (
        np.array([fit.n_regressions for fit in fits])
        for fits in ([each.printed for each in binding], [each.ours for each in binding])
    )
    fixed = 2.0 * math.log2(1.0 / kappa) + 12.0
    allowed = np.array([factor * math.log2(max(each.exact, 1.0)) + fixed for each in binding])
    worst = float((counts / allowed).max())
    numbers = {
        "median": float(np.median(counts)),
        "most": float(counts.max()),
        "largest_ratio_to_bound": worst,
        "our_median": float(np.median(ours)),
        "our_most": float(ours.max()),
    }
    return Finding("algorithm-2-regressions", at_most(worst, 1.0), numbers)


def _accuracy(binding: list[Race], ends: list[Ends], allowed: float) -> Finding:
    double = np.array([abs(each.printed.multiplier - each.exact) for each in binding])
    exact = [end.within(allowed) for end in ends]
    numbers = {
        "problems": len(binding),
        "within_in_40_digits": sum(exact),
        "within_in_double_precision": int((double <= allowed).sum()),
        "furthest_off_in_double_precision": float(double.max()),
        "largest_excess_over_slack_with_kappa_1e-12": max(map(excess_at_finer_kappa, binding[:20])),
    }
    holds = exact_or_double(all(exact), bool((double <= allowed).all()))
    return Finding("algorithm-2-accuracy", holds, numbers)


def exact_or_double(exact: bool, double: bool) -> bool | Verdict:
    """Whether a claim holds in exact arithmetic, and whether double precision alone contradicts it."""
    return Verdict.DOUBLE_PRECISION_ONLY if exact and not double else exact


def excess_at_finer_kappa(each: Race, kappa: float = 1e-12) -> float:
    """Passive excess over slack of what Algorithm 2 returns with a smaller kappa."""
    fit = printed_search(each.problem, each.problem.slack, kappa=kappa)
    return fit.excess / each.problem.slack


def _feasible(binding: list[Race], ends: list[Ends], tolerance: float) -> Finding:
    """Excess of what is returned against that of a multiplier this much below the optimal one."""
    allowed = np.array(
        [end.excess(max(each.exact - tolerance, 0.0)) for each, end in zip(binding, ends, strict=True)]
    )
    exact = np.array([end.excess(end.middle) for end in ends]) <= allowed
    double = np.array([each.printed.excess for each in binding]) <= allowed * (1.0 + 1e-9)
    numbers = {
        "problems": len(binding),
        "within_in_40_digits": int(exact.sum()),
        "within_in_double_precision": int(double.sum()),
        "largest_excess_over_slack": max(each.printed.excess / each.problem.slack for each in binding),
    }
    return Finding("algorithm-2-feasible", exact_or_double(bool(exact.all()), bool(double.all())), numbers)


def _inactive(idle: list[Race], tolerance: float) -> Finding:
    largest = max(each.printed.multiplier for each in idle)
    numbers = {
        "problems": len(idle),
        "largest_multiplier": largest,
        "median_regressions": float(np.median([each.printed.n_regressions for each in idle])),
    }
    return Finding("algorithm-2-inactive", largest <= tolerance, numbers)


def _right_end(ends: list[Ends], beyond: float) -> Finding:
    kept = [end.keeps(float(end.right) + beyond) for end in ends]
    numbers = {
        "problems": len(ends),
        "kept": sum(kept),
        "share_kept_by_right_end": float(np.mean([end.keeps(end.right) for end in ends])),
        "share_kept_by_middle": float(np.mean([end.keeps(end.middle) for end in ends])),
    }
    return Finding("algorithm-2-right-end", all(kept), numbers)


def _our_accuracy(binding: list[Race]) -> Finding:
    over = max(each.ours.excess / each.problem.slack for each in binding)
    off = max(abs(each.ours.solution.active_risk / each.optimum - 1.0) for each in binding)
    numbers = {"largest_excess_over_slack": over, "largest_error_of_active_risk": off}
    return Finding("algorithm-2-corrected", over <= 1.0 and off < 1e-7, numbers)
