"""Parts of a diagnosis, one by one: what each says, or why these rows can't say it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from gyrfalcon.estimates.misspecification.result import NotEstimableError

N_PARTS = 5
T = TypeVar("T")


@dataclass(slots=True)
class Attempts:
    """What the parts of a diagnosis say, and the reasons why some say nothing.

    >>> attempts = Attempts()
    >>> attempts.of("Half of it", lambda: 1 / 2), attempts.open_questions
    (0.5, ())
    """

    on_progress: Callable[[int, int, str], None] | None = None
    _n_tried: int = 0
    _reasons: dict[str, list[str]] = field(default_factory=dict)

    def of(self, part: str, compute: Callable[[], T]) -> T | None:
        """The part that is computed; None if these rows can't say it."""
        value: T | None = None
        try:
            value = compute()
        except NotEstimableError as error:
            self._reasons.setdefault(str(error), []).append(part)
        self._n_tried += 1
        if self.on_progress is not None:
            self.on_progress(self._n_tried, N_PARTS, part)
        return value

    @property
    def open_questions(self) -> tuple[str, ...]:
        """What could not be said, and why; parts with one reason together."""
        return tuple(f"{', '.join(parts)}: {reason}" for reason, parts in self._reasons.items())
