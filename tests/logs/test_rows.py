"""Rows of a log: the same in lines and Parquet files, whatever labels, features and outcomes they have."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import given

from gyrfalcon.logs.lines.folder import text_of, whole_lines
from gyrfalcon.logs.lines.outcomes import RowBuilder
from gyrfalcon.logs.lines.rows import FORMAT, LoggedDecisions
from gyrfalcon.logs.parquet.files import read_rows, write_rows
from gyrfalcon.logs.parquet.row_columns import schema_of_rows

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
LABELS = st.one_of(
    st.lists(TEXTS, min_size=2, max_size=4, unique=True),
    st.lists(TEXTS | st.integers(-(2**70), 2**70) | st.none(), min_size=2, max_size=4, unique=True),
)


@st.composite
def logs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Lines of a file: a problem, decisions and outcomes, some of them of other files' decisions."""
    labels = draw(LABELS)
    names = draw(st.lists(TEXTS, max_size=3, unique=True))
    cells = draw(st.lists(TEXTS, max_size=2, unique=True))
    subset = st.lists(st.sampled_from(labels), min_size=1, unique=True)
    seed = draw(st.none() | st.integers(-(2**63), 2**63 - 1))
    header = {"kind": "problem", "format": FORMAT, "seed": seed, "actions": labels, "action_features": cells}
    lines: list[dict[str, Any]] = [header]
    for number in range(draw(st.integers(0, 5))):
        decided = {
            "kind": "decided",
            "event_id": f"e{number}",
            "time": float(number),
            "context": {name: draw(NUMBERS) for name in names},
            "action_features": [[draw(NUMBERS) for _ in cells] for _ in labels] if cells else None,
            "eligible": draw(st.none() | subset),
            "action": draw(st.sampled_from(labels)),
            "propensity": draw(NUMBERS),
            "distribution": draw(st.none() | st.tuples(*[NUMBERS for _ in labels]).map(list)),
            "phase": draw(st.sampled_from(["passive", "policy"])),
            "silent": draw(st.none() | subset),
            "model": draw(st.none() | TEXTS),
        }
        lines.append(decided | {"epoch": 1, "round": number, "epoch_round": number, "sequence": number})
    for number in range(draw(st.integers(0, 8))):
        event = {"event_id": f"e{draw(st.integers(0, 6))}", "time": draw(st.floats(0, 9)), "sequence": number}
        kind = draw(st.sampled_from(["final", "withdrawn", "late"]))
        others: dict[str, dict[str, Any]] = {
            "final": {"reward": draw(st.none() | NUMBERS), "expired": draw(st.booleans())},
            "withdrawn": {"shown": draw(st.sampled_from(labels))},
        }
        lines.append({"kind": kind, **event, **others.get(kind, {})})
    return lines


def built(*parts: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    builder = RowBuilder()
    for part in parts:
        builder.add_file(part, Path("here"))
    unknown = builder.join()
    return builder.rows, unknown


@given(logs())
def test_rows_are_equal_after_lines_and_after_parquet_files(lines: list[dict[str, Any]]) -> None:
    rows, _ = built(lines)
    content = b"".join(map(text_of, lines))
    assert built(list(whole_lines(content, Path("here"))))[0] == rows
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_rows(path, rows, schema_of_rows(rows, lines))
        assert read_rows(path) == rows
    assert len(LoggedDecisions(tuple(rows)).to_pandas()) == len(rows)


@given(logs(), st.randoms())
def test_outcomes_may_come_in_any_order_and_twice(lines: list[dict[str, Any]], shuffled: Any) -> None:
    rows, unknown = built(lines)
    outcomes = [line for line in lines if line["kind"] in {"final", "withdrawn", "late"}]
    decisions = [line for line in lines if line not in outcomes]
    again = [*outcomes, *outcomes]
    shuffled.shuffle(again)
    late, still_unknown = built(again, decisions)
    assert late == rows
    assert {line["event_id"] for line in still_unknown} == {line["event_id"] for line in unknown}
