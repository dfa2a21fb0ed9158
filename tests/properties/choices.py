"""Kernels to run a property through."""

from __future__ import annotations

from hypothesis import strategies as st

from gyrfalcon.core.policies.kernels import (
    EpsilonGreedyKernel,
    InverseGapWeighting,
    Kernel,
    LogBarrierWeighting,
    SoftmaxKernel,
)

# Hypothesis prefers extreme floats; most of these weigh scores of order 1 so that every action matters.
strengths = st.one_of(st.integers(-20, 40).map(lambda e: 10.0 ** (e / 10)), st.sampled_from([0.0, 1e300]))


def every_kernel(gamma: float) -> list[Kernel]:
    """One of each, greedy or not according to gamma."""
    share, temperature = 1.0 / (1.0 + gamma), 1.0 / max(gamma, 1e-300)
    return [
        InverseGapWeighting(gamma),
        LogBarrierWeighting(gamma),
        EpsilonGreedyKernel(share),
        EpsilonGreedyKernel(0.0),
        SoftmaxKernel(temperature),
    ]
