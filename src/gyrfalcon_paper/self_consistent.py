"""Section 1.1's self-consistent policy: greedy play whose own data bring back the line that it plays by.

If action 1 is played above s, its rows have x uniform on (s, 1), and the least-squares line of a step at 0.5
through them has the value (1 - 3 (0.5 - s) / (1 - s)) / (2 (1 - s)) at s. It switches there again if that is
the 0.5 of action 2, which is s^2 - 4 s + 3/2 = 0, so s = 2 - sqrt(5/2). Between s and 0.5 play loses 0.5.
"""

from __future__ import annotations

import math

SWITCH = 2.0 - math.sqrt(2.5)
"""0.418861: above it, action 1 is played."""

REGRET = 0.5 * (0.5 - SWITCH)
"""0.040569 a round: what learners that fit all their rows settle at."""
