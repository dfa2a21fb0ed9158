"""Claims as data: what a check found, the verdict on it, and how samples decide."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from gyrfalcon.core.arrays import Floats

ERROR_RATE = 0.001
"""How often a sample may decide wrongly, for each claim that is decided by one."""

ROUNDING = 1e-9
"""How far beyond an inequality or a printed number rounding may go, relative to its size."""


class Verdict(StrEnum):
    """What a computation says of a claim."""

    HOLDS = "holds"
    ERRATUM = "erratum"
    TYPO = "typo"
    DOUBLE_PRECISION_ONLY = "double_precision_only"
    VACUOUS = "vacuous"
    UNDECIDED = "undecided"

    @property
    def label(self) -> str:
        """The verdict in words."""
        return self.value.replace("_", " ")


LEGEND = {
    Verdict.HOLDS: "the check could fail and does not",
    Verdict.ERRATUM: "false as printed; the note, or the correction that follows, has what holds",
    Verdict.TYPO: "false to the letter, while the paper itself shows what is meant; nothing rests on it",
    Verdict.DOUBLE_PRECISION_ONLY: "fails in double precision only, and holds in 40-digit arithmetic",
    Verdict.VACUOUS: "true, but no outcome of this check could contradict it, for the reason in the note",
    Verdict.UNDECIDED: "this computation cannot tell",
}


class Kind(StrEnum):
    """Whose statement it is; verdicts are counted over the paper's own."""

    PAPER = "paper"
    CORRECTION = "correction"
    EXPECTATION = "expectation"


@dataclass(frozen=True, slots=True)
class Finding:
    """What the check of one claim found.

    Parameters
    ----------
    key
        The claim's entry in claims.toml.
    holds
        Whether the numbers agree with it; None if they cannot tell; a verdict where the check itself says
        which of the others applies.
    numbers
        What was computed, by name; `x_se` is the standard error of `x`.
    """

    key: str
    holds: bool | Verdict | None
    numbers: Mapping[str, float]

    def __post_init__(self) -> None:
        if self.holds is not None and type(self.holds) not in (bool, Verdict):
            raise TypeError(f"holds is {self.holds!r} in {self.key}; give True, False, None or a Verdict.")
        bad = [name for name, number in self.numbers.items() if not math.isfinite(number)]
        if bad:
            raise ValueError(f"numbers[{bad[0]!r}] is {self.numbers[bad[0]]} in {self.key}; give a number.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One row of the table: a statement of claims.toml, with what was computed and the verdict.

    Examples
    --------
    >>> row = Claim(
    ...     key="b", part="", place="Section 1.1", statement="", verdict=Verdict.HOLDS, numbers={"b": 1 / 32}
    ... )
    >>> row.computed
    'b: 0.03125'
    """

    key: str
    part: str
    place: str
    statement: str
    verdict: Verdict
    note: str = ""
    kind: Kind = Kind.PAPER
    numbers: Mapping[str, float] = field(default_factory=dict)

    @property
    def computed(self) -> str:
        """The numbers in words, standard errors in brackets behind what they belong to."""
        return "; ".join(
            f"{_words(name)}: {short_number(number)}{_error(self.numbers.get(f'{name}_se'))}"
            for name, number in self.numbers.items()
            if not name.endswith("_se")
        )


def verdict_counts(claims: Iterable[Claim]) -> dict[Verdict, int]:
    """How many of the paper's own claims have each verdict.

    >>> {verdict.label: count for verdict, count in verdict_counts([]).items()}["double precision only"]
    0
    """
    verdicts = [claim.verdict for claim in claims if claim.kind is Kind.PAPER]
    return {verdict: verdicts.count(verdict) for verdict in Verdict}


def inequality(key: str, worst: float, n_problems: int, **numbers: float) -> Finding:
    """The finding that left sides never exceed right sides, from their largest ratio over random problems.

    >>> inequality("lemma-1", worst=0.5, n_problems=1000).holds
    True
    """
    return Finding(key, at_most(worst, 1.0), {"largest_ratio": worst, "problems": n_problems, **numbers})


def unless_vacuous(holds: bool, *, vacuous: bool) -> bool | Verdict:
    """Whether a claim holds, unless nothing could have contradicted it."""
    return Verdict.VACUOUS if vacuous else holds


def at_most(left: float, right: float) -> bool:
    """Whether left <= right, up to rounding.

    >>> at_most(1.0 + 1e-12, 1.0), at_most(1.001, 1.0)
    (True, False)
    """
    return bool(left <= right + ROUNDING * max(abs(right), 1.0))


def agrees(computed: Floats | float | tuple[float, ...], printed: Floats | float | tuple[float, ...]) -> bool:
    """Whether numbers are the printed ones, up to rounding.

    >>> agrees((0.1 + 0.2, 1.0), (0.3, 1.0)), agrees(0.3, 0.31)
    (True, False)
    """
    return bool(np.allclose(computed, printed, rtol=ROUNDING, atol=ROUNDING))


def exceeds_0(sample: Floats) -> bool | None:
    """Whether the mean behind a sample is above 0; None if Student's t can't tell at ERROR_RATE either way.

    >>> exceeds_0(np.array([1.0, 1.1, 0.9, 1.0])), exceeds_0(np.array([1.0, -1.0, 2.0]))
    (True, None)
    """
    n = len(sample)
    return _side(float(sample.mean()), float(sample.var(ddof=1)) / n, n - 1.0) if n > 1 else None


def exceeds(first: Floats, second: Floats) -> bool | None:
    """Whether the first of two independent samples has the larger mean behind it, by Welch's t.

    >>> exceeds(np.array([1.0, 1.1, 0.9, 1.0]), np.array([0.5, 0.4, 0.6, 0.5]))
    True
    """
    if min(len(first), len(second)) < 2:
        return None
    squares = np.array([sample.var(ddof=1) / len(sample) for sample in (first, second)])
    shares = squares / max(float(squares.sum()), 1e-300)
    degrees = 1.0 / max(float((shares**2 / [len(first) - 1, len(second) - 1]).sum()), 1e-300)
    return _side(float(first.mean() - second.mean()), float(squares.sum()), degrees)


def _side(mean: float, squared_error: float, degrees: float) -> bool | None:
    """On which side of 0 a mean lies, if Student's t can tell."""
    from scipy.special import stdtrit

    distance = float(stdtrit(degrees, 1.0 - ERROR_RATE)) * math.sqrt(squared_error)
    return True if mean > distance else False if mean < -distance else None


def as_rare_as(n_failures: int, n: int, probability: float) -> bool:
    """Whether this many failures in n trials would be no surprise if each had at most this probability.

    >>> as_rare_as(0, 100, 0.01), as_rare_as(10, 100, 0.01)
    (True, False)
    """
    from scipy.special import bdtrc

    return n_failures == 0 or bool(bdtrc(n_failures - 1, n, probability) >= ERROR_RATE)


def all_hold(*parts: bool | None) -> bool | None:
    """True if all parts are, False if one is False, None if it can't be said.

    >>> all_hold(True, None), all_hold(False, None), all_hold(True, True)
    (None, False, True)
    """
    return False if False in parts else None if None in parts else True


def means(**samples: Floats) -> dict[str, float]:
    """Means of samples with their standard errors, as the numbers of a finding.

    >>> means(regret=np.array([1.0, 1.1, 1.2]))["regret"].__round__(6)
    1.1
    """
    found: dict[str, float] = {}
    for name, sample in samples.items():
        found[name] = float(sample.mean())
        if len(sample) > 1:
            found[f"{name}_se"] = float(sample.std(ddof=1)) / math.sqrt(len(sample))
    return found


def short_number(number: float) -> str:
    """The number in four digits, or all of them before the point.

    >>> tuple(map(short_number, (0.0405694, 123456.7, 2.0, 1e-17, 1e9)))
    ('0.04057', '123,457', '2', '0', '1e+09')
    """
    tidy = rounded(number)
    whole = tidy == round(tidy) or abs(tidy) >= 1e4
    return f"{tidy:,.0f}" if whole and abs(tidy) < 1e7 else f"{tidy:.4g}"


def rounded(number: float) -> float:
    """The number to ten digits; rounding noise becomes 0."""
    return float(f"{number:.10g}") if abs(number) > 1e-14 else 0.0


def _words(name: str) -> str:
    """A number's name without underscores, but for indices.

    >>> _words("gamma_3_over_gamma_2"), _words("power_of_T")
    ('gamma_3 over gamma_2', 'power of T')
    """
    return re.sub(r"(?<!C)(?<!gamma)(?<!tau)_|_(?!\d)", " ", name)


def _error(standard_error: float | None) -> str:
    return "" if standard_error is None else f" ({standard_error:.2g})"


def claims_json(claims: Iterable[Claim]) -> str:
    """The claims as JSON: sorted keys, numbers to ten digits.

    >>> row = Claim(key="b", part="", place="Section 1.1", statement="b is 1/3.", verdict=Verdict.UNDECIDED)
    >>> '"verdict": "undecided"' in claims_json([row])
    True
    """
    rows = [claim_row(claim) for claim in claims]
    return json.dumps(rows, indent=2, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n"


def claim_row(claim: Claim) -> dict[str, Any]:
    """One claim for machines."""
    names = ("key", "part", "place", "statement", "computed", "verdict", "note", "kind")
    numbers = {name: rounded(number) for name, number in claim.numbers.items()}
    return {**{name: getattr(claim, name) for name in names}, "numbers": numbers}
