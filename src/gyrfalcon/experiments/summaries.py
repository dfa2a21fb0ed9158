"""One number per replication, as a mean and its standard error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrfalcon.core.types import Floats


@dataclass(frozen=True, slots=True)
class Summary:
    """A mean over replications and its standard error; nan for a single replication, which has none.

    >>> Summary.of(np.array([1.0, 3.0]))
    Summary(mean=2.0, standard_error=1.0)
    """

    mean: float
    standard_error: float

    @staticmethod
    def of(sample: Floats) -> Summary:
        """Of one number per replication."""
        if len(sample) == 0:
            raise ValueError("the sample is empty; give one number per replication.")
        if len(sample) < 2:
            return Summary(float(sample.mean()), float("nan"))
        return Summary(float(sample.mean()), float(sample.std(ddof=1) / np.sqrt(len(sample))))
