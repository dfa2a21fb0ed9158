"""Environments that change: which rows come from which environment, with all that belongs to them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyrfalcon.core.schedules import FixedBatch
from gyrfalcon.environments.data.classification import Classification
from gyrfalcon.environments.delayed import Delayed
from gyrfalcon.environments.paper import SensitivityExample, StepExample
from gyrfalcon.environments.protocol import Drawable
from gyrfalcon.environments.synthetic.action_features import ActionFeatureEnvironment, EligibilityEnvironment
from gyrfalcon.environments.synthetic.families import LinearEnvironment, SinusoidEnvironment
from gyrfalcon.environments.wrappers import Drifting, Switching
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.simulation.replications import simulate
from tests.environments.drawing import columns, same

A, B, C = (LinearEnvironment(environment_seed=number) for number in range(3))
STEP, SENSITIVE = StepExample(), SensitivityExample()
V, W = ActionFeatureEnvironment(environment_seed=0), ActionFeatureEnvironment(environment_seed=1)
FRUIT = Classification(np.eye(3), ["a", "b", "c"])
VEGETABLES = Classification(-np.eye(3), ["a", "b", "c"])
ENVIRONMENTS: list[Any] = [
    Switching((STEP, SENSITIVE), at=4_500),
    Switching((A, B, C), at=(10, 6_000)),
    Switching((A, B, C), every=3),
    Switching((V, W), every=1_700),
    Switching((A, EligibilityEnvironment(environment=B)), at=5_000),
    Switching((FRUIT, VEGETABLES), every=10),
    Drifting(A, B, start=1_000, stop=9_000),
    Drifting(V, EligibilityEnvironment(environment=W, share=0.3), start=3_000, stop=7_000),
    Drifting(Delayed(A, mean=5, distribution="geometric"), B, start=0, stop=8_000),
    Drifting(Drifting(A, B, start=100, stop=6_000), C, start=4_000, stop=9_000),
    Switching((Drifting(A, B, start=100, stop=6_000), Delayed(C, mean=7)), at=4_000),
    EligibilityEnvironment(environment=Switching((V, W), at=4_000)),
]
all_environments = pytest.mark.parametrize("environment", ENVIRONMENTS, ids=range(len(ENVIRONMENTS)))


def comes_from(environment: Drawable, sources: list[Any], n: int, seed: int = 0) -> Any:
    """Whether each row of a draw is that of each source, (sources, n)."""
    rows = columns(environment.draw(0, n, seed))
    return np.array(
        [
            np.all(
                [(one == other).reshape(n, -1).all(axis=1) for one, other in zip(rows, theirs, strict=True)],
                axis=0,
            )
            for theirs in (columns(source.draw(0, n, seed)) for source in sources)
        ]
    )


@all_environments
@given(st.integers(0, 9_000), st.integers(1, 5_000), st.integers(1, 5_000), st.integers(0, 2**64 - 1))
def test_rows_are_the_same_however_rounds_are_cut(
    environment: Any, start: int, first: int, second: int, seed: int
) -> None:
    middle, stop = start + first, start + first + second
    whole = environment.draw(start, stop, seed)
    halves = environment.draw(start, middle, seed), environment.draw(middle, stop, seed)
    # A stretch without delays need not say so: it is compared where the whole is not.
    if whole.reward_round is not None:
        known = [
            np.arange(begin, begin + len(half)) if half.reward_round is None else half.reward_round
            for begin, half in zip((start, middle), halves, strict=True)
        ]
        assert np.array_equal(whole.reward_round, np.concatenate(known))
    for all_rows, *parts in zip(*(columns(part)[:4] for part in (whole, *halves)), strict=True):
        assert np.array_equal(all_rows, np.concatenate(parts))


# At once, and in turns.


def test_a_switch_changes_the_environment_at_its_round() -> None:
    environment = Switching((STEP, SENSITIVE), at=4_500)
    first, second = environment.draw(0, 4_500, 7), environment.draw(4_500, 9_000, 7)
    assert same(first, STEP.draw(0, 4_500, 7))
    assert same(second, SENSITIVE.draw(4_500, 9_000, 7))


def test_several_environments_follow_each_other() -> None:
    source = comes_from(Switching((A, B, C), at=[10, 600]), [A, B, C], 1_000)
    assert np.array_equal(source.argmax(axis=0), np.repeat([0, 1, 2], [10, 590, 400]))
    assert np.all(source.sum(axis=0) == 1)


@pytest.mark.parametrize("every", [1, 3, 400])
def test_environments_take_turns(every: int) -> None:
    source = comes_from(Switching((A, B, C), every=every), [A, B, C], 2_000)
    assert np.array_equal(source.argmax(axis=0), np.arange(2_000) // every % 3)


def test_a_learner_notices_the_switch() -> None:
    environment = Switching(
        (LinearEnvironment(environment_seed=0), LinearEnvironment(environment_seed=5)), at=2_000
    )
    trace = simulate(
        LinUCB(schedule=FixedBatch(100)), environment, 2_500, 8, checkpoints=[1_500, 2_000, 2_100]
    )
    settled, shocked = trace.regret_per_round[:, 1], trace.regret_per_round[:, 2]
    assert shocked.mean() > 3 * settled.mean()


# Little by little.


def test_rows_come_from_the_new_environment_as_often_as_they_should() -> None:
    environment = Drifting(A, B, start=10_000, stop=90_000)
    source = comes_from(environment, [A, B], 100_000, seed=3)
    assert np.all(source.sum(axis=0) == 1)
    assert source[0, :10_000].all()
    assert source[1, 90_000:].all()
    rounds = np.arange(10_000, 90_000)
    share = (rounds - 10_000) / 80_000
    errors = (source[1, 10_000:90_000] - share).reshape(8, -1)
    deviations = np.sqrt((share * (1 - share)).reshape(8, -1).sum(axis=1))
    # Eight stretches, five standard errors: wrong for one in 218,000 seeds.
    assert np.all(np.abs(errors.sum(axis=1)) < 5 * deviations)


def test_which_environment_it_is_says_nothing_about_the_row() -> None:
    environment = Drifting(A, A, start=0, stop=100_000)
    number = environment.numbers(0, 100_000, 1) - environment.shares(0, 100_000)
    drawn = environment.draw(0, 100_000, 1)
    table = np.concatenate([number[:, None], drawn.contexts.shared, drawn.rewards - drawn.means], axis=1)
    # Five correlations, five standard errors: wrong for one in 350,000 seeds.
    assert np.all(np.abs(np.corrcoef(table.T)[0, 1:]) < 5 / np.sqrt(100_000))


def test_drifts_one_upon_the_other_toss_coins_of_their_own() -> None:
    inner = Drifting(A, B, start=0, stop=100_000)
    outer = Drifting(inner, C, start=0, stop=100_000)
    coins = [drift.numbers(0, 100_000, 2) - drift.shares(0, 100_000) for drift in (inner, outer)]
    # Five standard errors: wrong for one in 1.7 million seeds.
    assert abs(np.corrcoef(coins[0], coins[1])[0, 1]) < 5 / np.sqrt(100_000)
    source = comes_from(outer, [A, B, C], 100_000, seed=2)
    share = np.linspace(0, 1, 100_000)
    assert source.sum(axis=1) == pytest.approx(
        [((1 - share) ** 2).sum(), (share * (1 - share)).sum(), share.sum()], rel=0.02
    )


def test_a_whole_drift_lies_between_its_ends() -> None:
    environment = Drifting(A, B, start=100, stop=101)
    assert same(environment.draw(0, 101, 5), A.draw(0, 101, 5))
    assert same(environment.draw(101, 300, 5), B.draw(101, 300, 5))


# What belongs to rows goes with them.


def test_masks_and_features_of_actions_go_with_their_rows() -> None:
    masked = EligibilityEnvironment(environment=W, share=0.3)
    source = comes_from(Drifting(V, masked, start=0, stop=3_000), [V, masked], 3_000)
    assert np.all(source.any(axis=0))
    assert 0.4 < source[1].mean() < 0.6


def test_delays_go_with_their_rows() -> None:
    slow = Delayed(B, mean=50, distribution="geometric")
    environment = Drifting(A, slow, start=0, stop=3_000)
    late, numbers = environment.draw(0, 3_000, 4).reward_round, environment.numbers(0, 3_000, 4)
    slow_rounds = slow.draw(0, 3_000, 4).reward_round
    assert late is not None
    assert slow_rounds is not None
    assert np.array_equal(late, np.where(numbers == 1, slow_rounds, np.arange(3_000)))


def test_masks_over_a_drift_of_delayed_environments_keep_the_delays() -> None:
    drift = Switching((Delayed(A, mean=3), Delayed(B, mean=9)), at=50)
    late = EligibilityEnvironment(environment=drift).draw(0, 100, 0).reward_round
    assert late is not None
    assert np.array_equal(late - np.arange(100), np.repeat([3, 9], 50))


@all_environments
def test_learners_play_in_it(environment: Any) -> None:
    assert np.all(simulate(LinUCB(schedule=FixedBatch(50)), environment, 300).regret >= 0.0)


@pytest.mark.parametrize("start", [0, 50, 5_000])
def test_no_rounds_are_no_rows(start: int) -> None:
    for environment in (Switching((A, B), at=50), Drifting(A, B, start=10, stop=90)):
        assert len(environment.draw(start, start, 0)) == 0


def test_settings_are_values() -> None:
    for environment in (
        Switching((A, B, C), at=[10, 20]),
        Switching((A, B), every=3),
        Drifting(A, B, start=1, stop=9),
    ):
        assert eval(repr(environment)) == environment
        assert hash(pickle.loads(pickle.dumps(environment))) == hash(environment)


# Refusals.


@pytest.mark.parametrize(
    ("environments", "options", "sentence"),
    [
        ((A,), {"at": 5}, "give at least two, such as"),
        (A, {"at": 5}, "give at least two, such as"),
        ((A, 3), {"at": 5}, r"environments\[1\] is 3; give an environment such as LinearEnvironment\(\)"),
        ((A, B), {}, "at is None and every is None; give one of the two"),
        ((A, B), {"at": 5, "every": 5}, "at is 5 and every is 5; give one of the two"),
        ((A, B), {"at": 0}, "at is 0; give a whole number of at least 1"),
        ((A, B), {"at": 2.5}, r"at is 2\.5; give a whole number"),
        ((A, B), {"every": 0}, "every is 0; give a whole number of at least 1"),
        ((A, B, C), {"at": 5}, "at is 5 for 3 environments; give 2 rounds"),
        ((A, B, C), {"at": (5, 5)}, r"at is \(5, 5\); give rounds that increase"),
        (
            (A, LinearEnvironment(n_actions=4)),
            {"at": 5},
            r"actions is \(1, 2, 3\) in the first environment and \(1, 2, 3, 4\)",
        ),
        (
            (A, B, SinusoidEnvironment(n_features=3)),
            {"at": (5, 6)},
            "features is .* in environment 3; give environments that pose",
        ),
        (
            (A, LinearEnvironment(noise="bernoulli")),
            {"at": 5},
            "out_of_range is 'accept' in the first environment and 'error'",
        ),
    ],
)
def test_bad_switches_are_refused(environments: Any, options: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Switching(environments, **options)


@pytest.mark.parametrize(
    ("after", "start", "stop", "sentence"),
    [
        (LinearEnvironment, 0, 9, "after is .*; give an environment such as"),
        (B, -1, 9, "start is -1; give a whole number of at least 0"),
        (B, 9, 9, "stop is 9 and start is 9; give a later round to stop at"),
        (B, 0, 9.5, r"stop is 9\.5; give a whole number"),
        (STEP, 0, 9, "actions is .* in the first environment"),
    ],
)
def test_bad_drifts_are_refused(after: Any, start: Any, stop: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Drifting(A, after, start=start, stop=stop)
