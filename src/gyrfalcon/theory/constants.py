"""The constants of the paper's proofs; each names the lemma that fixes it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gyrfalcon.core.validation import check_positive, check_whole
from gyrfalcon.theory.checks import Variant, check_exponents, check_variant

A = 2.0 + math.log(12.0)
"""What turns ln(12 m^2 / delta) into ln(m / delta) (proof of Lemma ConReg)."""


def c_linear(z: float = 0.5, d: int = 1) -> float:
    """C of Assumption 1 for d linear coefficients: the least that serves every confidence below z.

    C d ln(1/z) >= max(131072 d, 16384 ln(2/z)) is what Lemma kol and Corollary kol-linear need; the left
    side grows fastest as z falls, so the largest z decides. Algorithm 1 uses z = delta / (12 m^2) only.

    Parameters
    ----------
    z : float, default 0.5
        Largest confidence parameter.
    d : int, default 1
        Number of coefficients.

    Examples
    --------
    >>> round(c_linear(), 2), round(c_linear(0.05 / 12), 2)
    (189096.92, 23915.46)
    """
    if not 0.0 < z <= 0.5:
        raise ValueError(f"z is {z}; the learning rates hold for confidences in (0, 0.5], for example 0.05.")
    check_whole("d", d, floats=True)
    return max(131072.0, 16384.0 * math.log(2.0 / z) / d) / math.log(1.0 / z)


C_LINEAR = c_linear(0.5)
"""131072 / ln 2: C of a linear class at every confidence (Appendix, learning rates)."""

C_LINEAR_EPOCHS = c_linear(1.0 / 24.0)
"""131072 / ln 24: C of a linear class at the confidences delta / (12 m^2) of epochs, for delta <= 0.5."""


def c_1(c: float = C_LINEAR) -> float:
    """C_1 = 3 C / 2, the constant of the slack (Lemma ConReg).

    Parameters
    ----------
    c : float, default C_LINEAR
        Constant C of Assumption 1.

    Examples
    --------
    >>> round(c_1(), 2)
    283645.39
    """
    check_positive("C", c)
    return 1.5 * c


def c_5(c: float = C_LINEAR, rho: float = 1.0) -> float:
    """C_5 = 2 C 4^rho (2 + ln 12) (Lemma ConReg).

    Parameters
    ----------
    c : float, default C_LINEAR
        Constant C of Assumption 1.
    rho : float, default 1.0
        Exponent rho of Assumption 1; 1 for a linear class.

    Examples
    --------
    >>> round(c_5(), 1)
    6784656.4
    """
    check_positive("C", c)
    check_exponents(rho, 0.0)
    return 2.0 * c * math.pow(4.0, rho) * A


def c_3(c: float = C_LINEAR, rho: float = 1.0) -> float:
    """C_3 = 1 / (4 C_5), the constant of gamma (Lemma reg-est-accuracy).

    Parameters
    ----------
    c : float, default C_LINEAR
        Constant C of Assumption 1.
    rho : float, default 1.0
        Exponent rho of Assumption 1; 1 for a linear class.

    Examples
    --------
    >>> round(c_3() * 1e8, 6)
    3.684785
    """
    return 1.0 / (4.0 * c_5(c, rho))


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """All constants of the proof of Theorem 2 for one class; the paper has no C_2.

    Attributes
    ----------
    rho : float
        Exponent rho of Assumption 1; 1 for a linear class.
    rho_prime : float
        Exponent rho' of the logarithm in Assumption 1; 0 for a linear class.
    variant : {'corrected', 'paper'}
        'corrected', or 'paper' for the constants as printed.
    C : float
        Constant of Assumption 1.
    C_0 : float
        Lemma policy-reg-bound.
    C_1 : float
        Lemma ConReg: constant of the slack.
    L_1 : float
        Lemma ConReg.
    C_3 : float
        Lemma reg-est-accuracy: constant of gamma.
    C_4 : float
        Lemma ConReg.
    C_5 : float
        Lemma ConReg.
    C_6 : float
        Lemma boundVopt.
    C_7 : float
        Lemma boundVall.
    C_8 : float
        Lemma policy-reg-bound.
    C_9 : float
        Lemma policy-reg-bound.
    C_10 : float
        Lemma QmRegTrue.

    Examples
    --------
    >>> constants().C_10 - constants().C_8
    2.5
    """

    rho: float
    rho_prime: float
    variant: Variant
    C: float
    C_0: float
    C_1: float
    L_1: float
    C_3: float
    C_4: float
    C_5: float
    C_6: float
    C_7: float
    C_8: float
    C_9: float
    C_10: float


def constants(
    rho: float = 1.0, rho_prime: float = 0.0, C: float = C_LINEAR, variant: Variant = "corrected"
) -> Constants:
    """The smallest constants that the proof's conditions allow.

    "paper" takes each condition as printed, "corrected" with the sqrt(B) term that the first half of the
    induction drops. The second half requires more than either, so that the two agree in every value; what
    the variants change is delta's range and `kappa`.

    Parameters
    ----------
    rho : float, default 1.0
        Exponent rho of Assumption 1; 1 for a linear class.
    rho_prime : float, default 0.0
        Exponent rho' of the logarithm in Assumption 1; 0 for a linear class.
    C : float, default C_LINEAR
        Constant of Assumption 1.
    variant : {'corrected', 'paper'}, default 'corrected'
        'corrected', or 'paper' for the constants as printed.

    Examples
    --------
    >>> k = constants()
    >>> round(k.C_6, 7), round(k.C_7, 7), round(k.C_8, 7), constants(variant="paper").C_8 == k.C_8
    (1.8660254, 3.4494897, 40.359203, True)
    """
    check_exponents(rho, rho_prime)
    check_variant(variant)
    C_1, C_3, C_5 = c_1(C), c_3(C, rho), c_5(C, rho)
    L_1 = 2.0 * max(C, C_1)
    C_4 = 2.0 * L_1 * A
    C_6 = 1.0 + 2.0 * math.sqrt(C_3 * C_4)
    C_7 = 1.0 + 4.0 * math.sqrt(math.pow(2.0, 1.0 + rho_prime) * C_3 * C_4)
    C_9 = 2.5
    C_8 = max(c_8_first(C_6, C_7, C_9, variant), c_8_second(C_7, C_9))
    return Constants(
        rho=rho,
        rho_prime=rho_prime,
        variant=variant,
        C=C,
        C_0=5.125,
        C_1=C_1,
        L_1=L_1,
        C_3=C_3,
        C_4=C_4,
        C_5=C_5,
        C_6=C_6,
        C_7=C_7,
        C_8=C_8,
        C_9=C_9,
        C_10=C_8 + C_9,
    )


def c_8_first(C_6: float, C_7: float, C_9: float, variant: Variant) -> float:
    """The least C_8 for the bound on true regret, the first half of Lemma policy-reg-bound's induction.

    14/3 sqrt(B) stands beside it and must be absorbed, by sqrt(B) <= sqrt(K B / sqrt(eps^rho)); as printed
    it is forgotten.

    >>> c_8_first(1.0, 1.0, 2.5, "corrected"), c_8_first(1.0, 1.0, 2.5, "paper")
    (29.0, 15.0)
    """
    absorbed = 14.0 if variant == "corrected" else 0.0
    return (C_9 + 5.0) * (math.sqrt(C_6) + math.sqrt(C_7)) + absorbed


def c_8_second(C_7: float, C_9: float) -> float:
    """The least C_8 for the bound on estimated regret, the second half of that induction.

    >>> c_8_second(1.0, 2.5)
    27.5
    """
    return 2.0 * math.sqrt(C_7) * (C_9 + 5.0) + 3.0 * C_9 + 5.0


LINEAR_CONSTANTS = constants()
"""The constants of a linear class."""
