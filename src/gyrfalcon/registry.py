"""Every public name and every class that may stand in a file, with what is loaded by its name or id.

The front doors (`gyrfalcon`, `gyrfalcon.environments`, ...), files, sweeps, the command line and the
reference pages all read it. The tables are text, in `public_names` and `stored_classes`: nothing is imported
before it is used, so that importing the package costs next to nothing. Adding a learner takes its module, a
row in `public_names`, and its tests.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from gyrfalcon.public_names import PUBLIC_NAMES
from gyrfalcon.stored_classes import STORED_CLASSES


class Kind(NamedTuple):
    """What entries of one kind have in common: the module that offers them, if any, and their heading."""

    door: str | None
    title: str


class Entry(NamedTuple):
    """One name: its module below `gyrfalcon`, its kind, and the id by which files know the class.

    An id never changes, whatever becomes of the name and the module. An entry without one is never stored.
    """

    name: str
    home: str
    kind: str
    id: str | None = None

    def load(self) -> Any:
        """The class or function itself."""
        return getattr(import_module(f"gyrfalcon.{self.home}"), self.name)


KINDS = {
    "bandit": Kind("gyrfalcon", "The bandit and its decisions"),
    "experiment": Kind("gyrfalcon", "Experiments that stop when known"),
    "experiment_part": Kind("gyrfalcon.experiment", "Results of experiments, and final policies"),
    "inspection": Kind("gyrfalcon.bandit", "Status, explanations and decision logs of a bandit"),
    "problem": Kind("gyrfalcon", "Problems, features and logs"),
    "learner": Kind("gyrfalcon", "Learners"),
    "model_class": Kind("gyrfalcon", "Model classes"),
    "schedule": Kind("gyrfalcon", "Schedules of epochs"),
    "simulation": Kind("gyrfalcon", "Simulations and sweeps"),
    "estimate": Kind("gyrfalcon", "Estimates from logged data"),
    "protocol": Kind("gyrfalcon", "Protocols and records"),
    "environment": Kind("gyrfalcon.environments", "Environments"),
    "environment_data": Kind("gyrfalcon.environments", "Data as environments"),
    "population": Kind("gyrfalcon.environments", "Populations and best models"),
    "environment_part": Kind("gyrfalcon.environments", "Parts of an environment of your own"),
    "kernel": Kind("gyrfalcon.kernels", "Exploration kernels"),
    "learner_part": Kind("gyrfalcon.learners", "Parts of a learner of your own"),
    "basis": Kind("gyrfalcon.oracles", "Bases"),
    "regressor": Kind("gyrfalcon.oracles", "Regressors of our own"),
    "solver": Kind("gyrfalcon.oracles", "Solvers of constrained least squares"),
    "estimate_part": Kind("gyrfalcon.estimates", "Results of estimates"),
    "evaluation": Kind("gyrfalcon.evaluation", "Values of policies from a log"),
    "log_check": Kind("gyrfalcon.evaluation", "Checks of a log"),
    "diagnosis": Kind("gyrfalcon.evaluation", "Diagnosis of a model class from a log"),
    "log": Kind("gyrfalcon.logs", "Logs of decisions: reading, writing, import and export"),
    "simulation_part": Kind("gyrfalcon.simulation", "Results of simulations"),
    "sweep_part": Kind("gyrfalcon.sweeps", "Parts of a sweep"),
    "stored": Kind(None, "Internal classes that stand in files"),
}

ENTRIES = (
    *(Entry(*row) for row in PUBLIC_NAMES),
    *(Entry(name, home, "stored", class_id) for name, home, class_id in STORED_CLASSES),
)
DOORS = tuple(dict.fromkeys(kind.door for kind in KINDS.values() if kind.door is not None))
MODULES = tuple(sorted({*(door.partition(".")[2] for door in DOORS if "." in door), "theory"}))
"""Public modules that `gyrfalcon` has as attributes."""

_BY_ID = {entry.id: entry for entry in ENTRIES if entry.id is not None}
_BY_CLASS = {(f"gyrfalcon.{entry.home}", entry.name): entry for entry in ENTRIES}


def entries_of(*kinds: str) -> tuple[Entry, ...]:
    """The entries of some kinds, in the order of the table."""
    return tuple(entry for entry in ENTRIES if entry.kind in kinds)


def public_entries(door: str) -> tuple[Entry, ...]:
    """The entries that a public module offers, in the order of the table.

    >>> [entry.name for entry in public_entries("gyrfalcon.sweeps")]
    ['Keyed', 'Sweep', 'SweepError']
    """
    return tuple(entry for entry in ENTRIES if KINDS[entry.kind].door == door)


def door_of(name: str) -> str | None:
    """The public module that offers this name; None if none does.

    >>> door_of("simulate"), door_of("evaluate"), door_of("no_such_name")
    ('gyrfalcon', 'gyrfalcon.evaluation', None)
    """
    return next((KINDS[entry.kind].door for entry in ENTRIES if entry.name == name), None)


def entry_of(cls: type) -> Entry | None:
    """The entry of a class; None if it has none, also where only its module and name have one."""
    entry = _BY_CLASS.get((cls.__module__, cls.__qualname__))
    return entry if entry is not None and entry.load() is cls else None


def entry_by_id(class_id: str) -> Entry | None:
    """The entry that files know by this id."""
    return _BY_ID.get(class_id)
