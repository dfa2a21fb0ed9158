"""Every public name of the package with the page of the reference that lists it."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType

import gyrfalcon

TOPICS = {
    "Bandits": ("bandit",),
    "Learners": ("learners",),
    "Model classes and fits": ("oracles",),
    "Problems and features": (
        "core.inputs",
        "core.columns",
        "core.contexts",
        "core.problems",
        "core.rewards",
        "core.schema",
    ),
    "Epochs, policies and logs": ("core",),
    "Environments": ("environments",),
    "Simulations and sweeps": ("experiments", "simulation", "sweeps"),
    "Estimates from logged data": ("estimates",),
}
"""Pages of the names at the top, in their order, and the subpackages that these are defined in."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the reference: the names that it lists, and the module that they are imported from."""

    title: str
    module: str
    names: tuple[str, ...]
    text: str = ""

    @property
    def slug(self) -> str:
        """What the page's file is called.

        >>> Page("Epochs, policies and logs", "gyrfalcon", ()).slug
        'epochs-policies-and-logs'
        """
        return self.title.lower().replace(",", "").replace(" ", "-")


def pages() -> list[Page]:
    """The topics of the names at the top, then the public subpackages."""
    by_topic: dict[str, list[str]] = {topic: [] for topic in TOPICS}
    for name in _exported(gyrfalcon):
        by_topic[topic_of(_home(getattr(gyrfalcon, name)))].append(name)
    topics = [Page(topic, "gyrfalcon", _sorted(names)) for topic, names in by_topic.items() if names]
    return [*topics, *_subpackages()]


def topic_of(home: str) -> str:
    """The topic of what is defined in this module; the longest prefix decides.

    >>> topic_of("gyrfalcon.core.epochs"), topic_of("gyrfalcon.core.inputs.schema")
    ('Epochs, policies and logs', 'Problems and features')
    """
    inside = home.removeprefix("gyrfalcon.") + "."
    found = [(prefix, topic) for topic, owned in TOPICS.items() for prefix in owned]
    matching = [(len(prefix), topic) for prefix, topic in found if inside.startswith(prefix + ".")]
    if not matching:
        raise LookupError(f"{home} defines a public name; give its subpackage a topic in {__file__}.")
    return max(matching)[1]


def file_names() -> dict[str, str]:
    """The file of every public name; no two differ by case alone, which some disks don't tell apart."""
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
        f"{_home(value)}.{name}": f"{page.module}.{name}"
        for page in pages()
        for name in page.names
        for value in (getattr(import_module(page.module), name),)
        if hasattr(value, "__module__")
    }


def _subpackages() -> Iterator[Page]:
    """Those that export what the top does not."""
    at_the_top = set(_exported(gyrfalcon))
    for found in sorted(pkgutil.iter_modules(gyrfalcon.__path__, "gyrfalcon."), key=lambda one: one.name):
        module = import_module(found.name)
        names = [name for name in _exported(module) if name not in at_the_top]
        if names:
            text = (module.__doc__ or "").strip().partition("\n")[0]
            yield Page(found.name, found.name, _sorted(names), text)


def _exported(module: ModuleType) -> list[str]:
    return [name for name in getattr(module, "__all__", ()) if not name.startswith("_")]


def _home(value: object) -> str:
    return str(getattr(value, "__module__", type(value).__module__))


def _sorted(names: list[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=str.lower))
