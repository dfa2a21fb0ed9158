"""Values to JSON and arrays, and back: exactly the same, or refused."""

from __future__ import annotations

import json
import math
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gyrfalcon
from gyrfalcon.storage.class_ids import ClassIds
from gyrfalcon.storage.codec import SCALARS, Decoder, Encoder


class Name(str, Enum):  # noqa: UP042 - this older kind is the one that passes for text
    ANNA = "anna"


class Number(IntEnum):
    ONE = 1


@dataclass(frozen=True)
class Point:
    x: float
    y: tuple[object, ...] = ()


def there_and_back(value: object, *classes: type) -> Any:
    table = ClassIds(classes)
    encoder = Encoder(table)
    tree = json.loads(json.dumps(encoder.encode(value), allow_nan=False))
    return Decoder(table, lambda number: encoder.arrays[number]).decode(tree)


def same(one: Any, two: Any) -> bool:
    """Equal, of equal types down to the last part, and NaN like NaN."""
    if type(one) is not type(two):
        return False
    if isinstance(one, tuple | list):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, dict):
        return same(list(one.items()), list(two.items()))
    return bool(one == two) or (one != one and two != two)  # noqa: PLR0124


def test_the_comparison_of_these_tests_is_strict() -> None:
    assert same((1, math.nan), (1, math.nan))
    assert not same((1,), (True,))
    assert not same({1: 2, 3: 4}, {3: 4, 1: 2})


leaves = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary(max_size=8)
)
keys = leaves | st.tuples(leaves, leaves)
values = st.recursive(
    leaves,
    lambda part: st.lists(part) | st.lists(part).map(tuple) | st.dictionaries(keys, part),
    max_leaves=20,
)


@given(values)
def test_plain_values_come_back_exactly(value: object) -> None:
    assert same(there_and_back(value), value)


@pytest.mark.parametrize("value", [0.0, -0.0, 5e-324, 1.7e308, 0.1, math.inf, -math.inf, math.nan])
def test_every_float_comes_back_with_its_bits(value: float) -> None:
    assert there_and_back(value).hex() == value.hex()


@pytest.mark.parametrize("value", [2**63, -(2**63), 2**64 + 1, -(10**5000)], ids=["63", "-63", "64", "large"])
def test_large_integers_come_back(value: int) -> None:
    assert there_and_back(value) == value


@pytest.mark.parametrize("cls", SCALARS.values())
def test_numpy_scalars_keep_their_type(cls: Any) -> None:
    value = cls(1)
    assert same(there_and_back(value), value)


def test_numpy_scalars_that_are_not_finite_come_back() -> None:
    assert there_and_back(np.float32(np.inf)) == np.inf
    assert np.isnan(there_and_back(np.float64(np.nan)))


def test_arrays_are_collected_beside_the_tree() -> None:
    encoder = Encoder(ClassIds())
    array = np.arange(3.0)
    assert encoder.encode([array, array + 1.0]) == {"list": [{"array": 0}, {"array": 1}]}
    assert encoder.arrays[0] is array


def test_what_stands_in_several_places_is_stored_once_and_shared_again() -> None:
    array = np.arange(3.0)
    point = Point(0.5, (array,))
    encoder = Encoder(ClassIds([Point]))
    tree = encoder.encode((point, array, point, Point(1.0, (array,))))
    assert len(encoder.arrays) == 1
    back = Decoder(ClassIds([Point]), lambda number: encoder.arrays[number].copy()).decode(tree)
    assert back[0] is back[2]
    assert back[0] is not back[3]
    assert back[1] is back[0].y[0] is back[3].y[0]


def test_a_number_that_nothing_has_been_read_for_is_refused() -> None:
    with pytest.raises(ValueError, match="again"):
        Decoder(ClassIds(), np.zeros).decode({"again": 0})


def test_classes_of_ones_own_come_back_when_they_are_named() -> None:
    value = (Point(0.5, (Name.ANNA, Number.ONE)), Name.ANNA, Number.ONE)
    back = there_and_back(value, Point, Name, Number)
    assert same(back, value)
    assert back[1] is Name.ANNA


Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    "value",
    [
        Name.ANNA,
        Number.ONE,
        Point(1.0),
        Pair(1, 2),
        OrderedDict(a=1),
        1j,
        {1, 2},
        object(),
        print,
        Point,
        np.longdouble(1),
        np.datetime64("2024-01-01"),
        np.array(["a"]),
        np.array([None]),
        np.array([1.0], dtype=np.float32),
    ],
)
def test_what_would_come_back_as_something_else_is_refused(value: object) -> None:
    for nested in (value, [value], {"key": value}, Point(1.0, (value,))):
        with pytest.raises(TypeError, match=r"can't be stored.*\.$"):
            there_and_back(nested)


def test_a_named_class_must_be_a_dataclass_or_an_enum() -> None:
    with pytest.raises(TypeError, match="neither a dataclass nor an Enum"):
        there_and_back(1j, complex)


def test_two_classes_of_one_name_are_refused() -> None:
    @dataclass
    class Point:
        z: int

    with pytest.raises(ValueError, match=r"two classes are called Point.*rename one"):
        ClassIds([Point, globals()["Point"]])
    assert ClassIds([Point, Point]).class_of("own/Point") is Point


@dataclass
class Log:
    """Has the name of a class of ours."""

    rows: int


def test_a_class_of_ones_own_may_have_the_name_of_one_of_ours() -> None:
    assert ClassIds([Log]).id_of(Log) == "own/Log"
    assert ClassIds([Log]).id_of(gyrfalcon.Log) == ClassIds([gyrfalcon.Log]).id_of(gyrfalcon.Log) == "log"
    assert same(there_and_back(Log(3), Log), Log(3))


@pytest.mark.parametrize(
    "tree",
    [
        {"class": "os.system", "fields": {}},
        {"class": "Log", "fields": {}},
        {"class": "own/Log", "fields": {}},
        {"class": "own/Point", "fields": []},
        {"enum": "own/Name", "value": "otto"},
        {"scalar": "void", "value": 3},
        {"scalar": "Point", "value": 3},
        {"float": 3},
        {"pickle": "gASVAAAA"},
        {},
        {"bytes": "zz"},
        {"int": "0o7z"},
        {"dict": [[{"list": []}, 1]]},
        {"dict": [[1, 2, 3]]},
        {"class": "own/Point", "fields": {"z": 1}},
    ],
)
def test_trees_of_no_known_kind_are_refused(tree: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        Decoder(ClassIds([Point, Name]), np.zeros).decode(tree)
