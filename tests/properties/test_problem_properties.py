"""However a table is handed in, the encoding has the same bits; labels, masks and rewards come back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.inputs.columns import Boolean, Categorical, Column, Hashed, Numeric
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.inputs.reward_range import RewardRange
from gyrfalcon.core.inputs.schema import Schema

EXACT = 2**53
finite = st.floats(-1e100, 1e100)
names = st.lists(
    st.text(min_size=1, max_size=4).filter(str.isidentifier), min_size=1, max_size=4, unique=True
)
moderate = st.floats(-1e6, 1e6)


@st.composite
def features(draw: st.DrawFn) -> tuple[Column, st.SearchStrategy[Any]]:
    """A column and what it may hold, of one type, as frames have it."""
    missing = draw(st.booleans())
    kind = draw(st.integers(0, 4))
    text = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=5)
    levels = draw(st.lists(text.filter(lambda level: level != "other"), min_size=1, max_size=3, unique=True))
    column, values = (
        (Numeric(missing), finite),
        (Numeric(missing), st.integers(-EXACT, EXACT)),
        (Boolean(missing), st.booleans()),
        (Categorical(tuple(levels), missing), st.one_of(st.sampled_from(levels), text)),
        (Hashed(draw(st.integers(1, 5)), missing), text),
    )[kind]
    return column, st.none() | values if missing else values


@st.composite
def tables(draw: st.DrawFn) -> tuple[Schema, dict[str, list[Any]]]:
    columns = {name: draw(features()) for name in draw(names)}
    n = draw(st.integers(1, 5))
    schema = Schema(tuple((name, column) for name, (column, _) in columns.items()))
    return schema, {
        name: draw(st.lists(values, min_size=n, max_size=n)) for name, (_, values) in columns.items()
    }


@given(tables(), st.randoms(use_true_random=False))
def test_every_way_to_hand_in_a_table_has_the_same_bits(
    drawn: tuple[Schema, dict[str, list[Any]]], random: Any
) -> None:
    schema, columns = drawn
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    encoded = schema.encode(columns)
    shuffled = dict(random.sample(list(columns.items()), len(columns)))
    ways = [
        shuffled,
        rows,
        [tuple(row.values()) for row in rows],
        pd.DataFrame(shuffled),
        pd.DataFrame(shuffled, dtype=object),
        pl.DataFrame(shuffled, strict=False),
        pa.table(shuffled),
    ]
    for table in ways:
        assert schema.encode(table).tobytes() == encoded.tobytes()
    assert np.concatenate([schema.encode_one(row) for row in rows]).tobytes() == encoded.tobytes()
    positional = [schema.encode_one(list(row.values())) for row in rows]
    assert np.concatenate(positional).tobytes() == encoded.tobytes()
    assert encoded.shape == (len(rows), schema.width)
    assert encoded.flags.c_contiguous
    assert np.isfinite(encoded).all()


@given(tables())
def test_each_value_sets_one_cell_of_its_feature(drawn: tuple[Schema, dict[str, list[Any]]]) -> None:
    schema, columns = drawn
    for name, column in schema.columns:
        part = Schema(((name, column),)).encode({name: columns[name]})
        assert (np.count_nonzero(part, axis=1) <= 1).all()
        if isinstance(column, Categorical | Hashed):
            assert (part.sum(axis=1) == 1.0).all()
        if column.missing:
            assert part[:, -1].tolist() == [float(value is None) for value in columns[name]]


@given(st.lists(st.lists(finite, min_size=3, max_size=3), min_size=1, max_size=5))
def test_plain_arrays_encode_to_themselves(rows: list[list[float]]) -> None:
    schema, array = Schema.of(3), np.array(rows)
    for encoded in (
        schema.encode(array),
        schema.encode(np.asfortranarray(array)),
        schema.encode(array.astype(object)),
        np.concatenate([schema.encode_one(row) for row in array]),
        np.concatenate([schema.encode_one(row) for row in rows]),
    ):
        assert encoded.tobytes() == array.tobytes()


@given(
    st.lists(st.integers() | st.text() | st.booleans() | st.floats(allow_nan=False), min_size=2, unique=True),
    st.data(),
)
def test_labels_come_back(labels: list[Any], data: st.DataObject) -> None:
    problem = Problem(labels)
    chosen = data.draw(st.lists(st.sampled_from(range(len(labels)))))
    indices = problem.indices_of([labels[index] for index in chosen])
    assert indices.tolist() == chosen
    assert all(problem.actions[index] is labels[index] for index in chosen)


@given(st.data())
def test_masks_from_labels_and_from_arrays_agree(data: st.DataObject) -> None:
    labels = data.draw(st.lists(st.text(), min_size=2, max_size=5, unique=True))
    eligible = data.draw(st.lists(st.sets(st.sampled_from(labels), min_size=1), min_size=1, max_size=5))
    problem = Problem(labels)
    contexts = problem.contexts(eligible=eligible)
    mask = contexts.eligible
    assert mask is not None
    assert [{label for label, may in zip(labels, row, strict=True) if may} for row in mask] == eligible
    again = problem.contexts(eligible=mask).eligible
    assert again is not None
    assert again.tobytes() == mask.tobytes()
    assert not np.shares_memory(again, mask)
    for row, allowed in enumerate(eligible):
        one = problem.context(eligible=allowed).eligible
        assert one is not None
        assert one.tobytes() == mask[row].tobytes()
    uniform = problem.log(
        contexts, [min(allowed) for allowed in eligible], [0] * len(eligible), propensities="uniform"
    ).propensity
    np.testing.assert_allclose(uniform * mask.sum(axis=1), 1.0)


@given(moderate, st.floats(1e-3, 1e6), st.booleans(), st.lists(st.floats(0, 1), max_size=5))
def test_rewards_go_to_units_and_back(low: float, width: float, cost: bool, shares: list[float]) -> None:
    high = low + width
    rewards = RewardRange(low, high, cost=cost)
    values = np.clip(low + np.array(shares) * (high - low), low, high)
    units = rewards.to_unit(values)
    assert ((units >= 0.0) & (units <= 1.0)).all()
    np.testing.assert_allclose(rewards.from_unit(units), values, rtol=0, atol=1e-12 * (abs(low) + width))


@given(st.sampled_from(["clip", "accept"]), st.booleans(), st.lists(finite, min_size=1, max_size=5))
def test_one_reward_has_the_same_bits_as_in_a_column(outside: Any, cost: bool, values: list[float]) -> None:
    rewards = RewardRange(-2.0, 5.0, outside, cost)
    units = np.array([rewards.unit_one(value) for value in values])
    assert rewards.to_unit(values).tobytes() == units.tobytes()
    assert rewards.to_unit(np.array(values)).tobytes() == units.tobytes()
    assert outside == "accept" or ((units >= 0.0) & (units <= 1.0)).all()
