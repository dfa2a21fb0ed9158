"""Assumption 1 for the paper's model classes: their exponents, complexity and learning rates.

All of these rates are for convex classes of models with values in [0, 1], as Lemma kol, its corollary and
Lemma kol-psi-bound have them. Of the classes in this library, none is exactly that:

* `Linear` is unbounded. Assumption 1 fails for it under some distributions of contexts (see `linear`), so
  that neither Theorem 1 nor Theorem 2 is proved of it.
* A regressor of `StumpHull` is bounded by its budget on both sides of a constant, which is free.
* Trees and means predict within the range of the rewards: bounded, but not convex.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypedDict

from gyrfalcon.core.validation import check_positive, check_whole
from gyrfalcon.theory.checks import check_exponents
from gyrfalcon.theory.constants import C_LINEAR


class Settings(TypedDict):
    """Quantities of Assumption 1 under the parameter names of learners and bounds.

    Attributes
    ----------
    C : float
        Constant of Assumption 1.
    rho : float
        Exponent rho of Assumption 1; 1 for a linear class.
    rho_prime : float
        Exponent rho' of the logarithm in Assumption 1; 0 for a linear class.
    comp : float
        Complexity of the model class; of a linear one, its number of coefficients.
    """

    C: float
    rho: float
    rho_prime: float
    comp: float


@dataclass(frozen=True, slots=True)
class Rates:
    """Learning rate of a model class, C ln^rho' n ln(1/z) comp / n^rho with probability 1 - z (Assumption 1).

    The class is convex and its models have values in [0, 1].

    Parameters
    ----------
    rho : float
        Exponent rho of Assumption 1; 1 for a linear class.
    rho_prime : float
        Exponent rho' of the logarithm in Assumption 1; 0 for a linear class.
    comp : float
        Complexity of the model class; of a linear one, its number of coefficients.
    C : float, optional
        Constant of Assumption 1; None where the paper leaves it unspecified, and only rates can be had.
    psi_scale : float, default 1.0
        Constant of psi-sharp, 1 where it is known up to constants.

    Examples
    --------
    >>> Rates(rho=0.5, rho_prime=0.0, comp=3.0).psi_sharp(1.0, 9)
    1.0
    """

    rho: float
    rho_prime: float
    comp: float
    C: float | None = None
    psi_scale: float = 1.0

    def __post_init__(self) -> None:
        check_exponents(self.rho, self.rho_prime)
        check_positive("comp", self.comp)
        check_positive("psi_scale", self.psi_scale)
        if self.C is not None:
            check_positive("C", self.C)

    def psi_sharp(self, epsilon: float, n: int) -> float:
        """The excess risk from which n rows estimate the class to a relative error epsilon.

        Corollary kol-linear and Lemma kol-psi-bound: comp ln^rho'(n epsilon^2 / comp) / (n epsilon^2)^rho
        times psi_scale. The logarithm is at least 1; as printed it turns negative for few rows.

        >>> linear(4).psi_sharp(1 / 16, 1000)
        524.288
        """
        check_positive("epsilon", epsilon)
        check_whole("n", n, floats=True)
        rows = n * epsilon**2
        logarithm = max(math.log(rows / self.comp), 1.0)
        return self.psi_scale * self.comp * math.pow(logarithm, self.rho_prime) / math.pow(rows, self.rho)

    def threshold(self, n: int, z: float) -> float:
        """The excess risk eta from which on n rows tell models apart, with probability 1 - z (Lemma kol).

        max(psi_sharp(1/16), 16384 ln(2/z) / n); a rate only where psi_scale is.

        >>> round(linear(4).threshold(10**6, 0.05), 6)
        0.524288
        """
        if not 0.0 < z < 0.5:
            raise ValueError(f"z is {z}; the learning rates hold for confidences in (0, 0.5), such as 0.05.")
        return max(self.psi_sharp(1.0 / 16.0, n), 16384.0 * math.log(2.0 / z) / n)

    def settings(self, C: float | None = None) -> Settings:
        """C, rho, rho_prime and comp by name, to be unpacked into a learner or `regret_bound`.

        >>> linear(8, C=1.0).settings()
        {'C': 1.0, 'rho': 1.0, 'rho_prime': 0.0, 'comp': 8.0}
        """
        chosen = self.C if C is None else C
        if chosen is None:
            raise ValueError("C is None; the paper leaves it open for this class, so give settings(C=...).")
        check_positive("C", chosen)
        return Settings(C=chosen, rho=self.rho, rho_prime=self.rho_prime, comp=self.comp)


def linear(d: int, C: float = C_LINEAR) -> Rates:
    """Rates of a convex set of models with values in [0, 1] in a d-dimensional linear space.

    d counts the coefficients of all actions. psi_sharp is at most 512 d / (n epsilon^2) (Corollary
    kol-linear).

    Parameters
    ----------
    d : int
        Number of coefficients of all actions together.
    C : float, default C_LINEAR
        Constant of Assumption 1.

    Examples
    --------
    >>> linear(8).comp, linear(8).rho
    (8.0, 1.0)

    The set of all linear functions is no such set, and Assumption 1 fails for it. Let f = w x, where x is
    sqrt(N) with probability 1/N and else 0, so that E x^2 = 1, and let the mean reward be 0. Among n rows
    there is probably none with x > 0. Then every w has the same empirical risk, while its excess risk is w^2:

    >>> N, n = 10**6, 1000
    >>> round((1 - 1 / N) ** n, 3), round(2 * linear(1).threshold(n, 0.05)), 100.0**2
    (0.999, 262, 10000.0)

    With w = 100 the empirical excess risk is 0, and with probability 0.999, not 0.05, the excess risk is
    above what Assumption 1 allows, twice the threshold. Models with values in [0, 1] have w <= 1 / sqrt(N)
    and an excess risk of at most 1/N. The features need not be large: x in {0, 1} and w sqrt(N) is the same.
    """
    check_whole("d", d, floats=True)
    return Rates(rho=1.0, rho_prime=0.0, comp=float(d), C=C, psi_scale=512.0)


def vc_subgraph(V: int) -> Rates:
    """Rates of a convex class of VC-subgraph dimension V, with values in [0, 1] (Example 1).

    Parameters
    ----------
    V : int
        VC-subgraph dimension.

    Examples
    --------
    >>> vc_subgraph(3)
    Rates(rho=1.0, rho_prime=1.0, comp=3.0, C=None, psi_scale=1.0)
    """
    check_whole("V", V, floats=True)
    return Rates(rho=1.0, rho_prime=1.0, comp=float(V))


def vc_hull(V: int) -> Rates:
    """Rates of the convex hull of a class of VC-subgraph dimension V, with values in [0, 1] (Example 2).

    Parameters
    ----------
    V : int
        VC-subgraph dimension.

    Examples
    --------
    >>> vc_hull(2)
    Rates(rho=0.6666666666666666, rho_prime=0.0, comp=1.5874010519681994, C=None, psi_scale=1.0)
    """
    check_whole("V", V, floats=True)
    rho = (2.0 + V) / (2.0 + 2.0 * V)
    return Rates(rho=rho, rho_prime=0.0, comp=math.pow(V, rho))


def entropy(s: float) -> Rates:
    """Rates of a convex class of empirical entropy at most r^(-2s) at radius r, values in [0, 1] (Example 3).

    Parameters
    ----------
    s : float
        Entropy exponent.

    Examples
    --------
    >>> entropy(0.25).rho
    0.8
    """
    if not 0.0 < s < 1.0:
        raise ValueError(f"s is {s}; Example 3 has an entropy exponent in (0, 1), for example 0.5.")
    return Rates(rho=1.0 / (1.0 + s), rho_prime=0.0, comp=1.0)
