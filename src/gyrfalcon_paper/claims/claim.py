"""A claim of the paper and what its computation says; how samples decide, and claims as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

import numpy as np

from gyrfalcon.core.arrays import Floats

ERROR_RATE = 0.001
"""How often a sample may decide wrongly, for each claim that is decided by one."""

ROUNDING = 1e-9
"""How far beyond an inequality or a printed number rounding may go, relative to its size."""

SOURCES = (
    *("Section 1", "Section 1.1", "Section 1.2", "Section 2", "Theorem 1", "Corollary 1", "Theorem 2"),
    *(f"Example {number}" for number in (1, 2, 3)),
    *("Section 3", "Appendix A.1", "Appendix A.2", "Appendix A.3"),
    *(f"Lemma {number}" for number in range(1, 13)),
    *("Appendix B.9", "Lemma 13", "Corollary 2", "Lemma 14", "Appendix D", "Appendix E"),
)
"""Where claims stand, in the paper's order; a source may go on after a comma."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One row of the table of claims.

    Parameters
    ----------
    key
        Its name in claims.json.
    source
        Where the paper has it: an entry of SOURCES, and after a comma what more there is to say.
    statement
        What is claimed, in a sentence of our own.
    computed
        What came out, with the number.
    holds
        Whether that agrees; None where it could not be decided, for the reason that the note gives.
    note
        The form that does hold where the paper slips, or what else a reader should know.
    numbers
        What was computed, by name.

    Examples
    --------
    >>> Claim(key="b", source="Section 1.1", statement="b is 1/32.", computed="1/32", holds=True).note
    ''
    """

    key: str
    source: str
    statement: str
    computed: str
    holds: bool | None
    note: str = ""
    numbers: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.holds is not None and type(self.holds) is not bool:
            raise TypeError(f"holds is {self.holds!r} in {self.key}; give True, False or None.")
        if self.source.split(",")[0] not in SOURCES:
            raise ValueError(f"source is {self.source!r} in {self.key}; begin with one of SOURCES.")
        bad = [name for name, number in self.numbers.items() if not math.isfinite(number)]
        if bad:
            raise ValueError(f"numbers[{bad[0]!r}] is {self.numbers[bad[0]]} in {self.key}; give a number.")

    @property
    def place(self) -> tuple[int, bool]:
        """Where in the paper it stands: the place of its source, and whether it is a step of a proof."""
        source, *rest = self.source.split(",")
        return SOURCES.index(source), source.startswith("Lemma") and bool(rest)


def inequality(key: str, source: str, statement: str, worst: float, n_problems: int, note: str = "") -> Claim:
    """The claim that left sides never exceed right sides, from their largest ratio over random problems.

    >>> inequality("k", "Lemma 1", "x is at most y.", worst=0.5, n_problems=1000).computed
    'largest ratio of the two sides: 0.5, in 1,000 random problems'
    """
    return Claim(
        key=key,
        source=source,
        statement=statement,
        computed=f"largest ratio of the two sides: {shown(worst)}, in {n_problems:,} random problems",
        holds=at_most(worst, 1.0),
        note=note,
        numbers={"largest_ratio": worst, "n_problems": n_problems},
    )


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
    """The same for the difference of the means behind two independent samples, by Welch's t.

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
    """Whether so many failures in n trials would be no surprise if each had at most this probability.

    >>> as_rare_as(0, 100, 0.01), as_rare_as(10, 100, 0.01)
    (True, False)
    """
    from scipy.special import bdtrc

    return n_failures == 0 or bool(bdtrc(n_failures - 1, n, probability) >= ERROR_RATE)


def shown(number: float) -> str:
    """The number in four digits.

    >>> shown(0.0405694), shown(1234567.0), shown(2.0)
    ('0.04057', '1.235e+06', '2')
    """
    return f"{number:.4g}"


def times(factor: float, what: str) -> str:
    """A multiple in words; once is the thing itself.

    >>> times(1.0, "K b"), times(0.5, "K b")
    ('K b', '0.5 K b')
    """
    return what if factor == 1.0 else f"{shown(factor)} {what}"


def claims_json(claims: Iterable[Claim]) -> str:
    """The claims as JSON: sorted keys, null where one is undecided, numbers to ten digits, rounding noise 0.

    >>> row = Claim(key="b", source="Section 1.1", statement="b is 1/3.", computed="", holds=None)
    >>> '"holds": null' in claims_json([row])
    True
    """
    rows = [asdict(claim) for claim in claims]
    for row in rows:
        row["numbers"] = {name: _rounded(number) for name, number in row["numbers"].items()}
    return json.dumps(rows, indent=2, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n"


def _rounded(number: float) -> float:
    return float(f"{number:.10g}") if abs(number) > 1e-14 else 0.0
