"""CSV files, lines of JSON and frames by a mapping: kinds of features, labels, times, errors with lines."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.logs import ColumnMapping, read_log, table_from_frame, write_log
from gyrfalcon.logs.formats.csv_lines import csv_chunks
from gyrfalcon.logs.formats.mapped.tables import tables_of

CLICKS = """banner,click,p,age,country,member,when
red,1,0.5,31,NO,true,2024-05-31T12:00:00Z
blue,0,0.25,,SE,false,2024-05-31 12:00:01.5+00:00
red,,0.5,22,other,true,1717156802
"""
NAMES = {
    "action": "banner",
    "reward": "click",
    "propensity": "p",
    "features": ["age", "country"],
    "time": "when",
}


@pytest.fixture
def clicks(tmp_path: Path) -> Path:
    path = tmp_path / "clicks.csv"
    path.write_text(CLICKS)
    return path


def test_a_csv_file_by_a_mapping(clicks: Path) -> None:
    table = read_log(clicks, mapping=NAMES)
    assert table.actions == ("blue", "red")
    assert table.action.tolist() == [1, 0, 1]
    np.testing.assert_array_equal(table.reward, [1.0, 0.0, np.nan])
    assert table.propensity.tolist() == [0.5, 0.25, 0.5]
    assert table.features == ("age", "age:missing", "country=NO", "country=SE", "country=other")
    assert table.contexts.shared.tolist() == [[31, 0, 1, 0, 0], [0, 1, 0, 1, 0], [22, 0, 0, 0, 1]]
    assert table.time is not None
    assert (table.time - 1717156800.0).tolist() == [0.0, 1.5, 2.0]


@pytest.mark.parametrize("separator", [";", "\t", "|"], ids=["semicolon", "tab", "bar"])
def test_another_separator_is_named(clicks: Path, separator: str) -> None:
    clicks.write_text(CLICKS.replace(",", separator))
    with pytest.raises(ValueError, match=r"the first line is one column, 'banner.+'; give its") as caught:
        read_log(clicks, mapping=NAMES)
    assert f"(on the command line --option delimiter={separator!r})." in str(caught.value)
    assert read_log(clicks, mapping=NAMES, delimiter=separator).actions == ("blue", "red")
    typed = repr(separator).strip("'")
    assert read_log(clicks, mapping=NAMES, delimiter=typed).actions == ("blue", "red")


@pytest.mark.parametrize("separator", [";;", "", "tab", '"', "\n"])
def test_a_separator_is_one_character(clicks: Path, separator: str) -> None:
    with pytest.raises(ValueError, match=r"delimiter is .*; give the one character that separates columns"):
        read_log(clicks, mapping=NAMES, delimiter=separator)


def test_a_file_with_one_column_needs_no_separator(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("banner\nred\nblue\n")
    assert len(read_log(tmp_path / "one.csv", mapping={"action": "banner"})) == 2


def test_small_chunks_give_the_table_of_the_whole_file(clicks: Path) -> None:
    whole = DecisionTable.concat(list(tables_of(lambda: csv_chunks(clicks), NAMES)))
    parts = list(tables_of(lambda: csv_chunks(clicks, chunk_rows=2), NAMES))
    assert [len(part) for part in parts] == [2, 1]
    assert {part.features for part in parts} == {whole.features}
    assert np.concatenate([part.contexts.shared for part in parts]).tolist() == whole.contexts.shared.tolist()


def test_json_lines_and_frames_give_what_csv_gives(clicks: Path, tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.read_csv(clicks)
    lines = [
        json.dumps({key: value for key, value in row.items() if value == value})  # noqa: PLR0124
        for row in frame.to_dict("records")
    ]
    path = tmp_path / "clicks.jsonl"
    path.write_text("\n".join(lines))
    expected = read_log(clicks, mapping=NAMES)
    for table in (read_log(path, mapping=NAMES), table_from_frame(frame, NAMES)):
        assert table.actions == expected.actions
        assert table.features == expected.features
        np.testing.assert_array_equal(table.contexts.shared, expected.contexts.shared)
        np.testing.assert_array_equal(table.reward, expected.reward)
        np.testing.assert_array_equal(table.time, expected.time)


def test_compressed_and_tab_separated_files(clicks: Path, tmp_path: Path) -> None:
    path = tmp_path / "clicks.tsv.gz"
    path.write_bytes(gzip.compress(CLICKS.replace(",", "\t").encode()))
    assert read_log(path, mapping=NAMES).actions == ("blue", "red")
    semicolons = tmp_path / "semicolons.csv"
    semicolons.write_text(CLICKS.replace(",", ";"))
    assert read_log(semicolons, mapping=NAMES, delimiter=";").actions == ("blue", "red")


def test_all_other_columns_are_features_with_a_star(clicks: Path) -> None:
    table = read_log(clicks, mapping={**NAMES, "features": "*"})
    assert {name.partition("=")[0].partition(":")[0] for name in table.features} == {
        "age",
        "country",
        "member",
    }


def test_declared_kinds_are_kept(clicks: Path) -> None:
    kinds = {"country": ["NO", "SE"], "member": "boolean"}
    path = clicks.with_name("kinds.csv")
    path.write_text(CLICKS.replace("true", "1").replace("false", "0"))
    table = read_log(path, mapping={**NAMES, "features": kinds})
    assert table.features == ("country=NO", "country=SE", "country=other", "member")
    assert table.contexts.shared[:, 3].tolist() == [1.0, 0.0, 1.0]


def test_text_with_many_values_is_hashed() -> None:
    frame = {"a": ["x"] * 150, "city": [f"city {place}" for place in range(150)]}
    table = table_from_frame(frame, {"action": "a", "features": ["city"]})
    assert len(table.features) == 32
    assert (table.contexts.shared.sum(axis=1) == 1.0).all()


def test_given_actions_keep_their_order_and_others_are_unknown(clicks: Path) -> None:
    table = read_log(
        clicks, mapping={**NAMES, "actions": ["red", "green"], "cost": True, "reward_range": (0, 1)}
    )
    assert table.actions == ("red", "green")
    assert table.action.tolist() == [0, -1, 0]
    assert table.cost
    assert table.reward_range == (0.0, 1.0)


def test_lists_of_eligible_actions_and_their_probabilities() -> None:
    frame = {
        "a": ["x", "y"],
        "can": [["x", "z"], ["y", "x", "z"]],
        "p": [[0.25, 0.75], [0.2, 0.3, 0.5]],
        "own": [[{"price": 1.0}, {"price": 2.0}], [{"price": 3.0}, {"price": 4.0}, {}]],
    }
    names = {"action": "a", "eligible": "can", "distribution": "p", "action_features": "own"}
    table = table_from_frame(frame, names)
    assert table.actions == ("x", "z", "y")
    assert table.eligible.tolist() == [[True, True, False], [True, True, True]]
    assert table.distribution is not None
    assert table.distribution.tolist() == [[0.25, 0.75, 0.0], [0.3, 0.5, 0.2]]
    assert table.contexts.actions is not None
    np.testing.assert_array_equal(table.contexts.actions[:, :, 0], [[1.0, 2.0, 0.0], [4.0, np.nan, 3.0]])


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_columns_of_every_kind_that_frames_have(kind: str) -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    start = datetime(2024, 5, 31, 12, tzinfo=UTC)
    columns: dict[str, list[Any]] = {
        "when": [start + timedelta(seconds=place) for place in range(3)],
        "a": ["x", None, "y"],
        "level": ["u", "v", "u"],
        "whole": [1, None, 3],
        "flag": [True, False, True],
        "text": ["p", None, "q"],
    }
    if kind == "pandas":
        frame: Any = pd.DataFrame(columns).astype({"level": "category", "whole": "Int64", "text": "string"})
    elif kind == "polars":
        frame = pl.DataFrame(columns).with_columns(pl.col("level").cast(pl.Categorical))
    else:
        frame = pa.table({**columns, "level": pa.array(columns["level"]).dictionary_encode()})
    names = {"action": "a", "time": "when", "features": ["level", "whole", "flag", "text"]}
    table = table_from_frame(frame, names)
    assert table.action.tolist() == [0, -1, 1]
    assert table.time is not None
    assert (table.time - start.timestamp()).tolist() == [0.0, 1.0, 2.0]
    assert dict(zip(table.features, table.contexts.shared.T.tolist(), strict=True)) == {
        "level=u": [1, 0, 1],
        "level=v": [0, 1, 0],
        "level=other": [0, 0, 0],
        "whole": [1, 0, 3],
        "whole:missing": [0, 1, 0],
        "flag": [1, 0, 1],
        "text=p": [1, 0, 0],
        "text=q": [0, 0, 1],
        "text=other": [0, 0, 0],
        "text:missing": [0, 1, 0],
    }


@pytest.mark.parametrize(
    ("labels", "texts"), [((True, False), ("true", "false")), ((0.5, 1e22), ("0.5", "1e+22"))]
)
def test_labels_of_other_kinds_are_text_in_a_csv_file(
    tmp_path: Path, labels: tuple[Any, ...], texts: tuple[str, ...]
) -> None:
    table = DecisionTable.of(actions=labels, action=labels[::-1], reward=[0.0, 1.0])
    write_log(table, tmp_path / "log.csv")
    again = read_log(tmp_path / "log.csv")
    assert again.actions == texts
    assert again.action.tolist() == [1, 0]


def test_a_column_for_each_action(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("a,p_z,p_x,can_x,can_z\nz,0.25,0.75,1,1\nz,1,0,0,1\n")
    names = {
        "action": "a",
        "distribution": {"z": "p_z", "x": "p_x"},
        "eligible": {"x": "can_x", "z": "can_z"},
        "features": "*",
    }
    table = read_log(path, mapping=names)
    assert table.actions == ("x", "z")
    assert table.eligible.tolist() == [[True, True], [False, True]]
    assert table.distribution is not None
    assert table.distribution.tolist() == [[0.75, 0.25], [0.0, 1.0]]
    assert table.features == ()
    fewer = read_log(path, mapping={**names, "actions": ["z"]})
    assert fewer.distribution is not None
    assert fewer.distribution.tolist() == [[0.25], [1.0]]
    with pytest.raises(ValueError, match=r"wide\.csv has no column 'p_y'; did you mean 'p_"):
        read_log(path, mapping={**names, "distribution": {"x": "p_y"}})
    with pytest.raises(
        ValueError, match=r"the mapping's 'eligible' is \{'x': 1\}; give the name of a column"
    ):
        read_log(path, mapping={**names, "eligible": {"x": 1}})


def test_an_empty_file_with_a_header_is_a_table_without_rows(clicks: Path) -> None:
    clicks.write_text(CLICKS.splitlines()[0] + "\n")
    assert len(read_log(clicks, mapping=NAMES)) == 0


def _with_line(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("red,1,", "red,yes,", r"clicks\.csv, line 2: click is 'yes', which is not a number; give a number"),
        ("0.25", '"0,25"', r"line 3: p is '0,25', which is not a number; give a number, with a point before"),
        ("blue,0,0.25,,SE", "blue,0,0.25", r"clicks\.csv, line 3: there are 5 values for 7 columns"),
        ("1717156802", "never", r"clicks\.csv, line 4: when is 'never', which is not a time; give seconds"),
        ("banner,click", "banner,banner", r"clicks\.csv has several columns 'banner'; rename all but one"),
        ("banner,click", "banner,clicks", r"clicks\.csv has no column 'click'; did you mean 'clicks'\?"),
        (",31,", ",inf,", r"clicks\.csv, line 2: feature 'age': inf is not finite"),
        (CLICKS, "", r"clicks\.csv is empty; give a file whose first line"),
        ("blue", '"blue', r"clicks\.csv, line \d+: the line can't be read"),
    ],
)
def test_errors_name_the_line_and_the_remedy(clicks: Path, old: str, new: str, message: str) -> None:
    clicks.write_text(CLICKS.replace(old, new))
    with pytest.raises(ValueError, match=message):
        read_log(clicks, mapping=NAMES)


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"acton": "banner"}, r"the mapping has 'acton'; did you mean 'action'"),
        (
            {"reward": "click"},
            r"the mapping has no 'action'; give the column with the actions taken, among 'banner'",
        ),
        ({"action": 3}, r"the mapping's 'action' is 3; give the name of a column"),
        (None, r"the mapping has no 'action'"),
        (7, r"mapping is 7; give a dict"),
    ],
)
def test_wrong_mappings_are_refused(clicks: Path, mapping: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_log(clicks, mapping=mapping)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("can", [["x"], 3], r"row 1: can is 3, which is not a list"),
        ("p", [[1.0], [0.5, 0.5]], r"row 1: p has 2 probabilities for 1 eligible actions"),
        ("p", [[1.0], ["many"]], r"row 1: p is \['many'\], which are not numbers"),
        ("own", [[{}], [3]], r"row 1: own is \[3\]; give a list with a mapping"),
        ("own", [[{"a": 1}], [{"a": "b"}]], r"row 1: own has a value that is no number"),
        ("own", [[{"a": 1}], [{"a": 1}, {}]], r"row 1: own has features of 2 actions for 1 eligible ones"),
    ],
)
def test_wrong_lists_are_named_by_row(column: str, value: Any, message: str) -> None:
    frame = {"a": ["x", "x"], "can": [["x"], ["x"]], "p": [[1.0], [1.0]], "own": [[{"a": 1}], [{"a": 1}]]}
    names = {"action": "a", "eligible": "can", "distribution": "p", "action_features": "own"}
    with pytest.raises(ValueError, match=message):
        table_from_frame({**frame, column: value}, names)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"log\.jsonl, line 2: the line is no JSON"),
        ("[1]", r"log\.jsonl, line 2: the line is \[1\]; give an object on each line"),
        ('{"a": "x", "r": "good"}', r"log\.jsonl, line 2: r is 'good', which is not a number"),
    ],
)
def test_wrong_lines_of_json_are_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": "x", "r": 1}\n' + line)
    with pytest.raises(ValueError, match=message):
        read_log(path, mapping={"action": "a", "reward": "r"})


def test_unknown_formats_and_options_are_refused(clicks: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"format is 'cvs'; did you mean 'csv'"):
        read_log(clicks, format="cvs")  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match=r"the format 'csv' has no option 'action'; it has 'mapping', 'delimiter'"
    ):
        read_log(clicks, action="banner")
    with pytest.raises(
        ValueError, match=r"ends with \.xls, which is no known format; choose one of 'folder', 'csv'"
    ):
        read_log(tmp_path / "log.xls")


def test_a_mapping_is_a_value_of_its_own() -> None:
    mapping = ColumnMapping.of(NAMES)
    assert mapping == ColumnMapping.of(mapping) == ColumnMapping(**{**NAMES, "features": ("age", "country")})  # type: ignore[arg-type]
    assert isinstance(
        table_from_frame(
            {"banner": ["x"], "click": [1], "p": [1], "age": [1], "country": ["NO"], "when": [0]}, mapping
        ),
        DecisionTable,
    )


def test_words_for_missing_numbers_are_values_among_texts(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("banner,click,age,country\nred,True,NA,NA\nblue,false,31,NO\nred,0,nan,\n")
    table = read_log(path, mapping={"action": "banner", "reward": "click", "features": ["age", "country"]})
    assert table.reward.tolist() == [1.0, 0.0, 0.0]
    assert table.features[:4] == ("age", "age:missing", "country=NA", "country=NO")
    assert table.contexts.shared[:, :3].tolist() == [[0.0, 1.0, 1.0], [31.0, 0.0, 0.0], [0.0, 1.0, 0.0]]


def test_nested_features_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"banner": "red", "user": 1}\n{"banner": "red", "user": {"age": 3}}\n')
    with pytest.raises(
        ValueError, match=r"log\.jsonl, line 2: user is \{'age': 3\}, which is neither a number"
    ):
        read_log(path, mapping={"action": "banner", "features": ["user"]})


@pytest.mark.parametrize(
    ("name", "line"),
    [("log.csv.gz", b"a,b\n"), ("log.jsonl.gz", b'{"a": 1}\n'), ("log.vw.gz", b"1:1:1 | a\n")],
)
def test_damaged_archives_are_refused(tmp_path: Path, name: str, line: bytes) -> None:
    path = tmp_path / name
    mapping: dict[str, Any] = {} if ".vw" in name else {"mapping": {"action": "a"}}
    whole = gzip.compress(line * 10_000)
    for content, what in ((whole[:-20], "ended before"), (line, "Not a gzipped"), (whole[:10] + whole, "")):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=rf"{name}: the file can't be decompressed \(.*{what}"):
            read_log(path, **mapping)
