"""Finality of outcomes: which rows a fit may read so that quick rewards are not counted before slow ones.

Where silence counts as a reward once a timeout is up, rewarded rows alone are a biased sample: those who buy
answer within a minute, those who don't never do. So a row enters a fit only when its outcome is final, and
rows enter in the order of their decisions: a fit then reads whole cohorts.
"""

from __future__ import annotations

import math

from gyrfalcon.core.arrays import Bools


def final_time(
    decided: float, rewarded: float | None, timeout: float | None, *, said_final: bool = False
) -> float:
    """The time from which on nothing can change an outcome any more; infinity if there is none yet.

    Parameters
    ----------
    decided
        Time of the decision.
    rewarded
        Time of its reward; None as long as there is none.
    timeout
        How long after its decision an event expires; None waits without limit.
    said_final
        Whether the reward was given as the last word on this event.

    Examples
    --------
    Without a timeout, a reward is the outcome. With one, the outcome of a quick reward is final no sooner
    than that of a missing one, unless whoever gave the reward said so.

    >>> final_time(100.0, 160.0, None), final_time(100.0, None, None)
    (160.0, inf)
    >>> final_time(100.0, 160.0, 3600.0), final_time(100.0, None, 3600.0)
    (3700.0, 3700.0)
    >>> final_time(100.0, 160.0, 3600.0, said_final=True)
    160.0
    """
    expires = math.inf if timeout is None else decided + timeout
    if rewarded is not None and (timeout is None or said_final):
        return min(rewarded, expires)
    return expires


def final_prefix(is_final: Bools) -> int:
    """Number of leading rows, in the order of their decisions, whose outcomes are all final.

    Under a timeout a fit may read these rows and no others. Final rows further on wait for those before
    them: outcomes that are final sooner than others would be counted first, which is the bias to avoid.

    Parameters
    ----------
    is_final
        (n,) whether the outcome of each row is final, in the order of decisions.

    Examples
    --------
    >>> import numpy as np
    >>> final_prefix(np.array([True, True, False, True])), final_prefix(np.array([True]))
    (2, 1)
    """
    return len(is_final) if is_final.all() else int(is_final.argmin())
