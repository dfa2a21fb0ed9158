"""Stored results as arrays: contestants by environments by the seeds that all of them share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.regret.cells import Result
from benchmarks.regret.standings import Table
from gyrfalcon.core.arrays import Floats


def sample(table: Table, names: Sequence[str], environments: Sequence[str], measure: str) -> Floats:
    """(contestants, environments, seeds) under which all have played all environments, on the same rounds."""
    seeds = [
        seed for seed in _seeds(table, names, environments) if _same_rounds(table, names, environments, seed)
    ]
    values = [
        [
            [float(getattr(_cell(table, name, environment, seed), measure)) for seed in seeds]
            for environment in environments
        ]
        for name in names
    ]
    return np.array(values).reshape(len(names), len(environments), len(seeds))


def missing(table: Table, names: Sequence[str], environments: Sequence[str]) -> str:
    """What there is no sample for want of, in words."""
    for name in names:
        played = table.get(name, {})
        lacking = [environment for environment in environments if not played.get(environment)]
        if len(lacking) == len(environments):
            return f"{name} has not been played there yet"
        if lacking:
            return f"{name} has not been played yet in {', '.join(lacking)}"
    return (
        f"there is no seed under which {' and '.join(names)} met the same rounds in all of these environments"
    )


def _seeds(table: Table, names: Sequence[str], environments: Sequence[str]) -> list[int]:
    played = [set(table.get(name, {}).get(environment, {})) for name in names for environment in environments]
    return sorted(set.intersection(*played))


def _same_rounds(table: Table, names: Sequence[str], environments: Sequence[str], seed: int) -> bool:
    """Whether all met the same rounds in each environment."""
    return all(
        len({_cell(table, name, environment, seed).rounds for name in names}) == 1
        for environment in environments
    )


def _cell(table: Table, name: str, environment: str, seed: int) -> Result:
    return table[name][environment][seed]
