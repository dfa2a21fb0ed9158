from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.schedules import Doubling, FixedBatch, Geometric, KnownHorizon, Schedule

ratios = st.one_of(
    st.sampled_from([1.0 + 2.0**-52, 1.0 + 1e-9, 1.001, 1.1, 2.0]), st.floats(1.0, 10.0, exclude_min=True)
)
schedules: st.SearchStrategy[Schedule] = st.one_of(
    st.builds(Doubling, st.integers(4, 10**6)),
    st.builds(Geometric, st.one_of(st.just(1), st.integers(1, 10**6)), ratios),
    st.builds(Geometric, st.integers(1, 10**3), ratios, st.integers(1, 10**4)),
    st.builds(FixedBatch, st.integers(1, 10**6)),
    st.builds(KnownHorizon, st.one_of(st.integers(4, 300), st.integers(4, 10**12))),
)


def ends(schedule: Schedule, n: int) -> list[int]:
    return [schedule.end(index) for index in range(1, n + 1)]


@given(schedule=schedules)
def test_every_epoch_has_at_least_one_round(schedule: Schedule) -> None:
    last = [0, *ends(schedule, 40)]
    assert all(isinstance(end, int) for end in last)
    assert all(after > before for before, after in pairwise(last))


def test_doubling_from_4() -> None:
    assert ends(Doubling(4), 4) == [4, 8, 16, 32]


def test_geometric_growth_rounds_up() -> None:
    assert ends(Geometric(10, 1.5), 4) == [10, 15, 23, 34]
    assert ends(Geometric(10, 1.1), 3) == [10, 11, 13]  # 10 * 1.1 is a hair above 11 in floats


def test_geometric_growth_from_one_round_waits_for_its_ratio() -> None:
    assert ends(Geometric(1, 1.0 + 2.0**-52), 5) == [1, 2, 3, 4, 5]
    assert ends(Geometric(1, 2.0), 5) == [1, 2, 4, 8, 16]
    assert ends(Geometric(1, 1.5), 6) == [1, 2, 3, 4, 6, 8]


def test_doubling_is_the_geometric_schedule_of_ratio_2() -> None:
    assert ends(Geometric(100, 2.0), 30) == ends(Doubling(100), 30)


@given(st.integers(1, 1_000), ratios, st.integers(1, 10_000))
def test_epochs_grow_up_to_a_length_and_then_keep_it(first: int, ratio: float, longest: int) -> None:
    capped, free = Geometric(first, ratio, longest=longest), Geometric(first, ratio)
    lengths = [after - before for before, after in pairwise(ends(capped, 60))]
    assert max(lengths) <= longest
    growing = next((place for place, length in enumerate(lengths) if length == longest), 60)
    assert ends(capped, growing) == ends(free, growing)
    assert set(lengths[growing + 2 :]) <= {longest} or lengths[-1] < longest - 1


def test_the_schedule_of_the_adaptive_learner() -> None:
    refits = ends(Geometric(16, 1.1, longest=200), 141)
    assert refits[:4] == [16, 18, 20, 22]
    assert refits[-1] - refits[-2] == 200
    assert refits[-1] <= 20_000 < refits[-1] + 200


@pytest.mark.parametrize("longest", [0, -1, 1.5, True])
def test_a_longest_epoch_has_a_round(longest: object) -> None:
    with pytest.raises(ValueError, match="longest is"):
        Geometric(16, 1.1, longest=longest)  # type: ignore[arg-type]


def test_fixed_batches() -> None:
    assert ends(FixedBatch(7), 4) == [7, 14, 21, 28]


def test_a_known_horizon_by_hand() -> None:
    assert ends(KnownHorizon(10_000), 6) == [200, 2000, 6325, 10_000, 20_000, 30_000]
    assert ends(KnownHorizon(4), 3) == [4, 8, 12]


@given(horizon=st.integers(4, 10**12))
def test_a_known_horizon_is_reached_after_about_log_log_epochs(horizon: int) -> None:
    n_epochs = 1 + ends(KnownHorizon(horizon), 12).index(horizon)
    assert n_epochs <= math.ceil(math.log2(math.log2(horizon))) + 1


def test_schedules_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 4 rounds"):
        Doubling(3)
    with pytest.raises(ValueError, match="at least 1 round"):
        Geometric(0)
    for ratio in (1.0, 0.5, math.nan, math.inf):
        with pytest.raises(ValueError, match="above 1"):
            Geometric(10, ratio)
    with pytest.raises(ValueError, match="at least 1 round"):
        FixedBatch(0)
    with pytest.raises(ValueError, match="at least 4 rounds"):
        KnownHorizon(3)
