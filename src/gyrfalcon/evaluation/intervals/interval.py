"""An interval for one number, with its level and the method that it comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """Bounds of an unknown mean, which cover it with probability `level`.

    Parameters
    ----------
    low, high : float
        The bounds, in the units of the contributions.
    level : float
        The probability of covering, such as 0.95.
    method : str
        The name of the method.

    Examples
    --------
    >>> interval = Interval(0.25, 0.75, level=0.95, method="normal")
    >>> interval, interval.width, 0.3 in interval
    (Interval(0.25, 0.75, level=0.95, method='normal'), 0.5, True)
    """

    low: float
    high: float
    level: float
    method: str

    def __repr__(self) -> str:
        bounds = f"{self.low:.6g}, {self.high:.6g}"
        return f"Interval({bounds}, level={self.level:g}, method={self.method!r})"

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        """The distance between the two bounds."""
        return self.high - self.low

    @classmethod
    def around(cls, center: float, radius: float, level: float, method: str) -> Interval:
        """The symmetric interval with a center and a radius."""
        return cls(float(center - radius), float(center + radius), float(level), method)
