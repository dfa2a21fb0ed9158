"""Anything table-like comes apart into columns, by name or by position."""

from __future__ import annotations

from collections import namedtuple
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from math import isnan

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from gyrfalcon.core.inputs import tables
from gyrfalcon.core.inputs.messages import short_repr, suggestion
from gyrfalcon.core.inputs.tables import floats_of, listed, number_of, read, row_of, values_of

COLUMNS = {"age": [31, 44], "city": ["Oslo", None]}


@pytest.mark.parametrize(
    "table",
    [
        COLUMNS,
        [{"age": 31, "city": "Oslo"}, {"age": 44, "city": None}],
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS, index=["b", "a"]),
        pl.DataFrame(COLUMNS),
        pa.table(COLUMNS),
        pa.RecordBatch.from_pydict(COLUMNS),
    ],
    ids=["mapping", "rows", "pandas", "pandas with an index", "polars", "arrow table", "arrow batch"],
)
def test_named_tables_of_every_kind_have_the_same_columns(table: object) -> None:
    read_table = read(table)
    assert read_table.n == 2
    assert read_table.names == ("age", "city")
    assert listed(read_table.columns[0]) == [31, 44]
    assert listed(read_table.columns[1])[0] == "Oslo"
    assert tables.is_missing(listed(read_table.columns[1])[1])


@pytest.mark.parametrize(
    "table",
    [
        np.array([[1.0, 2.0], [3.0, 4.0]]),
        [[1.0, 2.0], (3.0, 4.0)],
        [np.array([1.0, 2.0]), np.array([3.0, 4.0])],
        sparse.csr_matrix([[1.0, 2.0], [3.0, 4.0]]),
        sparse.dok_matrix([[1.0, 2.0], [3.0, 4.0]]),
        sparse.coo_array([[1.0, 2.0], [3.0, 4.0]]),
        pd.DataFrame([[1.0, 2.0], [3.0, 4.0]]),
    ],
)
def test_tables_without_names_are_positional(table: object) -> None:
    positional = read(table)
    assert positional.names is None
    assert [listed(column) for column in positional.columns] == [[1.0, 3.0], [2.0, 4.0]]


def test_a_structured_array_has_names() -> None:
    array = np.array([(1.0, True)], dtype=[("age", "f8"), ("member", "?")])
    assert read(array).names == ("age", "member")


def test_rows_with_other_keys_are_missing_there() -> None:
    table = read([{"a": 1}, {"b": 2}])
    assert table == tables.Table(2, ([1, None], [None, 2]), ("a", "b"))


def test_named_tuples_and_pandas_rows_keep_their_names() -> None:
    person = namedtuple("person", ["age", "city"])
    assert row_of(person(31, "Oslo")) == {"age": 31, "city": "Oslo"}
    assert row_of(pd.DataFrame(COLUMNS).iloc[0]) == {"age": 31, "city": "Oslo"}
    assert row_of(pd.Series([1.0, 2.0])) == [1.0, 2.0]
    assert read([person(31, "Oslo"), person(44, None)]).names == ("age", "city")


def test_masked_values_are_missing() -> None:
    table = read(np.ma.array([[1.0, 2.0]], mask=[[False, True]]))
    assert [listed(column) for column in table.columns] == [[1.0], [None]]


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([2**53 + 1, None]),
        pa.chunked_array([[2**53 + 1, None]]),
        pd.Series([2**53 + 1, None], dtype="Int64"),
        pd.Series([2**53 + 1, None], dtype="int64[pyarrow]"),
    ],
)
def test_large_integers_beside_nulls_are_not_rounded(column: object) -> None:
    values = listed(values_of(column))
    assert values[0] == 2**53 + 1
    assert tables.is_missing(values[1])


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"a": [1, 2], "b": [1]}, "columns 'a' and 'b' have 2 and 1 rows"),
        ({"a": 3.0}, "column 'a': 3.0 is not a column"),
        ({"a": "text"}, "column 'a': 'text' is not a column"),
        ({}, "without columns"),
        ([[1, 2], [1]], "row 1 has 1 values and row 0 has 2"),
        ([{"a": 1}, [1]], "row 1 is \\[1\\], but row 0 is a mapping"),
        ([[1], 2.0], "row 1 is 2.0, but row 0 is a sequence"),
        (np.zeros((1, 2, 3)), "shape \\(1, 2, 3\\)"),
        (np.float64(3.0), "3.0 is not a table"),
        ("text", "'text' is not a table"),
        ((row for row in [[1]]), "is not a table"),
        ({1.0, 2.0}, "is not a table"),
        (pl.LazyFrame(COLUMNS), "collect it first"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "several columns 'a'"),
    ],
)
def test_what_is_not_a_table_is_refused_in_a_sentence(table: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        read(table)


def test_a_large_sparse_matrix_is_refused_with_the_limit() -> None:
    with pytest.raises(ValueError, match="at most 10000000 are made dense"):
        read(sparse.csr_matrix((1_000_001, 10)))


@pytest.mark.parametrize(
    "value",
    [1, 1.0, True, np.int8(1), np.uint64(1), np.float32(1), np.bool_(True), Decimal(1), Fraction(1)],
)
def test_numbers_of_every_kind_become_floats(value: object) -> None:
    number = number_of(value)
    assert type(number) is float
    assert number == 1.0


@pytest.mark.parametrize(
    "value", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT", "s")]
)
def test_every_kind_of_none_is_missing(value: object) -> None:
    assert isnan(number_of(value))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("1.0", "'1.0' \\(str\\) is not a number"),
        (b"1", "is not a number"),
        (1j, "is not a number"),
        (np.complex128(1), "is not a number"),
        (np.datetime64("2020-01-01"), "is not a number"),
        (np.timedelta64(1, "s"), "is not a number"),
        (datetime(2020, 1, 1), "is not a number"),
        ([1.0], "is not a number"),
        (np.array([1.0]), "is not a number"),
        (float("inf"), "inf is not finite"),
        (np.float32("-inf"), "-inf is not finite"),
        (Fraction(10**400), "is not finite"),
        (2**53 + 1, "9007199254740993 is an integer beyond 2\\*\\*53"),
        (-(10**400), "beyond 2\\*\\*53"),
        (np.uint64(2**63), "beyond 2\\*\\*53"),
        (np.int64(-(2**63)), "beyond 2\\*\\*53"),
    ],
)
def test_what_is_not_a_finite_number_is_refused(value: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        number_of(value)


def test_the_largest_exact_integer_is_a_number() -> None:
    assert number_of(2**53) == 2.0**53
    assert floats_of([-(2**53)]).tolist() == [-(2.0**53)]


def test_huge_finite_values_do_not_pass_for_infinite_ones() -> None:
    assert floats_of([1e308, 1e308, -1e308]).tolist() == [1e308, 1e308, -1e308]
    assert floats_of(np.array([1e308, -1e308])).tolist() == [1e308, -1e308]
    with pytest.raises(ValueError, match="row 1: inf is not finite"):
        floats_of(np.array([1e308, np.inf]))


def test_a_new_array_is_made_so_that_the_callers_may_change_theirs() -> None:
    values = np.ones(3)
    floats = floats_of(values)
    values[0] = 7.0
    assert floats[0] == 1.0


def test_values_are_shown_short_and_plain() -> None:
    assert short_repr(np.float64(1.5)) == "1.5"
    assert short_repr(np.str_("a")) == "'a'"
    assert len(short_repr("a" * 1000)) == 60


def test_a_suggestion_is_the_nearest_name_or_the_first_few() -> None:
    assert suggestion("contry", ["country", "age"]) == "did you mean 'country'?"
    assert suggestion("AGE", ["country", "age"]) == "did you mean 'age'?"
    assert suggestion("zzz", range(20)) == "known are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 10 more."
