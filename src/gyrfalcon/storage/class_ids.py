"""Ids by which files know classes: those of the registry, and names for classes of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gyrfalcon.registry import entry_by_id, entry_of

OWN = "own/"
"""What the ids of classes begin with that the caller names."""
EARLIER_VERSIONS = "version-"
"""What the ids begin with that migrations give to classes of earlier versions."""


class UnknownClassError(ValueError):
    """A file holds a value of a class that this gyrfalcon does not know."""


class ClassIds:
    """Two-way translation between classes and ids; modules are imported when a file needs them.

    >>> from gyrfalcon.core.schedules import Doubling
    >>> ids = ClassIds()
    >>> ids.id_of(Doubling), ids.class_of("schedule/doubling") is Doubling, ids.id_of(dict)
    ('schedule/doubling', True, None)
    """

    def __init__(self, own: Iterable[type] = ()) -> None:
        self._own: dict[str, type] = {}
        for cls in own:
            if self._own.setdefault(f"{OWN}{cls.__name__}", cls) is not cls:
                raise ValueError(
                    f"two classes are called {cls.__name__}, by which files know them; rename one."
                )

    def id_of(self, cls: type) -> str | None:
        """The id of a class, None if it may not stand in a file."""
        entry = entry_of(cls)
        if entry is not None and entry.id is not None:
            return entry.id
        own = f"{OWN}{cls.__name__}"
        return own if self._own.get(own) is cls else None

    def builder_of(self, class_id: str) -> Callable[..., object]:
        """What builds a value of stored fields: the class of an id, or a function for an earlier class."""
        if class_id.startswith(EARLIER_VERSIONS):
            from gyrfalcon.storage.earlier_classes import EARLIER

            if class_id in EARLIER:
                return EARLIER[class_id]
        return self.class_of(class_id)

    def class_of(self, class_id: str) -> type:
        """The class of an id; ValueError if there is none."""
        entry = entry_by_id(class_id)
        if entry is None and class_id not in self._own:
            name = class_id.removeprefix(OWN)
            remedy = "name classes of your own with classes=[...]"
            raise UnknownClassError(f"it holds a {name}, which is not a known class; {remedy}.")
        return self._own[class_id] if entry is None else entry.load()
