"""What specification tests of a model class have found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecificationTest:
    """One test of the hypothesis that a model class holds the true mean rewards, b = 0.

    Attributes
    ----------
    method : str
        "reset" or "kernel".
    statistic : float
        The test statistic; large ones speak against the class.
    n_terms : int
        Number of added terms of "reset"; 0 for "kernel".
    p_value : float
        P value of this test alone.
    adjusted_p_value : float
        P value adjusted by Holm's rule for the number of tests.
    n_rows : int
        Number of rows used.
    """

    method: str
    statistic: float
    n_terms: int
    p_value: float
    adjusted_p_value: float
    n_rows: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SpecificationTests:
    """Tests of the hypothesis that a model class holds the true mean rewards, combined by Holm's rule.

    Attributes
    ----------
    p_value : float
        The smallest adjusted p value: that of the hypothesis b = 0.
    tests : tuple[SpecificationTest, ...]
        The tests that were made.
    p_values_by_action : dict[int, float]
        P values of "reset" within each action, by its position, not adjusted for their number; empty where
        actions share coefficients.
    rows : str
        Which rows were used.
    notes : tuple[str, ...]
        What needs attention.
    """

    p_value: float
    tests: tuple[SpecificationTest, ...]
    p_values_by_action: dict[int, float]
    rows: str
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        parts = [f"{one.method} p = {one.p_value:.3g}" for one in self.tests]
        return f"{type(self).__name__}(p = {self.p_value:.3g}; {', '.join(parts)})"

    def rejects(self, size: float = 0.05) -> bool:
        """Whether the class is rejected by a test of this size."""
        return self.p_value <= size


def holm_adjusted(p_values: Sequence[float]) -> list[float]:
    """P values adjusted by Holm's rule: one of them is at most alpha with probability at most alpha.

    >>> holm_adjusted([0.03, 0.01, 0.5])
    [0.06, 0.03, 0.5]
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min((len(p_values) - rank) * p_values[place], 1.0))
        adjusted[place] = largest
    return adjusted
