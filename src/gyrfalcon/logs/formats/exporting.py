"""What writers of other formats share: checks of tables, names of labels, and files put in place whole."""

from __future__ import annotations

import gzip
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from gyrfalcon.core.decision_table import UNKNOWN_ACTION, DecisionTable
from gyrfalcon.core.inputs.messages import short_repr


def check_actions(table: DecisionTable) -> None:
    """Refuse rows whose action is unknown or was not eligible."""
    unknown = np.flatnonzero(table.action == UNKNOWN_ACTION)
    if len(unknown):
        row = int(unknown[0])
        raise ValueError(
            f"row {table.rows[row]}: the action is none of the table's; leave such rows out, with "
            "table.take(table.action >= 0)."
        )
    allowed = table.eligible[np.arange(len(table)), table.action]
    if not allowed.all():
        row = int(allowed.argmin())
        label = table.actions[table.action[row]]
        raise ValueError(
            f"row {table.rows[row]}: the action {short_repr(label)} was not eligible; correct the row, or "
            "leave it out."
        )


def check_for_wabbit(table: DecisionTable) -> None:
    """Refuse what Vowpal Wabbit can't learn from: no action or no propensity, or labels of the same text."""
    check_actions(table)
    chances = table.propensity
    valid = (chances > 0.0) & (chances <= 1.0)
    if not valid.all():
        row = int(valid.argmin())
        raise ValueError(
            f"row {table.rows[row]}: the propensity is {chances[row]}, which is not in (0, 1]; give it, or "
            "estimate propensities with gyrfalcon.evaluation.estimated_propensities."
        )
    infinite = np.isinf(table.reward)
    if infinite.any():
        row = int(infinite.argmax())
        raise ValueError(f"row {table.rows[row]}: the reward is {table.reward[row]}; give a finite one.")
    texts = [str(label) for label in table.actions]
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise ValueError(f"two actions are {short_repr(twice)} as text; give them labels that differ.")


def identity_name(table: DecisionTable) -> str:
    """A name for the feature that tells actions apart, which none of their features has."""
    name = "id"
    while name in table.action_features:
        name = f"action_{name}"
    return name


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Write lines of text to a file, which is put in place when all of them are written.

    A failure leaves what was there before. No more than one line is in memory.
    """
    target = Path(path).resolve()
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        with temporary.open("xb") as file:
            packed = gzip.GzipFile(fileobj=file, mode="wb", mtime=0) if target.suffix == ".gz" else None
            for line in lines:
                (packed or file).write(f"{line}\n".encode())
            if packed is not None:
                packed.close()
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
