"""What functions of logs take: a table of decisions."""

from __future__ import annotations

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.messages import short_repr


def check_table(table: object) -> None:
    """Refuse what is no table of decisions, such as the path of a log."""
    if not isinstance(table, DecisionTable):
        raise ValueError(  # noqa: TRY004 - as all settings
            f"the log is {short_repr(table)}; give a DecisionTable, from read_log(path), "
            "table_from_frame(frame) or DecisionTable.of(...)."
        )
