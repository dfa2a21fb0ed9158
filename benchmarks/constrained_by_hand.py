"""Sums over rows and the constrained fit, in the few lines that one experiment needs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints

C_BETA = 0.5
_RIDGE = 1e-10


@dataclass(frozen=True, slots=True)
class Sums:
    """Rows, X'r, r'r and X'X of each action."""

    n: Floats
    cross: Floats
    squares: Floats
    gram: Floats

    @staticmethod
    def none(n_actions: int, width: int) -> Sums:
        K, d = n_actions, width
        return Sums(np.zeros(K), np.zeros((K, d)), np.zeros(K), np.zeros((K, d, d)))

    def add(self, X: Floats, action: Ints, reward: Floats) -> None:
        for k in range(len(self.n)):
            own = np.flatnonzero(action == k)
            x, r = X.take(own, axis=0), reward.take(own)
            self.n[k] += len(own)
            self.cross[k] += r @ x
            self.squares[k] += r @ r
            self.gram[k] += x.T @ x


def constrained(active: Sums, passive: Sums, index: int, delta: float) -> Floats:
    """The active fit within the slack of the passive one, (K, d).

    In coordinates where the sum of both mean Gram matrices is the identity and the passive one is diagonal,
    e, the fit for a multiplier is a ratio, and the passive excess a sum of squares.
    """
    n, m, d = active.n.sum(), passive.n.sum(), active.cross.shape[1]
    P = passive.gram / m
    root = np.linalg.inv(np.linalg.cholesky(active.gram / n + P + _RIDGE * np.eye(d)))
    e, Q = np.linalg.eigh(root @ P @ root.mT)
    back = root.mT @ Q
    a, p = _across(back, active.cross / n), _across(back, passive.cross / m)
    e = np.where(e > 1e-8, e, 0.0)
    best = np.divide(p, e, out=np.zeros_like(p), where=e > 0.0)
    alpha = float(passive.squares.sum() / m - (p * best).sum())
    multiplier = _multiplier(a - (1.0 - e) * best, e, _slack(alpha, active, passive, index, delta))
    z = (a + multiplier * p) / np.maximum(1.0 - e + multiplier * e, 1e-12)
    fit: Floats = (back @ z[..., None])[..., 0]
    return fit


def _across(back: Floats, cross: Floats) -> Floats:
    moved: Floats = (back.mT @ cross[..., None])[..., 0]
    return moved


def _slack(alpha: float, active: Sums, passive: Sums, index: int, delta: float) -> float:
    n, m, d = active.n.sum(), passive.n.sum(), active.cross.size
    if m >= 2 * d:
        variance = m * alpha / (m - d)
    else:
        mean = (active.cross[:, 0].sum() + passive.cross[:, 0].sum()) / (n + m)
        variance = (active.squares.sum() + passive.squares.sum()) / (n + m) - mean**2
    return float(C_BETA * variance * math.log(12.0 * index**2 / delta) * d / m)


def _multiplier(u: Floats, e: Floats, slack: float) -> float:
    """The root of sum e (u / (1 - e + multiplier e))^2 = slack, by Newton's method on its inverse root."""
    u, e = u[e > 0.0], e[e > 0.0]
    multiplier = 0.0
    for _ in range(50):
        curve = np.maximum(1.0 - e + multiplier * e, 1e-12)
        squares = e * (u / curve) ** 2
        excess = squares.sum()
        if excess <= slack * (1.0 + 1e-9):
            break
        multiplier += (math.sqrt(excess / slack) - 1.0) * excess / (squares * e / curve).sum()
    return multiplier
