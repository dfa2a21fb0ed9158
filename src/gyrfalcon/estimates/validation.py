"""Validation of logged rows whose rewards are weighted by propensities: an error names row and remedy."""

from __future__ import annotations

import numpy as np

from gyrfalcon.core.arrays import Floats


def check_propensities(propensities: Floats) -> None:
    """Refuse propensities (n,) that are unknown or not in (0, 1]."""
    valid = (propensities > 0.0) & (propensities <= 1.0)
    if valid.all():
        return
    unknown = np.flatnonzero(np.isnan(propensities))
    if len(unknown):
        raise ValueError(
            f"row {unknown[0]}: the propensity is unknown, and {len(unknown)} of {len(propensities)} are; "
            "off-policy scores divide by it, so leave these rows out, with log.where(log.has_propensity) in "
            "a Log."
        )
    row = int(valid.argmin())
    raise ValueError(
        f"row {row}: the played action has a propensity of {propensities[row]}, which is not in (0, 1]; "
        "give the probability with which it was chosen, or leave the row out."
    )


def check_rewards(rewards: Floats) -> None:
    """Refuse rewards (n,) that are not finite."""
    finite = np.isfinite(rewards)
    if not finite.all():
        row = int(finite.argmin())
        raise ValueError(f"row {row}: the reward is {rewards[row]}; give a finite one, or leave the row out.")
