"""A grid of learners x environments x seeds as data, and the cells that a sweep computes of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from gyrfalcon.core.inputs.messages import short_repr
from gyrfalcon.core.validation import check_whole
from gyrfalcon.simulation.trace import Checkpoints, checkpoint_rounds
from gyrfalcon.sweeps.build import Finder, build_environment, build_learner, choices, n_choices
from gyrfalcon.sweeps.content_key import Keyed, as_text, label_of, settings_digest, settings_of
from gyrfalcon.sweeps.registry import environment_maker, learner_maker

MOST_REPLICATIONS = 25
"""In one cell: enough to be computed together, and few enough that a kill costs little."""
MOST_ROWS = 250_000
"""In one cell's file, where there are many checkpoints."""
MOST_CELLS = 1_000_000
"""In one grid: a folder with more files is slow to look through."""
_LARGEST = 2**63


@dataclass(frozen=True)
class Member:
    """A learner or an environment of a grid, with what it is called and all its settings as JSON."""

    value: Any = field(compare=False)
    label: str
    settings: str

    @staticmethod
    def of(value: object) -> Member:
        """The member that an object is; ValueError if it has no stable content."""
        played = value.value if isinstance(value, Keyed) else value
        return Member(played, label_of(value), as_text(settings_of(value)))


@dataclass(frozen=True)
class Cell:
    """Some replications of one learner in one environment: what is computed, and stored, as a whole."""

    learner: Member
    environment: Member
    n_rounds: int
    seed: int
    first_replication: int
    n_replications: int
    checkpoints: Checkpoints

    @cached_property
    def series(self) -> str:
        """The digest of everything but which replications these are."""
        rounds = checkpoint_rounds(self.checkpoints, self.n_rounds)
        return settings_digest(
            {
                "learner": self.learner.settings,
                "environment": self.environment.settings,
                "n_rounds": self.n_rounds,
                "seed": self.seed,
                "checkpoints": settings_of(rounds.astype("<i8")),
            }
        )

    @property
    def key(self) -> str:
        """The digest of the content, which names the file of the results.

        The version of gyrfalcon is checked in the file instead: results of another one are then known to be
        of the same cell, and make way for new ones, rather than stay beside them.
        """
        return cell_key(self.series, self.first_replication, self.n_replications)

    @property
    def replications(self) -> range:
        """The numbers of the replications."""
        return range(self.first_replication, self.first_replication + self.n_replications)

    def without(self, stored: Iterable[range]) -> Iterator[Cell]:
        """What is left to compute when some replications of the series are stored."""
        left = [self.replications]
        for other in stored:
            left = [part for one in left for part in _difference(one, other)]
        for part in left:
            yield replace(self, first_replication=part.start, n_replications=len(part))

    def __str__(self) -> str:
        first, last = self.replications[0], self.replications[-1]
        which = f"replication {first}" if first == last else f"replications {first} to {last}"
        return f"{self.learner.label} in {self.environment.label}, seed {self.seed}, {which}"


@dataclass(frozen=True)
class Grid:
    """Grid of learners, environments and seeds for a sweep.

    Learners and environments are objects, or settings such as `{"name": "LinUCB", "alpha": 0.3}`, or names. A
    list within settings is a choice: the grid has one learner for each combination.

    Parameters
    ----------
    learners : sequence
        Learners, or settings of learners.
    environments : sequence
        Environments, or settings of environments.
    n_rounds : int
        Rounds per replication.
    n_replications : int, default 1
        Replications per learner, environment and seed. Raising it later computes only what is new.
    seeds : int or Sequence[int], default (0,)
        Random seeds. Several of them are groups of replications, kept apart in the results.
    checkpoints : int, sequence of int or 'every', optional
        Rounds to record, as for `simulate`: None for about a hundred, evenly spaced on a log scale, a number
        for about that many, "every", or the rounds themselves.

    Examples
    --------
    >>> grid = Grid([{"name": "LinUCB", "alpha": [0.1, 1.0]}, "falcon"], ["StepExample"], n_rounds=1000)
    >>> [cell.learner.label for cell in grid.cells]
    ['LinUCB(alpha=0.1)', 'LinUCB', 'Falcon']
    """

    learners: Sequence[Any]
    environments: Sequence[Any]
    n_rounds: int
    n_replications: int = 1
    seeds: int | Sequence[int] = (0,)
    checkpoints: Checkpoints = None

    def __post_init__(self) -> None:
        for name in ("n_rounds", "n_replications"):
            check_whole(name, getattr(self, name))
        if isinstance(self.checkpoints, bool):
            raise ValueError(f"checkpoints is {self.checkpoints}; give 'every', a number, or rounds.")  # noqa: TRY004 - as all settings
        checkpoint_rounds(self.checkpoints, self.n_rounds)
        learners, environments = (
            _listed("learners", self.learners),
            _listed("environments", self.environments),
        )
        seeds = _seeds(self.seeds)
        self._check_size(
            _n_members("learners", learners, learner_maker),
            _n_members("environments", environments, environment_maker),
            len(seeds),
        )
        settled = {
            "learners": _members("learners", learners, learner_maker, build_learner),
            "environments": _members("environments", environments, environment_maker, build_environment),
            "n_rounds": int(self.n_rounds),
            "n_replications": int(self.n_replications),
            "seeds": seeds,
            "checkpoints": _as_value(self.checkpoints),
        }
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    @staticmethod
    def from_toml(path: str | os.PathLike[str]) -> Grid:
        """The grid that a file describes; see `gyrfalcon.sweeps.grid_files`."""
        from gyrfalcon.sweeps.grid_files import read

        return read(path)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """What there is to compute, cut the same way whatever the number of workers."""
        return tuple(
            Cell(learner, environment, self.n_rounds, seed, part.start, len(part), self.checkpoints)
            for environment in self.environments
            for learner in self.learners
            for seed in _seeds(self.seeds)
            for part in self._parts
        )

    @property
    def _parts(self) -> list[range]:
        size = self._replications_per_cell
        return [
            range(first, min(first + size, self.n_replications))
            for first in range(0, self.n_replications, size)
        ]

    @property
    def _replications_per_cell(self) -> int:
        n_checkpoints = len(checkpoint_rounds(self.checkpoints, self.n_rounds))
        return max(1, min(MOST_REPLICATIONS, MOST_ROWS // n_checkpoints))

    def _check_size(self, n_learners: int, n_environments: int, n_seeds: int) -> None:
        n_parts = -(-int(self.n_replications) // self._replications_per_cell)
        n_cells = n_learners * n_environments * n_seeds * n_parts
        if n_cells > MOST_CELLS:
            raise ValueError(
                f"the grid has {n_cells:,} cells (learners: {n_learners:,}, environments: {n_environments:,},"
                f" seeds: {n_seeds:,}, replications: {self.n_replications:,}), and a sweep takes at most "
                f"{MOST_CELLS:,}; make it smaller, or several grids."
            )


def cell_key(series: str, first_replication: int, n_replications: int) -> str:
    """The name of some replications of a series."""
    return settings_digest({"series": series, "first": first_replication, "n": n_replications})


def _n_members(name: str, listed: Sequence[Any], finder: Finder) -> int:
    return sum(n_choices(entry, finder, f"{name}[{number}]") for number, entry in enumerate(listed))


def _members(name: str, listed: Sequence[Any], finder: Finder, build: Any) -> tuple[Member, ...]:
    members: dict[str, tuple[str, Member]] = {}
    for number, entry in enumerate(listed):
        place = f"{name}[{number}]"
        for one in choices(entry, finder, place):
            member = one if isinstance(one, Member) else _member(build(one, place), place)
            _check_new(member, place, members)
            members[member.label] = place, member
    return tuple(member for _, member in members.values())


def _check_new(member: Member, place: str, members: Mapping[str, tuple[str, Member]]) -> None:
    if member.label not in members:
        return
    other, first = members[member.label]
    if other == place and first.settings == member.settings:
        raise ValueError(
            f"{place} ({member.label}) comes twice, as a list in it repeats a value; give each value once."
        )
    if first.settings == member.settings:
        raise ValueError(f"{place} ({member.label}) is the same as {other}; leave one out.")
    raise ValueError(
        f"{place} has the label {member.label!r}, as {other} has, and is not the same; "
        "results could not be distinguished, so give one of them another repr or key."
    )


def _member(value: object, place: str) -> Member:
    try:
        return Member.of(value)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


def _listed(name: str, entries: object) -> list[Any]:
    if isinstance(entries, range) and len(entries[: MOST_CELLS + 1]) > MOST_CELLS:
        raise ValueError(f"{name} is {entries!r}, which are more than {MOST_CELLS:,}; give fewer.")
    if isinstance(entries, str | bytes) or not isinstance(entries, Iterable) or hasattr(entries, "keys"):
        raise ValueError(f"{name} is {short_repr(entries)}; give a list, even if it has one entry.")
    listed = list(entries)
    if not listed:
        raise ValueError(f"{name} is empty; give at least one.")
    return listed


def _seeds(seeds: object) -> tuple[int, ...]:
    listed = _listed("seeds", [seeds] if isinstance(seeds, int | np.integer) else seeds)
    known: set[int] = set()
    for number, seed in enumerate(listed):
        check_whole(f"seeds[{number}]", seed, 0, _LARGEST)
        if seed in known:
            raise ValueError(f"seeds[{number}] is {seed} again; give each seed once.")
        known.add(seed)
    return tuple(map(int, listed))


def _as_value(checkpoints: Checkpoints) -> Checkpoints:
    """A read-only copy of the checkpoints."""
    if checkpoints is None or isinstance(checkpoints, str):
        return checkpoints
    listed = np.asarray(checkpoints).tolist()
    return tuple(listed) if isinstance(listed, list) else int(listed)


def _difference(one: range, other: range) -> Iterator[range]:
    parts = range(one.start, min(one.stop, other.start)), range(max(one.start, other.stop), one.stop)
    return (part for part in parts if len(part))
