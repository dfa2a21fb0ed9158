"""Environments as practitioners have them: their truths, what can be captured there, and the program."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.regret.__main__ import main
from benchmarks.regret.cells import Cell, Result
from benchmarks.regret.contestants import AUTO, BASELINE, LINEAR
from benchmarks.regret.environments import Place
from benchmarks.regret.players import Player, Sums
from benchmarks.regret.practice.contestants import HALF_LIVES, chosen
from benchmarks.regret.practice.requirements import requirements
from benchmarks.regret.practice.split import (
    DRIFTS,
    ENVIRONMENTS,
    FIRST_SEED,
    GROUPS,
    NULLS,
    SPLIT,
    TABLE,
    VALIDATION,
    WEAK,
    seeded,
)
from benchmarks.regret.practice.units import AbsurdRewards, LognormalEuros
from benchmarks.regret.practice.worlds import ChangingLinear
from benchmarks.regret.requirements import SHORT
from benchmarks.regret.rounds import Rounds
from benchmarks.regret.standings import by_contestant

from tests.regret.players import contestant, result

N = 4096
CAPTURED = [name for name in TABLE if name not in NULLS]


@dataclass(frozen=True, slots=True)
class Uniform:
    """Plays all actions alike."""

    def play(self, rounds: Rounds, seed: int) -> Sums:
        return Sums.of(rounds, np.random.default_rng(seed).integers(rounds.n_actions, size=len(rounds)))


@dataclass(frozen=True, slots=True)
class Omniscient:
    """Plays the action that is expected to earn most, or to cost least."""

    def play(self, rounds: Rounds, seed: int) -> Sums:
        del seed
        best = rounds.means.argmin if rounds.problem.cost else rounds.means.argmax
        return Sums.of(rounds, best(axis=1))


def play(player: Player, name: str, n_rounds: int = N) -> Result:
    found = Cell(contestant(player), Place("practice", name), n_rounds, seed=0).computed()
    assert isinstance(found, Result), found
    return found


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_realised_rewards_have_the_means_that_are_declared(name: str) -> None:
    drawn = Place("practice", name).environment(3, N).draw(0, N, seed=5)
    sane = np.ones(N, dtype=bool)
    if isinstance(ENVIRONMENTS[name], AbsurdRewards):
        sane = np.abs(drawn.rewards).max(axis=1) <= 1.0
        assert (~sane).sum() == ENVIRONMENTS[name].n_absurd
    error = (drawn.rewards - drawn.means)[sane]
    assert np.isfinite(drawn.means).all()
    per_action = error.mean(axis=0) / (error.std(axis=0, ddof=1) / math.sqrt(len(error)))
    # Tails as heavy as the lognormal ones make z wider than a normal's.
    bar = 8.0 if isinstance(ENVIRONMENTS[name], LognormalEuros) else 5.0
    assert np.abs(per_action).max() < bar
    if not isinstance(ENVIRONMENTS[name], LognormalEuros):
        # The errors must not be explained by the means either: the slope of one on the other is 0.
        centred = drawn.means[sane] - drawn.means[sane].mean()
        slope = (centred * error).sum() / math.sqrt(((centred * error) ** 2).sum() + 1e-300)
        assert abs(slope) < 5.0


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_rewards_keep_to_the_declared_range_unless_it_is_open(name: str) -> None:
    environment = Place("practice", name).environment(1, N)
    problem = environment.problem
    drawn = environment.draw(0, N, seed=1)
    assert drawn.rewards.shape == (N, problem.n_actions)
    if problem.out_of_range == "error":
        low, high = problem.reward_range
        assert low <= drawn.rewards.min()
        assert drawn.rewards.max() <= high


@pytest.mark.parametrize("name", CAPTURED)
def test_uniform_play_captures_nothing_and_the_best_actions_all(name: str) -> None:
    uniform, best = play(Uniform(), name), play(Omniscient(), name)
    assert abs(uniform.captured) < 0.1
    assert abs(uniform.captured_second_half) < 0.1
    assert best.captured == pytest.approx(1.0)
    assert best.captured_second_half == pytest.approx(1.0)


@pytest.mark.parametrize("name", NULLS)
def test_where_all_actions_are_the_same_nothing_can_be_captured(name: str) -> None:
    assert math.isnan(play(Uniform(), name).captured)


@pytest.mark.parametrize("name", ["weak linear signal", "three abrupt changes", "20 absurd rewards"])
def test_rounds_are_the_same_however_they_are_divided(name: str) -> None:
    environment = Place("practice", name).environment(2, 10_000)
    whole, part = environment.draw(0, 10_000, seed=4), environment.draw(8000, 8400, seed=4)
    np.testing.assert_array_equal(part.rewards, whole.rewards[8000:8400])
    np.testing.assert_array_equal(part.means, whole.means[8000:8400])


def test_truths_follow_the_seed_also_inside_wrappers() -> None:
    for name, environment in TABLE.items():
        means = [seeded(environment, seed, N).draw(0, 50, 7).means for seed in range(6)]
        same = all(np.array_equal(means[0], other) for other in means)
        assert same == (name in NULLS), name


def test_changes_come_at_the_same_share_of_runs_of_any_length() -> None:
    short, long = (seeded(TABLE[DRIFTS[0]], 0, n) for n in (40, 4000))
    stages = [one.weights(np.arange(one.n_rounds)).argmax(axis=1) for one in (short, long)]
    assert [np.bincount(stage).tolist() for stage in stages] == [[10] * 4, [1000] * 4]
    slow = ChangingLinear(change="slow", times=2, n_rounds=100).weights(np.array([0, 50, 100]))
    np.testing.assert_allclose(slow, [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], atol=1e-12)
    still = ChangingLinear(change="none", n_rounds=100).weights(np.arange(100))
    assert (still == still[0]).all()


def test_parts_of_the_split_share_neither_seeds_nor_environments() -> None:
    parts = {part: {one for group in groups for one in GROUPS[group]} for part, groups in SPLIT.items()}
    assert sum(map(len, parts.values())) == len(set.union(*parts.values()))
    labels = [one.label for entries in parts.values() for one in entries]
    assert len(set(labels)) == len(labels)
    sets = {part: {one.dataset for one in entries} - {None} for part, entries in parts.items()}
    assert not sets["tuning"] & sets["validation"]
    assert not sets["neighbours"] & (sets["tuning"] | sets["validation"])
    seeds = sorted(FIRST_SEED.values())
    assert min(np.diff(seeds)) >= 100
    assert {name for groups in SPLIT.values() for name in groups} == set(GROUPS)
    assert not set(VALIDATION) & set(TABLE)


def made_up(name: str, label: str, captured: float, seconds: float) -> list[Result]:
    """Results with so much captured over the whole run, and all of it in its second half."""
    one = result(name, label, 0, 0.5, seconds=seconds)
    return [
        replace(one, seed=seed, regret=1.0 - captured, regret_second_half=0.0, regret_last_quarter=0.0)
        for seed in range(5)
    ]


@pytest.mark.parametrize(("share", "verdict"), [(0.59, "met"), (0.57, "not met")])
def test_the_default_must_not_fall_behind_the_better_of_its_rivals(share: float, verdict: str) -> None:
    results = [
        *made_up(AUTO, WEAK, share, 3.9),
        *made_up(LINEAR, WEAK, 0.6, 1.0),
        *made_up(BASELINE, WEAK, 0.4, 1.0),
    ]
    outcomes = [one.outcome({SHORT: by_contestant(results)}) for one in requirements([WEAK])]
    assert [one.verdict for one in outcomes] == [verdict, "met", "met"]
    whole, half, times = outcomes
    assert whole.measured is not None
    assert whole.measured.value == pytest.approx(share - 0.6)
    assert "second half" in half.requirement.text
    assert "time" in times.requirement.text


def test_requirements_are_those_of_the_chosen_environments() -> None:
    assert requirements([]) == []
    nulls = [one.text for one in requirements(["coin flips"])]
    assert len(nulls) == 1
    assert "null problems" in nulls[0]
    assert any("half-life" in one.text for one in requirements([DRIFTS[0]]))


def test_contestants_are_chosen_by_short_or_whole_names() -> None:
    assert [one.name for one in chosen(["auto", "LinTS 0.1", "linucb"])] == [AUTO, "LinTS 0.1", BASELINE]
    assert chosen(["half-lives"]) == list(HALF_LIVES)


def test_the_program_prints_shares_and_bars_and_plays_nothing_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [
        "--suite",
        "practice",
        "--folder",
        str(tmp_path),
        "--rounds",
        "60",
        "--seeds",
        "2",
        "--markdown",
    ]
    options += ["--contestants", "linear", "linucb"]
    options += [
        "--environments",
        "weak linear signal",
        "wine",
        "wine, each row once",
        "100 items, not linear",
    ]
    assert main(options) == 0
    shown = capsys.readouterr()
    assert shown.out == (tmp_path / "practice.md").read_text()
    for label in ("weak linear signal", "wine", "wine, each row once"):
        assert f"| {label} |" in shown.out
    assert "not played yet" in shown.out
    assert main([*options, "--estimate"]) == 0
    assert "12 cells are stored; 0 cells to play" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--environments", "weak"], "--environments has 'weak'"),
        (["--contestants", "nobody"], "--contestants has 'nobody'"),
        (["--rounds", "3"], "--rounds is 3"),
        (["--jobs", "0"], "--jobs is 0"),
    ],
)
def test_what_can_not_be_played_is_refused(
    options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--suite", "practice", *options])
    assert sentence in capsys.readouterr().err
