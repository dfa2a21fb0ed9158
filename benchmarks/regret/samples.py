"""Stored results as arrays: contestants by worlds by the seeds that all of them share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.regret.cells import Result
from benchmarks.regret.standings import Table
from gyrfalcon.core.types import Floats


def sample(table: Table, names: Sequence[str], worlds: Sequence[str], measure: str) -> Floats:
    """(contestants, worlds, seeds): the seeds under which all have played all worlds, on the same rounds."""
    seeds = [seed for seed in _seeds(table, names, worlds) if _same_rounds(table, names, worlds, seed)]
    values = [
        [[float(getattr(_cell(table, name, world, seed), measure)) for seed in seeds] for world in worlds]
        for name in names
    ]
    return np.array(values).reshape(len(names), len(worlds), len(seeds))


def missing(table: Table, names: Sequence[str], worlds: Sequence[str]) -> str:
    """What there is no sample for want of, in words."""
    for name in names:
        played = table.get(name, {})
        lacking = [world for world in worlds if not played.get(world)]
        if len(lacking) == len(worlds):
            return f"{name} has not been played there yet"
        if lacking:
            return f"{name} has not been played yet in {', '.join(lacking)}"
    return f"there is no seed under which {' and '.join(names)} met the same rounds in all of these worlds"


def _seeds(table: Table, names: Sequence[str], worlds: Sequence[str]) -> list[int]:
    played = [set(table.get(name, {}).get(world, {})) for name in names for world in worlds]
    return sorted(set.intersection(*played))


def _same_rounds(table: Table, names: Sequence[str], worlds: Sequence[str], seed: int) -> bool:
    """Whether all met the same rounds in each world."""
    return all(len({_cell(table, name, world, seed).rounds for name in names}) == 1 for world in worlds)


def _cell(table: Table, name: str, world: str, seed: int) -> Result:
    return table[name][world][seed]
