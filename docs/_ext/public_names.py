"""Every public name with the page of the reference that lists it: one per kind of the registry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from gyrfalcon import theory
from gyrfalcon.registry import KINDS, entries_of


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the reference: the names that it lists, and the module that they are imported from.

    The first page of a module introduces it; `text` is then what the module says of itself.
    """

    title: str
    module: str
    names: tuple[str, ...]
    introduces: bool = False
    text: str = ""

    @property
    def slug(self) -> str:
        """What the page's file is called.

        >>> Page("Problems, features and logs", "gyrfalcon", ()).slug
        'problems-features-and-logs'
        """
        return self.title.lower().replace(",", "").replace(" ", "-")


def pages() -> list[Page]:
    """A page per public kind, in the order of the registry, then the page of `gyrfalcon.theory`."""
    return [*_by_kind(), _introducing("Theory", theory.__name__, theory.__all__)]


def _by_kind() -> Iterator[Page]:
    introduced = {"gyrfalcon"}  # by docs/reference/python.md
    for name, kind in KINDS.items():
        if kind.door is None:
            continue
        names = [entry.name for entry in entries_of(name)]
        if kind.door in introduced:
            yield Page(kind.title, kind.door, _sorted(names))
        else:
            introduced.add(kind.door)
            yield _introducing(kind.title, kind.door, names)


def _introducing(title: str, module: str, names: list[str]) -> Page:
    text = (import_module(module).__doc__ or "").strip().partition("\n")[0]
    return Page(title, module, _sorted(names), introduces=True, text=text)


def file_names() -> dict[str, str]:
    """The file of every public name; no two differ by case alone, which some disks don't distinguish."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for full_name in (f"{page.module}.{name}" for page in pages() for name in page.names):
        file_name = f"{full_name}_" if full_name.lower() in taken else full_name
        taken.add(file_name.lower())
        found[full_name] = file_name
    return found


@cache
def aliases() -> dict[str, str]:
    """Where a public class or function is documented, by where it is defined."""
    return {
        f"{value.__module__}.{name}": f"{page.module}.{name}"
        for page in pages()
        for name in page.names
        for value in (getattr(import_module(page.module), name),)
        if hasattr(value, "__module__")
    }


def _sorted(names: list[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=str.lower))
