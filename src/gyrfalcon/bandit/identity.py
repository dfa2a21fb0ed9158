"""Event ids: what callers may bring, and ids of our own that no other process gives out."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import InitVar, dataclass, field
from operator import index
from typing import SupportsIndex
from uuid import UUID

from gyrfalcon.core.inputs.messages import short_repr

EventId = str | SupportsIndex | UUID
"""What a caller may bring as the id of a decision."""


def text_of(event_id: object) -> str:
    """An event id as plain text: text, a whole number or a UUID; anything else is refused.

    Whole numbers of any kind are the same id: 17 is that of NumPy, too.

    >>> text_of(17), text_of(UUID(int=1))
    ('17', '00000000-0000-0000-0000-000000000001')
    """
    if isinstance(event_id, str):
        text = str.__str__(event_id)
        if not text:
            raise ValueError("event id '' is empty; give each decision an id of its own, or None for one.")
        return text
    if isinstance(event_id, UUID):
        return str(event_id)
    if isinstance(event_id, SupportsIndex) and not isinstance(event_id, bool):
        with suppress(TypeError):  # of arrays, whose one number may be a whole one
            return str(index(event_id))
    raise TypeError(
        f"event id {short_repr(event_id)} is a {type(event_id).__name__}; give text, a number or a UUID."
    )


def stored_text_of(event_id: object) -> str:
    """An id for a decision as text that files can hold."""
    text = text_of(event_id)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"event id {text!r} is no valid Unicode; give text for UTF-8.") from None
    return text


def listed_ids(event_ids: Iterable[object], n: int) -> list[str]:
    """The ids for n decisions as text, refused if one is there twice."""
    given = [event_ids] if isinstance(event_ids, str) else list(event_ids)
    if len(given) != n:
        raise ValueError(f"there are {len(given)} event ids for {n} contexts; give one each.")
    texts: dict[str, None] = {}
    for event_id in given:
        text = stored_text_of(event_id)
        if text in texts:
            raise ValueError(f"event id {text!r} is there twice; give each decision an id of its own.")
        texts[text] = None
    return list(texts)


@dataclass(slots=True)
class IdSource:
    """Ids of one bandit in one process: its seed, where needed a random part, and the number of the round.

    A bandit that is made with a seed has ids that follow from it, so that the same calls give the same
    decisions. One that goes on elsewhere, from a file or after a fork, has a random part of its own: another
    process may give out ids of the same rounds.
    """

    seed: int
    part: InitVar[str] = ""
    prefix: str = field(init=False)
    process: int = field(init=False)

    def __post_init__(self, part: str) -> None:
        self.prefix, self.process = f"{self.seed & 0xFFFFFFFF:08x}{part}-", os.getpid()

    @staticmethod
    def elsewhere(seed: int) -> IdSource:
        """The source of a bandit that goes on from a file."""
        return IdSource(seed, _random_part())

    def free_id(self, round_: int, is_known: Callable[[str], object]) -> str:
        """An id for this round, lengthened while a caller has brought one that looks like it."""
        if os.getpid() != self.process:
            self.__post_init__(_random_part())
        event_id = f"{self.prefix}{round_}"
        while is_known(event_id):
            event_id += "+"
        return event_id


def _random_part() -> str:
    return f"-{secrets.token_hex(6)}"
