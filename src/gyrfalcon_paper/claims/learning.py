"""Assumption 1 and the learning rates behind it: Lemmas 13 and 14, Corollary 2, and linear models."""

from __future__ import annotations

import math

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.theory import C_LINEAR, c_linear, entropy, linear, vc_hull, vc_subgraph
from gyrfalcon_paper.claims.claim import Finding, as_rare_as, at_most, means, unless_vacuous
from gyrfalcon_paper.exhibits.inclusions import step_thresholds

N_COEFFICIENTS = 4


def constants_of_lemma_13(q: float = 2.0, printed: float = 16384.0) -> list[Finding]:
    """The three conditions that sigma = 4096 t q^2 / n meets, with t / n as the unit."""
    sigma = printed * q**2 / 4.0
    margin = 0.5 / (3.0 * q) - 1.0 / (6.0 * sigma)
    diameter = sigma / 2.0 * margin**2 / 32.0  # (D^2)-sharp is 0 from 32 on
    process = min(margin, sigma / 4.0 * margin**2) / (0.5 / (4.0 * q))
    numbers = {"diameter_over_needed": diameter, "process_over_needed": process}
    return [Finding("lemma-13-constants", min(diameter, process) >= 1.0, numbers)]


def tail_of_lemma_13(q: float = 2.0, printed: float = 0.5) -> list[Finding]:
    """Sum over j of exp(-t q^j) over zeta, with t = ln(2 / zeta), up to the printed zeta."""
    zetas = np.geomspace(1e-12, printed, 200)
    tails = np.exp(-np.log(2.0 / zetas)[:, np.newaxis] * q ** np.arange(60)).sum(axis=1)
    worst = float((tails / zetas).max())
    return [Finding("lemma-13-tail", at_most(worst, 1.0), {"largest_over_zeta": worst})]


def rademacher_average(n_draws: int, n: int = 200, printed: float = 1.0) -> list[Finding]:
    """E |mean of sign times phi| for orthonormal phi, over sqrt(d / n): psi_n of a linear class."""
    rng = np.random.default_rng(40)
    features = np.stack([_design(rng, n) for _ in range(n_draws)])
    signs = rng.choice([-1.0, 1.0], size=(n_draws, n))
    lengths = np.linalg.norm(np.einsum("dn,dnf->df", signs, features) / n, axis=1)
    found = means(share=lengths / math.sqrt(N_COEFFICIENTS / n))
    holds = found["share"] - 3.1 * found["share_se"] <= printed
    return [Finding("corollary-2-psi", holds, {**found, "psi_sharp": linear(1).psi_sharp(1 / 16, 1)})]


def range_of_zeta(printed: float = 0.999) -> list[Finding]:
    """The C that Corollary 2 gives Assumption 1 up to a confidence, for d = 1, beside that of zeta = 1/2."""
    return [_zeta("assumption-1-range", printed), _zeta("assumption-1-range-corrected", 0.4999999)]


def _zeta(key: str, zeta: float) -> Finding:
    needed = max(131072.0, 16384.0 * math.log(2.0 / zeta)) / math.log(1.0 / zeta)
    numbers = {"zeta": zeta, "C_needed": needed, "C": C_LINEAR, "enough_for_algorithm_1": c_linear(1 / 24)}
    return Finding(key, at_most(needed, C_LINEAR), numbers)


def rates_of_classes(printed: tuple[float, float, float] = (1.0, 0.75, 2.0 / 3.0)) -> list[Finding]:
    """The power of n in psi-sharp of a VC class (without its logarithm), a hull with V = 1, and s = 1/2."""
    n, factor, e = 10**9, 100, 1 / 16
    logarithm = math.log(factor * n * e**2 / 5.0) / math.log(n * e**2 / 5.0)
    vc = vc_subgraph(5).psi_sharp(e, n) / vc_subgraph(5).psi_sharp(e, factor * n) * logarithm
    others = [rate.psi_sharp(e, n) / rate.psi_sharp(e, factor * n) for rate in (vc_hull(1), entropy(0.5))]
    found = [math.log(ratio) / math.log(factor) for ratio in (vc, *others)]
    same = bool(np.allclose(found, printed, atol=1e-9))
    return [
        Finding("lemma-14", None if same else False, dict(zip(("vc", "hull", "entropy"), found, strict=True)))
    ]


def empirical_minimal_sets(printed_from_all: bool = True) -> list[Finding]:
    """Constants up to 1/2 within constants up to 1, where every reward is 1 and eta is 0.01."""
    constants = np.linspace(0.0, 1.0, 101)
    subset = constants <= 0.5
    risk = (1.0 - constants) ** 2
    empirical, population = (risk <= risk[subset].min() + slack for slack in (0.01, 2.0 * 0.01))

    def outside(key: str, from_all: bool) -> Finding:
        n_outside = int((empirical & (subset | from_all) & ~(population & subset)).sum())
        return Finding(key, n_outside == 0, {"models_outside": n_outside, "models": len(constants)})

    return [outside("minimal-sets", printed_from_all), outside("minimal-sets-corrected", False)]


def inclusions(n_draws: int, n: int = 400, zeta: float = 0.05, C: float = C_LINEAR) -> list[Finding]:
    """How often Assumption 1's inclusions hold for linear models on the step example under uniform play."""
    generators = [np.random.default_rng([41, sample]) for sample in range(n_draws)]
    thresholds = step_thresholds(n, generators).max(axis=1)
    unit = N_COEFFICIENTS * math.log(1.0 / zeta) / n
    failures = int((thresholds > C * unit).sum())
    enough = float(np.quantile(thresholds, 1.0 - zeta, method="inverted_cdf")) / unit
    numbers = {"slack": C * unit, "samples": n_draws, "failures": failures, "enough_C": enough}
    holds = unless_vacuous(as_rare_as(failures, n_draws, zeta), vacuous=C * unit >= 1.0)
    return [Finding("assumption-1-linear-models", holds, numbers)]


def models_without_bounds(
    n_draws: int, n: int = 400, rarity: float = 100.0, zeta: float = 0.05, C: float = C_LINEAR
) -> list[Finding]:
    """Assumption 1 for f = w x, where x is sqrt(N) once in N = `rarity` n rounds and else 0; rewards are 1/2.

    The population's excess risk is (w - w*)^2, a sample's is that times N / n for each row with x > 0. So a
    sample's minimal set for eta reaches as far as sqrt(eta over that factor), and without such a row to any
    w; among models with values in [0, 1], w is at most 1 / sqrt(N) and w* is half of that.
    """
    N = rarity * n
    factor = np.random.default_rng(42).binomial(n, min(1.0 / N, 1.0), size=n_draws) * N / n

    def failures(constant: float, largest_excess: float) -> int:
        eta = constant * math.log(1.0 / zeta) / n
        forward = factor * min(eta, largest_excess) > 1.5 * eta
        backward = np.minimum(eta / np.maximum(factor, 1e-300), largest_excess) > 2.0 * eta
        return int((forward | backward).sum())

    free, bounded = failures(C, math.inf), failures(1.0, 0.25 / N)
    numbers = {
        "N": N,
        "rows": n,
        "samples": n_draws,
        "share_without_such_a_row": float((factor == 0.0).mean()),
    }
    return [
        Finding("linear-range", as_rare_as(free, n_draws, zeta), {**numbers, "failures": free}),
        Finding(
            "linear-range-corrected", as_rare_as(bounded, n_draws, zeta), {**numbers, "failures": bounded}
        ),
    ]


def _design(rng: np.random.Generator, n: int) -> Floats:
    """Rows of uniform play with features that are orthonormal in the population."""
    x, action = rng.random(n), rng.integers(0, 2, size=n).astype(np.float64)
    own = math.sqrt(2.0) * np.stack([np.ones(n), math.sqrt(12.0) * (x - 0.5)], axis=1)
    return np.concatenate([own * (action == each)[:, np.newaxis] for each in (0.0, 1.0)], axis=1)
