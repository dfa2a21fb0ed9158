"""Means, paired differences and times that requirements are about: against numbers worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest
from benchmarks.regret import measurements as measure
from benchmarks.regret.cells import Result
from benchmarks.regret.measurements import WABBITS, Measured
from benchmarks.regret.standings import by_contestant

from tests.regret.players import result


def played(name: str, rewards: Mapping[str, tuple[float, ...]], rounds: str = "same") -> list[Result]:
    """One result per environment and seed."""
    return [
        result(name, environment, seed, reward, rounds)
        for environment, given in rewards.items()
        for seed, reward in enumerate(given)
    ]


def measured(found: Measured | str) -> Measured:
    assert isinstance(found, Measured), found
    return found


OWN = played("own", {"a": (0.6, 0.8), "b": (0.5, 0.5)})
OTHER = played("other", {"a": (0.5, 0.5), "b": (0.5, 0.3)})


def test_a_mean_is_over_environments_and_its_error_over_seeds() -> None:
    found = measured(measure.mean(by_contestant(OWN), name="own", environments="ab"))
    # Seed 0 has (.6 + .5)/2 = .55, seed 1 has .65: half their distance is the error of their mean.
    assert (found.value, found.standard_error) == pytest.approx((0.6, 0.05))
    assert found.n_seeds == 2


def test_a_difference_is_paired() -> None:
    found = measured(
        measure.difference(by_contestant([*OWN, *OTHER]), name="own", other="other", environments="ab")
    )
    # Seed 0: (.1 + 0)/2; seed 1: (.3 + .2)/2.
    assert (found.value, found.standard_error) == pytest.approx((0.15, 0.1))


@pytest.mark.parametrize(
    ("others", "sentence"),
    [
        ([], "other has not been played there yet"),
        (OTHER[:2], "other has not been played yet in b"),
        (
            played("other", {"a": (0.5,), "b": (0.5,)}, rounds="others"),
            "there is no seed under which own and other met the same rounds",
        ),
        ([OTHER[0], OTHER[3]], "there is no seed under which own and other met the same rounds"),
    ],
)
def test_what_is_missing_is_said(others: list[Result], sentence: str) -> None:
    found = measure.difference(by_contestant([*OWN, *others]), name="own", other="other", environments="ab")
    assert isinstance(found, str)
    assert found.startswith(sentence)


def test_seeds_that_only_some_have_do_not_count() -> None:
    more = [*OTHER, result("other", "a", 2, 0.9), result("own", "b", 2, 0.0)]
    found = measured(
        measure.difference(by_contestant([*OWN, *more]), name="own", other="other", environments="ab")
    )
    assert found.n_seeds == 2


@pytest.mark.parametrize(
    ("rewards", "z"),
    [((0.6, 0.8), 2.0), ((0.5, 0.5), 0.0), ((0.4, 0.4), -math.inf), ((0.3, 0.5), -1.0)],
)
def test_z_is_the_difference_over_its_error_and_of_equals_0(rewards: tuple[float, ...], z: float) -> None:
    table = by_contestant([*played("own", {"a": rewards}), *OTHER])
    assert measured(measure.z_of_difference(table, name="own", other="other", environments="a")).value == (
        pytest.approx(z)
    )


def test_one_seed_has_no_z() -> None:
    table = by_contestant([OWN[0], *OTHER])
    found = measure.z_of_difference(table, name="own", other="other", environments="a")
    assert found == "own and other have one seed in common; a standard error needs two"


def test_the_lead_is_over_the_best_configuration_that_has_played_everywhere() -> None:
    first, second, third = WABBITS[:3]
    table = by_contestant(
        [
            *OWN,
            *played(first, {"a": (0.2, 0.2), "b": (0.2, 0.2)}),
            *played(second, {"a": (0.5, 0.5), "b": (0.3, 0.3)}),
            *played(third, {"a": (0.9, 0.9)}),
        ]
    )
    found = measured(measure.lead_over_wabbits(table, name="own", environments="ab"))
    assert found.value == pytest.approx(0.2)
    assert found.note.startswith(f"the best is {second}; not played in all environments yet: {third}")
    assert not found.complete


def test_a_lead_over_all_configurations_is_complete() -> None:
    everybody = [
        one for name in WABBITS for one in played(name, {"a": (0.5, 0.5), "b": (0.5, 0.5)}) if one.seed < 2
    ]
    found = measured(
        measure.lead_over_wabbits(by_contestant([*OWN, *everybody]), name="own", environments="ab")
    )
    assert found.complete
    assert found.note == f"the best is {WABBITS[0]}"  # of equals the first
    nobody = measure.lead_over_wabbits(by_contestant(OWN), name="own", environments="ab")
    assert isinstance(nobody, str)


# In a the second class is better by its mean (.7 against .65), in b the first.
CLASSES = [
    *played("one", {"a": (0.8, 0.5), "b": (0.9, 0.9)}),
    *played("two", {"a": (0.6, 0.8), "b": (0.1, 0.1)}),
]


def test_the_best_class_is_chosen_in_each_environment_and_the_worst_environment_counts() -> None:
    own = played("own", {"a": (0.6, 0.6), "b": (0.9, 0.8)})
    found = measured(
        measure.worst_against_best(
            by_contestant([*own, *CLASSES]),
            name="own",
            others=("one", "two"),
            environments="ab",
            part="reward",
        )
    )
    # In a: 0 and -.2 less two, mean -.1; in b: 0 and -.1 less one, mean -.05.
    assert (found.value, found.standard_error) == pytest.approx((-0.1, 0.1))
    assert {environment: one.mean for environment, one in found.by_environment.items()} == pytest.approx(
        {"a": -0.1, "b": -0.05}
    )
    # By seed 1 two is better, and has .6 under seed 0; by seed 0 one is, and has .5 under seed 1.
    assert found.note == "worst in a; to two; +5.00 if chosen on the other seeds"
    assert found.complete


def test_of_equal_classes_either_gives_the_same() -> None:
    own, same = played("own", {"a": (0.6, 0.6)}), {"a": (0.7, 0.7)}
    found = measured(
        measure.worst_against_best(
            by_contestant([*own, *played("one", same), *played("two", same)]),
            name="own",
            others=("one", "two"),
            environments="a",
            part="reward",
        )
    )
    assert (found.value, found.standard_error) == pytest.approx((-0.1, 0.0))
    assert found.note == "to one; -10.00 if chosen on the other seeds"


def test_environments_that_not_all_have_played_are_named() -> None:
    own = played("own", {"a": (0.6, 0.6), "b": (0.0, 0.0)})
    classes = [one for one in CLASSES if (one.contestant, one.environment) != ("two", "b")]
    found = measured(
        measure.worst_against_best(
            by_contestant([*own, *classes]),
            name="own",
            others=("one", "two"),
            environments="ab",
            part="reward",
        )
    )
    assert found.note.endswith("not played by all yet in b")
    assert not found.complete


def test_times_are_of_all_environments_together_and_of_the_worst() -> None:
    seconds = {("own", "a"): 2.0, ("own", "b"): 9.0, ("other", "a"): 1.0, ("other", "b"): 10.0}
    table = by_contestant(
        [replace(one, seconds=seconds[one.contestant, one.environment]) for one in (*OWN, *OTHER)]
    )
    together = measured(measure.times_as_long(table, name="own", other="other", environments="ab"))
    worst = measured(measure.most_times_as_long(table, name="own", other="other", environments="ab"))
    more = measured(measure.most_seconds_more(table, name="own", other="other", environments="ab"))
    assert (together.value, worst.value, more.value) == pytest.approx((1.0, 2.0, 1.0))
    assert together.note == "5.50 s against 5.50 s a run"
    assert (worst.note, more.note) == ("worst in a", "worst in a")
