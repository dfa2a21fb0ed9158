"""Limits of the numbers that a verdict looks at: where caution begins, and where trust ends.

`python -m benchmarks.coverage_study` measures how often MinVar intervals hold the truth at each level. What
lowers that is a spread far below the expected one, a mean weight off 1, and few expected rows. One row that
counts for much does not by itself, as the interval is wide with it, so that its limits are far.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from gyrfalcon.evaluation.verdict.verdict import Level


@dataclass(frozen=True, slots=True)
class Limits:
    """Two limits of a number: where caution begins, and where trust ends.

    >>> Limits(0.2, 0.5).level(0.3), Limits(100, 30).level(12)
    ('caution', 'do not trust')
    """

    caution: float
    distrust: float

    def level(self, value: float) -> Level:
        """The level of a value; limits that fall are lower ones."""
        sign = 1.0 if self.distrust >= self.caution else -1.0
        if sign * value >= sign * self.distrust:
            return "do not trust"
        return "caution" if sign * value >= sign * self.caution else "trust"


MEAN_WEIGHT = Limits(0.2, 0.5)
"""Distance of the mean weight to what is expected."""
SMALL_DISTANCE = 0.05
"""Distance of the mean weight that is no matter, unless it is surely none of chance."""
SURE_Z = Limits(3.0, 5.0)
"""Standard errors that chance hardly reaches."""
EXPECTED_ROWS = Limits(35.0, 10.0)
MATCHING_ROWS = Limits(50.0, 20.0)
DRAWN_SHARE = Limits(0.5, 0.1)
"""Squared weights seen, over those expected."""
LARGEST_SHARE = Limits(0.1, 0.4)
SPREAD = Limits(1.2, 2.0)
"""Expected standard error over the observed one; where trust ends, without rows too rare to be drawn."""
SPREAD_WITH_BIAS = Limits(1.2, 4.0)
"""The same, with the most that rows too rare to be drawn add."""
TAIL_SHARE = Limits(0.5, math.inf)
"""Share of one row in the estimated variance; nothing but a far reward ends trust."""
FAR_REWARD = Limits(0.3, 0.5)
"""Share of one row in the squared distances of rewards to predictions, where the policy's actions are."""
UNSUPPORTED = Limits(1e-9, 0.01)
MISSING = Limits(0.02, 0.2)
CALIBRATION_Z = Limits(3.5, 5.0)
CALIBRATION_P = Limits(1e-3, 1e-6)
"""p-value of all tests of propensities together, by action, epoch, size and feature."""
CHANGE_Z = Limits(4.0, 8.0)
