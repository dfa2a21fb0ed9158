"""What functions of logs take: a table of decisions, in which actions were drawn."""

from __future__ import annotations

from gyrfalcon.core.arrays import Bools
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.messages import short_repr


def check_table(table: object) -> None:
    """Refuse what is no table of decisions, such as the path of a log."""
    if not isinstance(table, DecisionTable):
        raise ValueError(  # noqa: TRY004 - as all settings
            f"the log is {short_repr(table)}; give a DecisionTable, from read_log(path), "
            "table_from_frame(frame) or DecisionTable.of(...)."
        )


def is_deterministic(table: DecisionTable) -> bool:
    """Whether no row with a choice had any randomness: every propensity is 1."""
    choice: Bools = table.eligible.sum(axis=1) > 1
    return bool(choice.any() and (table.propensity[choice] >= 1.0 - 1e-9).all())
