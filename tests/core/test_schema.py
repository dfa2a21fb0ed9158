"""Features become float64, the same for one row and for many, and errors say where and what to do."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from gyrfalcon.core.inputs.columns import Boolean, Categorical, Column, Hashed, Numeric
from gyrfalcon.core.inputs.schema import Schema

PEOPLE = Schema.of(
    {
        "age": Numeric(missing=True),
        "member": "boolean",
        "country": ["NO", "SE"],
        "city": Hashed(3, missing=True),
    }
)
ROWS: list[dict[str, Any]] = [
    {"age": 31, "member": True, "country": "SE", "city": "Oslo"},
    {"city": None, "age": None, "country": "FI", "member": 0},
]


def test_encoded_columns_have_names() -> None:
    assert PEOPLE.names == (
        *("age", "age:missing", "member", "country=NO", "country=SE", "country=other"),
        *("city#0", "city#1", "city#2", "city:missing"),
    )
    assert PEOPLE.width == 10


def test_rows_encode_by_name() -> None:
    encoded = PEOPLE.encode(ROWS)
    assert encoded[0, :6].tolist() == [31.0, 0.0, 1.0, 0.0, 1.0, 0.0]
    assert encoded[1].tolist() == [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    assert encoded[0, 6:].sum() == 1.0


def test_a_feature_that_may_be_missing_may_be_left_out() -> None:
    row = {"member": 0, "country": "FI"}
    assert PEOPLE.encode_one(row).tolist() == PEOPLE.encode(ROWS)[1:].tolist()
    assert PEOPLE.encode([row]).tolist() == PEOPLE.encode(ROWS)[1:].tolist()
    assert (
        PEOPLE.encode({name: [value] for name, value in row.items()}).tolist()
        == PEOPLE.encode([row]).tolist()
    )


def test_a_hash_is_the_same_in_another_process() -> None:
    code = "from gyrfalcon import Hashed, Schema; schema = Schema.of({'c': Hashed(64)}); "
    code += "print(schema.encode_one({'c': 'Tromsø'}).argmax())"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert Schema.of({"c": Hashed(64)}).encode_one({"c": "Tromsø"}).argmax() == int(other) == 19


def test_values_that_compare_equal_hash_alike_and_so_does_their_text() -> None:
    schema = Schema.of({"id": Hashed(1000)})
    first = schema.encode([{"id": 1}]).argmax()
    for twin in (1.0, True, "1", np.int8(1), np.float32(1), np.str_("1")):
        assert schema.encode_one({"id": twin}).argmax() == first
    assert schema.encode_one([1.5]).argmax() == schema.encode_one(["1.5"]).argmax()


def test_an_enumeration_of_text_hashes_and_matches_as_its_text() -> None:
    class Country(str, Enum):  # noqa: UP042
        NORWAY = "NO"

    schema = Schema.of({"country": ["NO"], "same": "hashed"})
    assert schema.encode_one([Country.NORWAY] * 2).tolist() == schema.encode_one(["NO", "NO"]).tolist()


@pytest.mark.parametrize(
    ("spec", "columns"),
    [
        (None, ()),
        (0, ()),
        (2, (("x0", Numeric()), ("x1", Numeric()))),
        (np.int64(1), (("x0", Numeric()),)),
        (["a", "b"], (("a", Numeric()), ("b", Numeric()))),
        ({"a": "boolean", "b": ("x", "y")}, (("a", Boolean()), ("b", Categorical(("x", "y"))))),
        ({"a": Hashed(4), "b": "hashed"}, (("a", Hashed(4)), ("b", Hashed()))),
        (PEOPLE, PEOPLE.columns),
    ],
)
def test_schemas_are_built_from_what_people_write(
    spec: object, columns: tuple[tuple[str, Column], ...]
) -> None:
    assert Schema.of(spec) == Schema(columns)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (-1, "features are -1"),
        (True, "features are True"),
        ("age", "features are 'age'"),
        ([1, 2], "features are"),
        ({"a": "float"}, "feature 'a' is 'float'; give 'numeric'"),
        ({"a": []}, "at least one level"),
        ({"a": ["x", "x"]}, "the level 'x' is there twice"),
        ({"a": [1, True]}, "the level True is there twice"),
        ({"a": [1, "1"]}, "the level '1' is there twice, or reads like another"),
        ({"a": ["x", None]}, "None cannot be a level"),
        ({"a": ["other"]}, "'other' cannot be a level"),
        ({1: "numeric"}, "feature 1 is"),
        (["a", "a"], "two features encode as 'a'"),
        ({"a": ["b"], "a=b": "numeric"}, "two features encode as 'a=b'"),
    ],
)
def test_schemas_that_make_no_sense_are_refused(spec: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Schema.of(spec)


def test_settings_of_columns_are_checked() -> None:
    with pytest.raises(ValueError, match="n_buckets is 0"):
        Hashed(0)
    with pytest.raises(ValueError, match="levels are 'abc'"):
        Categorical("abc")  # type: ignore[arg-type]


def test_schemas_are_values() -> None:
    again = pickle.loads(pickle.dumps(PEOPLE))
    assert again == PEOPLE
    assert hash(again) == hash(PEOPLE)
    assert again.encode(ROWS).tobytes() == PEOPLE.encode(ROWS).tobytes()
    assert replace(PEOPLE, columns=PEOPLE.columns[:1]).names == ("age", "age:missing")


@pytest.mark.parametrize(
    ("example", "columns"),
    [
        (None, ()),
        ({"a": 1, "b": True, "c": "x"}, (("a", Numeric()), ("b", Boolean()), ("c", Hashed()))),
        ({"a": [1, None]}, (("a", Numeric(missing=True)),)),
        ([{"a": "x"}, {"b": np.bool_(True)}], (("a", Hashed(missing=True)), ("b", Boolean(missing=True)))),
        ({"a": [1, "x"]}, (("a", Hashed()),)),
        ([1.0, "x"], (("x0", Numeric()), ("x1", Hashed()))),
        (np.zeros(2), (("x0", Numeric()), ("x1", Numeric()))),
        (np.zeros((5, 1)), (("x0", Numeric()),)),
        (pd.DataFrame({"a": [1.0], "b": ["x"]}), (("a", Numeric()), ("b", Hashed()))),
        (pd.Series({"a": 1.0, "b": 2.0}), (("a", Numeric()), ("b", Numeric()))),
        (pl.DataFrame({"a": [1, None], "b": [True, False]}), (("a", Numeric(True)), ("b", Boolean()))),
        (pa.table({"a": ["x", None]}), (("a", Hashed(missing=True)),)),
    ],
)
def test_schemas_are_inferred_from_examples(example: object, columns: tuple[tuple[str, Column], ...]) -> None:
    assert Schema.infer(example) == Schema(columns)


@pytest.mark.parametrize("example", [{"a": None}, {"a": date(2020, 1, 1)}, {"a": 1j}, [["x"], [b"y"]], 3.0])
def test_what_cannot_be_inferred_is_refused(example: object) -> None:
    with pytest.raises(
        ValueError, match=r"declare it|is not a number|neither text nor|not a table|is not a row"
    ):
        Schema.infer(example)


@pytest.mark.parametrize(
    "table",
    [
        np.array([[1, 2], [3, 4]]),
        np.array([[1, 2], [3, 4]], dtype=np.float32),
        np.array([[1, 2], [3, 4]], dtype=">f8"),
        np.array([[1, 2], [3, 4]], dtype=np.longdouble),
        np.array([[1, 2], [3, 4]], dtype=np.uint8),
        np.array([[1, 2], [3, 4]], dtype=object),
        np.array([[1.0, 3.0], [2.0, 4.0]]).T,
        np.arange(12.0).reshape(2, 6)[:, 1::4] * 0 + [[1, 2], [3, 4]],
        np.asmatrix([[1.0, 2.0], [3.0, 4.0]]),
        [[1, 2], [3, 4.0]],
        [(Decimal(1), 2), (3, 4)],
        sparse.csr_array([[1, 2], [3, 4]]),
        {"x1": [2, 4], "x0": [1, 3]},
        {"x0": pd.Series([1, 3]), "x1": range(2, 6, 2)},
        pd.DataFrame({"x1": [2, 4], "x0": [1, 3]}),
        pd.DataFrame({"x1": [2, 4], "x0": [1, 3]}, dtype="Int64"),
        pd.DataFrame([[1, 2], [3, 4]]),
    ],
)
def test_tables_of_every_kind_encode_alike_as_new_contiguous_floats(table: object) -> None:
    encoded = Schema.of(2).encode(table)
    assert encoded.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert encoded.dtype == np.float64
    assert encoded.flags.c_contiguous
    assert type(encoded) is np.ndarray
    assert not (isinstance(table, np.ndarray) and np.shares_memory(encoded, table))


@pytest.mark.parametrize(
    "row",
    [
        np.array([1.0, 2.0]),
        np.array([1, 2], dtype=np.float32),
        np.array([9.0, 1.0, 9.0, 2.0])[1::2],
        np.array([[1.0, 2.0]]),
        [1, 2.0],
        (True, np.float32(2)),
        [Decimal(1), 2],
        {"x1": 2, "x0": 1},
        pd.Series({"x1": 2.0, "x0": 1.0}),
        pd.Series([1.0, 2.0]),
        pl.Series([1, 2]),
        pa.array([1, 2]),
        pd.DataFrame({"x1": [2], "x0": [1]}),
        pa.table({"x1": [2], "x0": [1]}),
        sparse.csr_array([[1, 2]]),
    ],
)
def test_rows_of_every_kind_encode_alike(row: object) -> None:
    encoded = Schema.of(2).encode_one(row)
    assert encoded.tolist() == [[1.0, 2.0]]
    assert encoded.dtype == np.float64
    assert encoded.flags.c_contiguous


def test_an_encoded_row_does_not_change_with_the_callers_array() -> None:
    row = np.array([1.0, 2.0])
    encoded = Schema.of(2).encode_one(row)
    row[:] = 7.0
    assert encoded.tolist() == [[1.0, 2.0]]


def test_a_read_only_array_is_fine() -> None:
    table = np.ones((3, 2))
    table.flags.writeable = False
    assert Schema.of(2).encode(table).flags.writeable
    assert Schema.of(2).encode_one(table[0]).flags.writeable


def test_bools_are_numbers_in_numeric_columns_and_numbers_are_bools_in_boolean_ones() -> None:
    assert Schema.of(2).encode(np.array([[True, False]])).tolist() == [[1.0, 0.0]]
    assert Schema.of({"a": "boolean"}).encode(np.array([[1.0], [0.0]])).tolist() == [[1.0], [0.0]]


def test_huge_finite_values_pass_and_the_culprit_among_them_is_found() -> None:
    schema = Schema.of(2)
    huge = [1e100, -1e100]
    assert schema.encode_one(np.array(huge)).tolist() == [huge]
    assert schema.encode_one(huge).tolist() == [huge]
    assert schema.encode(np.array([huge, huge])).tolist() == [huge, huge]
    assert schema.encode(np.array([[1e99, 2**60]], dtype=object)[:, :1].repeat(2, 1)).tolist() == [[1e99] * 2]
    with pytest.raises(ValueError, match="feature 'x1': inf is not finite"):
        schema.encode_one(np.array([1e100, np.inf]))
    with pytest.raises(ValueError, match="row 1, feature 'x0': the value is missing"):
        schema.encode(np.array([huge, [np.nan, 1.0]]))


@pytest.mark.parametrize("row", [[1e101, 0.0], [0.0, -1.7e308]])
def test_values_whose_squares_would_overflow_are_refused(row: list[float]) -> None:
    named = dict(zip(("x0", "x1"), row, strict=True))
    for one in (row, np.array(row), named):
        with pytest.raises(ValueError, match="is beyond 1e100"):
            Schema.of(2).encode_one(one)
    for table in (np.array([row]), [named]):
        with pytest.raises(ValueError, match="is beyond 1e100"):
            Schema.of(2).encode(table)


def test_a_missing_decimal_is_missing() -> None:
    with pytest.raises(ValueError, match="the value is missing"):
        Schema.of(1).encode_one([Decimal("NaN")])
    assert Schema.of({"a": Numeric(missing=True)}).encode_one([Decimal("NaN")]).tolist() == [[0.0, 1.0]]


def test_missing_values_in_large_float_columns_get_their_indicator() -> None:
    schema = Schema.of({"a": Numeric(missing=True), "b": Boolean(missing=True)})
    encoded = schema.encode(np.array([[1e99, 1.0], [np.nan, np.nan], [-0.0, 0.0]]))
    assert encoded.tolist() == [[1e99, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]]
    with pytest.raises(ValueError, match="row 1, feature 'a': -inf is not finite"):
        schema.encode(np.array([[np.nan, 1.0], [-np.inf, 0.0]]))


def test_a_flat_array_is_a_column_where_there_is_one_feature() -> None:
    assert Schema.of(1).encode(np.array([1.0, 2.0])).tolist() == [[1.0], [2.0]]
    assert Schema.of({"c": ["a"]}).encode(["a", "b"]).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(
        ValueError, match=r"1 columns \(a flat list or 1-d array is one column\); give \(n, 2\)"
    ):
        Schema.of(2).encode(np.array([1.0, 2.0]))


def test_without_rows_or_without_features_shapes_remain() -> None:
    assert Schema.of(2).encode([]).shape == (0, 2)
    assert Schema.of(2).encode(np.zeros((0, 2))).shape == (0, 2)
    assert PEOPLE.encode(pd.DataFrame(ROWS[:0], columns=list(ROWS[0]))).shape == (0, 10)
    assert Schema().encode(np.zeros((3, 0))).shape == (3, 0)
    assert Schema().encode([{}, {}]).shape == (2, 0)
    nothings: tuple[object, ...] = (None, {}, [], np.zeros(0))
    for nothing in nothings:
        assert Schema().encode_one(nothing).shape == (1, 0)


@pytest.mark.parametrize("row", [{"a": 1}, [1.0], np.ones(1), np.ones((1, 1))])
def test_without_features_none_may_be_given(row: object) -> None:
    with pytest.raises(ValueError, match=r"is not a feature|1 values|1 columns"):
        Schema().encode_one(row)


@pytest.mark.parametrize(
    "value", ["31", 1j, np.datetime64("2020-01-01"), date(2020, 1, 1), [1.0], np.ones(1)]
)
def test_what_is_not_a_number_is_refused_in_a_numeric_column(value: object) -> None:
    schema = Schema.of({"age": "numeric", "b": Numeric(missing=True)})
    for encode in (schema.encode_one, lambda row: schema.encode([row])):
        with pytest.raises(ValueError, match=r"feature 'age': .* is not a number; convert"):
            encode({"age": value, "b": 1})


@pytest.mark.parametrize("dtype", ["complex128", "datetime64[s]", "timedelta64[s]", "U3", "S3"])
def test_arrays_of_other_kinds_are_refused_in_numeric_columns(dtype: str) -> None:
    table = np.ones((2, 2)).astype(np.int64).astype(dtype)
    for schema in (Schema.of(2), Schema.of({"a": "numeric", "b": Numeric(missing=True)})):
        with pytest.raises(ValueError, match=r"row 0, feature '\w+': .* is not a number"):
            schema.encode(table)
        with pytest.raises(ValueError, match=r"feature '\w+': .* is not a number"):
            schema.encode_one(table[0])


@pytest.mark.parametrize("value", [2**53 + 1, 10**400, np.int64(2**60), np.uint64(2**64 - 1)])
def test_integers_that_float64_would_round_are_refused(value: object) -> None:
    schema = Schema.of(["id"])
    for table in ([value], np.array([value])):
        with pytest.raises(ValueError, match=r"feature 'id': \d+\S* is an integer beyond"):
            schema.encode_one(table)
        with pytest.raises(ValueError, match=r"row 0, feature 'id': \d+\S* is an integer beyond"):
            schema.encode(table)
    assert Schema.of({"id": "hashed"}).encode_one([value]).sum() == 1.0


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"member": "yes"}, "feature 'member': 'yes' is neither true nor false"),
        ({"member": 2}, "feature 'member': 2 is neither true nor false"),
        ({"member": None}, "feature 'member': the value is missing; .* missing=True"),
        ({"country": float("nan")}, "feature 'country': the value is missing"),
        ({"country": float("inf")}, "feature 'country': inf is not finite"),
        ({"country": ["NO"]}, "feature 'country': \\['NO'\\] cannot be a level"),
        ({"age": float("inf")}, "feature 'age': inf is not finite"),
        ({"city": -np.inf}, "feature 'city': -inf is not finite"),
        ({"city": b"Oslo"}, "feature 'city': b'Oslo' \\(bytes\\) is neither text nor a number"),
        (
            {"contry": "NO"},
            "'contry' is not a feature \\(did you mean 'country' or 'city'\\?\\); the features are 'age'",
        ),
    ],
)
def test_errors_name_the_feature_the_value_and_the_remedy(row: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        PEOPLE.encode_one({**ROWS[0], **row})
    with pytest.raises(ValueError, match=sentence if "contry" in row else f"row 1, {sentence}"):
        PEOPLE.encode([ROWS[0], {**ROWS[0], **row}])


def test_features_without_values_are_named() -> None:
    sentence = (
        r"'aeg' is not a feature \(did you mean 'age'\?\), and there is no value for 'age'; the features"
    )
    for schema in (Schema.of(["age", "b"]), Schema.of({"age": "boolean", "b": "numeric"})):
        with pytest.raises(ValueError, match=sentence):
            schema.encode_one({"aeg": 1.0, "b": 1.0})
        with pytest.raises(ValueError, match=sentence):
            schema.encode(pd.DataFrame({"aeg": [1.0], "b": [1.0]}))
        with pytest.raises(ValueError, match="the context has 3 values; give one for each of 'age', 'b'"):
            schema.encode_one([1.0, 2.0, 3.0])
        with pytest.raises(ValueError, match="3 columns; give"):
            schema.encode(np.ones((1, 3)))
        with pytest.raises(ValueError, match="there are 2 rows where one context is expected; give one"):
            schema.encode_one(np.ones((2, 2)))
        with pytest.raises(ValueError, match="None is not a row"):
            schema.encode_one(None)
        with pytest.raises(ValueError, match=r"3\.0 is not a row"):
            schema.encode_one(3.0)
