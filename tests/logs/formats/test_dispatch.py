"""Formats by name and content: names that say nothing, or something else, than what is in the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.logs import read_log, write_log
from gyrfalcon.logs.formats.dispatch import format_of

TEXT = "2:0.5:0.25 | age:31\n"
LINE = {"_label_cost": -1, "_label_probability": 1.0, "_label_Action": 1, "c": {"_multi": [{"f": 1}]}}


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("log.ldf", TEXT, "cb_text"),
        ("log.data", "\n" + TEXT, "cb_text"),
        ("log", TEXT, "cb_text"),
        ("log.vw", TEXT, "cb_text"),
        ("log.txt", json.dumps(LINE), "dsjson"),
        ("log.json", "\ufeff" + json.dumps(LINE), "dsjson"),
        ("log.json", json.dumps({"_label_ca": {}, "c": {}}), "dsjson"),
        ("log.txt", '{"banner": "red"}', "jsonl"),
        ("log.jsonl", '{"banner": "red"}', "jsonl"),
        ("log", '{"banner": "red"}', "jsonl"),
        ("log.csv", "a|b\n", "csv"),
    ],
)
def test_content_decides_where_the_name_does_not(
    tmp_path: Path, name: str, content: str, expected: str
) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert format_of(path) == expected


@pytest.mark.parametrize(
    ("name", "what"), [("log", "has no ending that tells"), ("log.xls", r"ends with \.xls")]
)
def test_other_content_is_refused_without_advice_to_remove_it(tmp_path: Path, name: str, what: str) -> None:
    (tmp_path / name).write_bytes(b"\x00\x01 something else")
    with pytest.raises(ValueError, match=rf"{name} {what}.*choose one of 'folder', 'csv'"):
        read_log(tmp_path / name)


def test_parquet_files_are_told_by_their_metadata(tmp_path: Path) -> None:
    table = DecisionTable.of(actions=["red"], action=["red"], reward=[1.0], propensity=[1.0])
    write_log(table, tmp_path / "folder")
    write_log(table, tmp_path / "own.parquet")
    (file,) = (tmp_path / "folder").glob("*.parquet")
    file.rename(tmp_path / "renamed")
    assert format_of(tmp_path / "renamed") == "folder"
    assert format_of(tmp_path / "own.parquet") == "parquet"
