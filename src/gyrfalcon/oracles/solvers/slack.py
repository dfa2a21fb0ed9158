"""How far above the best passive risk a fit may go: what the best in-class model exceeds it by, from noise.

With n' passive rows the passive excess of the best in-class model is about sigma^2 chi2_d / n', so slack in
these units keeps that model feasible with the required confidence. The paper's own slack has the same form
with a constant in place of sigma^2 (`theory.unit_slack`).
"""

from __future__ import annotations

import math

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.oracles.protocol import Noise, S
from gyrfalcon.oracles.solvers.moments import Moments


def noise_of_parameters(alpha: float, n_parameters: int, active: S, passive: S) -> Noise:
    """sigma^2 = n' alpha / (n' - d) from passive residuals, or the variance of all rewards.

    The latter when n' < 2 d, as with few rows per coefficient the residuals say more about the fit than about
    the noise, and when there are no residuals: rare rewards are all the same for long, or are few enough to
    be fitted without error.
    """
    n_passive = passive.n
    if n_passive >= 2 * n_parameters and alpha > 1e-10 * passive.reward_variance:
        return Noise(n_passive * alpha / (n_passive - n_parameters), n_parameters)
    return Noise((active + passive).reward_variance, n_parameters)


def noise_of_halves(n_passive: float, alpha: float, exchanged: float) -> Noise:
    """sigma^2 and degrees of freedom from alpha and the risk of each half of the rows under the other's fit.

    With f = degrees / n', alpha is about sigma^2 (1 - f) and the exchanged risk sigma^2 (1 + 2 f), as half
    the rows make twice the error. A class that interpolates has f = 1.

    >>> noise_of_halves(100, alpha=0.75, exchanged=1.5)
    Noise(variance=1.0, degrees=25.0)
    """
    share = (exchanged - alpha) / (exchanged + 2.0 * alpha) if exchanged > alpha else 0.0
    share = min(max(share, 1.0 / n_passive), 1.0)
    return Noise(exchanged / (1.0 + 2.0 * share), share * n_passive)


def chi_square_slack(variance: float, n_parameters: float, n_passive: float, log_confidence: float) -> float:
    """sigma^2 q / n', with q the chi-square quantile of d degrees at 1 - exp(-log_confidence).

    >>> round(chi_square_slack(0.01, 1, 100, math.log(1 / 0.05)), 6)
    0.000384
    """
    if n_passive <= 0.0:
        return math.inf
    from scipy.special import gammainccinv

    quantile = 2.0 * float(gammainccinv(n_parameters / 2.0, math.exp(-log_confidence)))
    return variance * quantile / n_passive


def sandwich_slack(spectrum: Floats, n_passive: float, log_confidence: float) -> float:
    """(sum mu + 2 sqrt(L sum mu^2) + 2 L max mu) / n': the tail of sum mu_j chi2_1 (Laurent and Massart).

    With all mu equal to sigma^2 it is sigma^2 (d + 2 sqrt(d L) + 2 L) / n'.

    >>> round(sandwich_slack(np.full(4, 0.01), 100, 3.0), 6)
    0.001693
    """
    if n_passive <= 0.0:
        return math.inf
    top = float(spectrum.max(initial=0.0))
    tail = 2.0 * math.sqrt(log_confidence * float((spectrum**2).sum())) + 2.0 * log_confidence * top
    return (float(spectrum.sum()) + tail) / n_passive


def sandwich_spectrum(passive: Moments, scatter: Floats) -> Floats:
    """Eigenvalues of A^-1/2 Omega A^-1/2 over all blocks: the noise of each direction, equal or not.

    `scatter` is Omega = sum e^2 phi phi', (B, d, d), with residuals e of the passive fit.
    """
    scale = np.sqrt(np.maximum(np.einsum("bii->bi", passive.gram), np.finfo(np.float64).tiny))
    outer = scale[:, :, np.newaxis] * scale[:, np.newaxis, :]
    values, vectors = np.linalg.eigh(passive.gram / outer)
    keep = values > 1e-10 * values[:, -1:]
    whiten = vectors * (keep / np.sqrt(np.where(keep, values, 1.0)))[:, np.newaxis, :]
    spectrum: Floats = np.linalg.eigvalsh(np.swapaxes(whiten, 1, 2) @ (scatter / outer) @ whiten)
    return np.maximum(spectrum, 0.0).ravel()
