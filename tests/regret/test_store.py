"""Stored cells come back as they were, and what is not whole or not of this version counts for nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.regret.cells import Cell, Failure, Result
from benchmarks.regret.running import play_missing, stored
from benchmarks.regret.store import Store, outdated

from tests.regret.players import Always, Broken, cell


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "cells")
    store.prepare()
    return store


def computed(one: Cell) -> Result:
    outcome = one.computed()
    assert isinstance(outcome, Result)
    return outcome


def test_a_result_comes_back_as_it_was(store: Store) -> None:
    one = cell(Always(0))
    result = computed(one)
    store.keep(one, result)
    assert store.result(one) == result


def test_a_result_has_the_means_of_its_rounds(store: Store) -> None:
    result, rounds = computed(cell(Always(1))), cell(Always(1)).place.rounds(40, 0)
    assert result.reward == pytest.approx(rounds.rewards[:, 1].mean())
    assert result.reward_last_quarter == pytest.approx(rounds.rewards[30:, 1].mean())
    assert result.regret == pytest.approx((rounds.means.max(axis=1) - rounds.means[:, 1]).mean())
    assert result.rounds == rounds.digest


def test_cells_are_kept_apart_by_player_environment_length_and_seed() -> None:
    one = cell(Always(0))
    others = [cell(Always(1)), cell(Always(0), seed=1), replace(one, n_rounds=41)]
    assert len({one.key, *(other.key for other in others)}) == 4


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"reward": 1}'])
def test_a_damaged_file_counts_as_missing(store: Store, damage: bytes) -> None:
    one = cell(Always(0))
    store.keep(one, computed(one))
    (store.folder / f"{one.key}.json").write_bytes(damage)
    assert store.result(one) is None


def test_results_of_another_version_count_as_missing_where_they_can_be_made_again(store: Store) -> None:
    here, gone = cell(Always(0)), cell(Always(0), package="a-package-that-nobody-has")
    store.keep(here, replace(computed(here), version="0.0.0-of-long-ago"))
    assert store.result(here) is None
    found = store.result(gone)
    assert found is not None
    assert found.version == "0.0.0-of-long-ago"


def test_a_contestant_that_was_renamed_keeps_its_results(store: Store) -> None:
    before, after = cell(Always(0), name="before"), cell(Always(0), name="after")
    store.keep(before, computed(before))
    found = store.result(after)
    assert found is not None
    assert found.contestant == "after"


def test_results_of_other_code_are_named(store: Store) -> None:
    one, other = cell(Always(0), name="one"), cell(Always(1), name="other")
    found = [(one, computed(one)), (other, replace(computed(other), code="another"))]
    assert outdated(found) == ["other"]


def test_what_is_stored_is_not_played_again(store: Store, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    cells = [cell(Always(0, str(diary)), seed) for seed in range(3)]
    assert play_missing(cells[:2], store, jobs=1) == []
    missing = [one for one in cells if store.result(one) is None]
    assert play_missing(missing, store, jobs=1) == []
    assert diary.read_text() == "0\n1\n2\n"
    assert len(stored(cells, store)) == 3


def test_a_player_that_fails_is_reported_and_the_others_go_on(store: Store) -> None:
    cells = [cell(Broken()), cell(Always(0))]
    failures = play_missing(cells, store, jobs=1)
    assert failures == [Failure(str(cells[0]), "ArithmeticError: seed 0 of 40 rounds is too much.")]
    assert [one.contestant.player for one, _ in stored(cells, store)] == [Always(0)]
