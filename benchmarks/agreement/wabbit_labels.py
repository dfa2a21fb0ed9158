"""What Vowpal Wabbit itself reads from a dsjson file; only where the package vowpalwabbit is installed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

UNLABELLED = float(np.finfo(np.float32).max)
"""The cost that Vowpal Wabbit gives to a label without one."""


class Label(NamedTuple):
    """The label of one decision, in Vowpal Wabbit's single precision."""

    action: int
    """Counted from 1."""
    cost: float
    probability: float
    n_actions: int
    position: int
    """Where the labelled example stands among the actions, counted from 0."""


def labels(lines: Iterable[str]) -> list[Label]:
    """The labels of the decisions on lines of dsjson, as Vowpal Wabbit parses them."""
    import vowpalwabbit as vw

    workspace = vw.Workspace("--dsjson --cb_explore_adf --quiet")
    found = []
    for line in lines:
        examples: Any = workspace.parse(line)
        costs = [one.get_label(vw.LabelType.CONTEXTUAL_BANDIT).costs for one in examples]
        workspace.finish_example(examples)
        has_shared = len(examples) > len(json.loads(line)["c"]["_multi"])
        actions = costs[1:] if has_shared else costs
        position = next(place for place, one in enumerate(actions) if one)
        (label,) = actions[position]
        found.append(Label(label.action, label.cost, label.probability, len(actions), position))
    workspace.finish()
    return found
