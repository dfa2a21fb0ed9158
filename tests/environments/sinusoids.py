"""What the best line leaves of the wave sin(w . x + phase) on the box (-1, 1)^p, in closed form."""

from __future__ import annotations

import math

import numpy as np

from gyrfalcon.core.arrays import Floats


def wave_error(w: Floats, phase: float) -> float:
    """The mean squared error of the line next to sin(w . x + phase), x uniform on (-1, 1)^p.

    With s(w) = sin(w) / w, E e^(i w.x) is the product of the s(w_j), and E x e^(iwx) = i (s(w) - cos(w)) / w.
    Features are independent with variance 1/3, so that each takes 3 E[x_j f]^2 of the variance.
    """
    level = math.sin(phase) * sines(w).prod()
    square = (1.0 - math.cos(2.0 * phase) * sines(2.0 * w).prod()) / 2.0
    slopes = [
        math.cos(phase) * (sines(w)[j] - math.cos(w[j])) / w[j] * np.delete(sines(w), j).prod()
        for j in range(len(w))
    ]
    return float(square - level**2 - 3.0 * np.square(slopes).sum())


def sines(w: Floats) -> Floats:
    return np.asarray(np.sinc(w / math.pi))
