"""How all tests are run: how many random examples they try, and what Ctrl-C does while they run."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# Whether a test passes says nothing about how long a busy machine took to run it.
for profile, n_examples in {"quick": 20, "thorough": 200}.items():
    settings.register_profile(
        profile, max_examples=n_examples, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("quick")


@pytest.fixture
def foreground() -> Iterator[None]:
    """Ctrl-C interrupts this process and those that a test starts, as it does in a foreground shell.

    A shell starts its background jobs, and some CI systems start all of theirs, with Ctrl-C ignored, which
    every process inherits from its parent.
    """
    yield from _with_interrupts(signal.default_int_handler)


@pytest.fixture
def background() -> Iterator[None]:
    """Ctrl-C is ignored by this process and those that a test starts."""
    yield from _with_interrupts(signal.SIG_IGN)


def _with_interrupts(handler: signal._HANDLER) -> Iterator[None]:
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
