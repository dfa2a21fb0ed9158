"""CSV layout of the Open Bandit Dataset: `{policy}/{campaign}/{campaign}.csv` and `item_context.csv`.

Each row is one item that was shown in one of three positions of a list, with the probability that this item
was shown in this position. Rows are decisions of their own here, and the position is a part of the context.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import IO

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.messages import enumeration, short_repr
from gyrfalcon.logs.formats.chunks import Chunk
from gyrfalcon.logs.formats.csv_lines import csv_chunks, csv_chunks_of
from gyrfalcon.logs.formats.open_bandit.files import find_file

POLICIES = ("random", "bts")
CAMPAIGNS = ("all", "men", "women")
AFFINITY = "affinity"
_USER, _AFFINITIES, _ITEM = "user_feature_", "user-item_affinity_", "item_feature_"


def open_bandit_data(
    path: str | os.PathLike[str] | None = None,
    policy: str = "random",
    campaign: str = "all",
    *,
    action_features: Collection[str] = (),
) -> DecisionTable:
    """Decisions of the Open Bandit Dataset, from wherever it is kept.

    Parameters
    ----------
    path
        The folder with the data, or the source distribution or a wheel of the Open Bandit Pipeline (`obp`),
        which hold its small version of 10,000 rows each; None for the package `obp` that is installed.
    policy
        The policy that chose the items: "random", or "bts" for Bernoulli Thompson sampling.
    campaign
        "all", "men" or "women".
    action_features
        Features of items among "affinity", how well user and item go together, and columns of
        `item_context.csv` such as "item_feature_0"; text becomes one feature for each of its values.

    Returns
    -------
    DecisionTable
        Decisions in the order of their times: the item as the action, the click as the reward, and indicators
        of position and user features as context. Under the random policy all rows are passive.

    Raises
    ------
    ValueError
        If the data is not there, or a row can't be read.
    """
    for name, value, known in (("policy", policy, POLICIES), ("campaign", campaign, CAMPAIGNS)):
        if value not in known:
            raise ValueError(f"{name} is {short_repr(value)}; choose {' or '.join(map(repr, known))}.")
    rows, source = find_file(path, f"{policy}/{campaign}/{campaign}.csv")
    items, item_source = find_file(path, f"{policy}/{campaign}/item_context.csv")
    return _table(
        list(csv_chunks_of(_text(rows), source, keep=_kept(action_features))),
        next(iter(csv_chunks_of(_text(items), item_source))),
        action_features,
        is_random=policy == "random",
    )


def read_open_bandit(
    path: str | os.PathLike[str], *, action_features: Collection[str] = (), is_random: bool | None = None
) -> DecisionTable:
    """Decisions of one CSV file of the Open Bandit Dataset, with `item_context.csv` beside it.

    Parameters
    ----------
    path
        The file, such as "random/men/men.csv", or the folder that it is in.
    action_features
        Features of items, as in `open_bandit_data`.
    is_random
        Whether items were drawn uniformly; None says so where the folder above the file's is called "random".

    Raises
    ------
    ValueError
        If the file is not there, or a row can't be read.
    """
    file = Path(path)
    file = file / f"{file.resolve().name}.csv" if file.is_dir() else file
    context = file.parent / "item_context.csv"
    for one in (file, context):
        if not one.is_file():
            raise ValueError(
                f"{one} does not exist; give a CSV file such as random/men/men.csv that has item_context.csv "
                "beside it."
            )
    if is_random is None:
        is_random = file.resolve().parent.parent.name == "random"
    return _table(
        list(csv_chunks(file, keep=_kept(action_features))),
        next(iter(csv_chunks(context))),
        action_features,
        is_random=is_random,
    )


def _kept(action_features: Collection[str]) -> Callable[[str], bool]:
    """Which columns are kept: affinities are as many as items, and rarely needed."""
    return lambda name: AFFINITY in action_features or not name.startswith(_AFFINITIES)


def _text(content: bytes) -> IO[str]:
    return io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", newline="")


def _table(
    chunks: list[Chunk], items: Chunk, action_features: Collection[str], *, is_random: bool
) -> DecisionTable:
    """The table of all chunks, whose rows are put in the order of their times."""
    labels, order = _labels(items)
    source = chunks[0].source
    shared, names = _context(chunks)
    action = np.concatenate([_positions(chunk, labels) for chunk in chunks])
    cube, own = _cube(chunks, items, order, action_features)
    n, n_actions = len(action), len(labels)
    times = np.concatenate([chunk.times("timestamp") for chunk in chunks])
    table = DecisionTable(
        actions=tuple(labels),
        contexts=Contexts(shared, cube),
        action=action,
        reward=_concatenated(chunks, "click"),
        propensity=_concatenated(chunks, "propensity_score"),
        distribution=np.full((n, n_actions), 1.0 / n_actions) if is_random else None,
        features=names,
        action_features=own,
        time=times,
        passive=np.full(n, is_random),
        reward_range=(0.0, 1.0),
        source=source,
    )
    in_order = bool((np.diff(times) >= 0.0).all())
    return table if in_order else table.take(np.argsort(times, kind="stable").astype(np.int64))


def _labels(items: Chunk) -> tuple[list[int], Ints]:
    """Ids of items in ascending order, and the records of `item_context.csv` in this order."""
    ids = items.integers("item_id")
    order = np.argsort(ids, kind="stable").astype(np.int64)
    twice = np.flatnonzero(np.diff(ids[order]) == 0)
    if len(twice):
        row = int(order[twice[0] + 1])
        raise ValueError(f"{items.at(row)}: item_id {ids[row]} is there twice; keep one of its lines.")
    return ids[order].tolist(), order


def _positions(chunk: Chunk, labels: list[int]) -> Ints:
    """Positions of the items shown, among the labels."""
    ids = chunk.integers("item_id")
    places = np.searchsorted(labels, ids)
    known = np.array(labels, dtype=np.int64)[np.minimum(places, len(labels) - 1)] == ids
    if not known.all():
        row = int(known.argmin())
        raise ValueError(
            f"{chunk.at(row)}: item_id {ids[row]} is not in item_context.csv, whose items are "
            f"{enumeration(labels)}; add its line there."
        )
    return places.astype(np.int64)


def _context(chunks: list[Chunk]) -> tuple[Floats, tuple[str, ...]]:
    """Indicators of the position and of each user feature's values, and their names."""
    names = [name for name in chunks[0].columns if name.startswith(_USER)]
    kinds = {
        name: _levels([str(value) for chunk in chunks for value in chunk.column(name)]) for name in names
    }
    places = {"position": _levels([str(place) for chunk in chunks for place in chunk.integers("position")])}
    parts, columns = [], []
    for name, levels in (*places.items(), *kinds.items()):
        codes = {level: code for code, level in enumerate(levels)}
        found = np.array(
            [codes[str(value)] for chunk in chunks for value in chunk.column(name)], dtype=np.int64
        )
        parts.append(np.eye(len(levels))[found].reshape(-1, len(levels)))
        columns += [f"{name}={level}" for level in levels]
    return np.ascontiguousarray(np.concatenate(parts, axis=1)), tuple(columns)


def _levels(values: list[str]) -> list[str]:
    return sorted(set(values))


def _cube(
    chunks: list[Chunk], items: Chunk, order: Ints, wanted: Collection[str]
) -> tuple[Floats | None, tuple[str, ...]]:
    """Features of the items in each row, (n, K, q), and their names."""
    known = [AFFINITY, *(name for name in items.columns if name.startswith(_ITEM))]
    for name in wanted:
        if name not in known:
            raise ValueError(f"{short_repr(name)} is no feature of items; choose among {enumeration(known)}.")
    parts: list[Floats] = []
    names: list[str] = []
    n = sum(map(len, chunks))
    for name in wanted:
        if name == AFFINITY:
            parts.append(np.concatenate([_affinities(chunk, items, order) for chunk in chunks])[:, :, None])
            names.append(AFFINITY)
        else:
            encoded, own = _item_feature(items, name)
            parts.append(np.broadcast_to(encoded[order], (n, *encoded.shape)))
            names += own
    return (np.concatenate(parts, axis=2) if parts else None), tuple(names)


def _affinities(chunk: Chunk, items: Chunk, order: Ints) -> Floats:
    ids = items.integers("item_id")[order].tolist()
    return np.stack([chunk.floats(f"{_AFFINITIES}{item}") for item in ids], axis=1)


def _item_feature(items: Chunk, name: str) -> tuple[Floats, tuple[str, ...]]:
    """A column of `item_context.csv` as numbers, or as one indicator for each of its values."""
    values = [str(value) for value in items.column(name)]
    try:
        numbers = np.array(values, dtype=np.float64)
    except ValueError:
        levels = _levels(values)
        return np.eye(len(levels))[[levels.index(value) for value in values]], tuple(
            f"{name}={level}" for level in levels
        )
    return numbers[:, None], (name,)


def _concatenated(chunks: list[Chunk], name: str) -> Floats:
    return np.concatenate([chunk.floats(name) for chunk in chunks])
