"""Vowpal Wabbit's text format of contextual bandits, written from tables of decisions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from urllib.parse import quote

import numpy as np

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.logs.formats.exporting import check_for_wabbit, identity_name, write_lines


def write_cb_text(table: DecisionTable, path: str | os.PathLike[str]) -> None:
    """Write a table of decisions as text for Vowpal Wabbit's contextual bandits.

    Actions without features that are all eligible are numbered from 1, for `--cb` and `--cb_explore`. Else
    each decision is a block of lines for `--cb_explore_adf`, with labels as tags and features of actions.
    `read_log` gives contexts, actions, rewards and propensities again; the format has no more. Vowpal
    Wabbit reads numbers of this format to about six digits.

    Parameters
    ----------
    table
        The decisions, with known actions and propensities.
    path
        The file, which is replaced in one step; it is compressed with gzip if its name ends with .gz.

    Raises
    ------
    ValueError
        If a row has no action or no propensity.
    """
    write_lines(path, cb_text_lines(table))


def cb_text_lines(table: DecisionTable) -> Iterator[str]:
    """The lines of a table as text for Vowpal Wabbit."""
    check_for_wabbit(table)
    has_blocks = table.contexts.actions is not None or not table.eligible.all()
    costs = table.reward if table.cost else 0.0 - table.reward
    shared = [_escaped(name) for name in table.features]
    for row in range(len(table)):
        label = "" if np.isnan(costs[row]) else f"{float(costs[row])!r}:{float(table.propensity[row])!r}"
        context = _features("context", zip(shared, table.contexts.shared[row].tolist(), strict=True))
        if has_blocks:
            yield f"shared {context}"
            yield from _action_lines(table, row, label)
            yield ""
        else:
            yield f"{int(table.action[row]) + 1}:{label} {context}" if label else context


def _action_lines(table: DecisionTable, row: int, label: str) -> Iterator[str]:
    """A line for each eligible action; the chosen one's has the label."""
    identity, own = identity_name(table), [_escaped(name) for name in table.action_features]
    cube = table.contexts.actions
    for spot in np.flatnonzero(table.eligible[row]).tolist():
        name = _escaped(str(table.actions[spot]))
        values = [] if cube is None else zip(own, cube[row, spot].tolist(), strict=True)
        features = _features(f"action {identity}={name}", values)
        chosen = f"0:{label} " if label and spot == table.action[row] else ""
        yield f"{chosen}'{name}{features}"


def _features(space: str, values: Iterable[tuple[str, float]]) -> str:
    """A namespace with its features; one that is missing is left out."""
    words = [f"{name}:{value!r}" for name, value in values if value == value]  # noqa: PLR0124
    return " ".join([f"|{space}", *words])


def _escaped(name: str) -> str:
    """A name without the signs that separate names in this format.

    >>> _escaped("New York: 5|6%")
    'New%20York%3A%205%7C6%25'
    """
    return quote(name, safe="=#+-_.,;/()[]{}<>!?&*@$^~")
