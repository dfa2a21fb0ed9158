"""Which requirements are met: made-up cells in a folder, and what the command says of them."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.regret.ablations import ABLATIONS
from benchmarks.regret.bars import main
from benchmarks.regret.cells import Result
from benchmarks.regret.contestants import AUTO, BASELINE, CLASSES, CONTESTANTS, LINEAR, TREES
from benchmarks.regret.environments import PLACES
from benchmarks.regret.measurements import WABBITS, Measured
from benchmarks.regret.practice.split import REAL
from benchmarks.regret.requirements import REQUIREMENTS, Outcome, Requirement, Rule

from gyrfalcon.simulation.trace import Summary
from tests.regret.players import result

REWARDS = {
    BASELINE: 0.8,
    AUTO: 0.9,
    TREES: 0.91,
    **dict.fromkeys(CLASSES, 0.8),
    **dict.fromkeys(WABBITS, 0.7),
}
SECONDS = {BASELINE: 1.0, LINEAR: 1.5, AUTO: 6.0, TREES: 30.0}
KNOWN = {one.name: one for one in (*CONTESTANTS, *ABLATIONS)}
SHORT_ENVIRONMENTS = (*REAL, "xor", "sinus", "bump", "rare")


def stored(
    folder: Path, name: str, environment: str, seed: int, reward: float, n_rounds: int = 20_000
) -> Result:
    """A cell of a contestant as it is now, made up."""
    contestant, place = KNOWN[name], PLACES[environment]
    made = replace(
        result(name, environment, seed, reward, seconds=SECONDS.get(name, 1.0)),
        player=repr(contestant.player),
        package=contestant.package,
        version=contestant.version or "1",
        content=place.content,
        n_rounds=n_rounds,
    )
    (folder / "cells").mkdir(exist_ok=True)
    (folder / "cells" / f"{name}-{environment}-{n_rounds}-{seed}.json").write_bytes(made.document())
    return made


def rows(folder: Path) -> dict[str, list[str]]:
    """The written table: what was measured, the bar, seeds and verdict by requirement."""
    main(["--folder", str(folder)])
    lines = (folder / "bars.md").read_text().splitlines()
    parts = [
        [part.strip() for part in line.strip("|").split(" | ")] for line in lines if line.startswith("|")
    ]
    return {first: rest for first, *rest in parts[2:]}


def test_all_is_met_where_every_number_clears_its_bar(tmp_path: Path) -> None:
    for name, reward in REWARDS.items():
        if name in KNOWN:
            for seed in range(10):
                for environment in SHORT_ENVIRONMENTS:
                    stored(tmp_path, name, environment, seed, reward)
                stored(tmp_path, name, "appendix E", seed, reward, 100_000)
            for seed in range(20):
                stored(tmp_path, name, "section 1.1", seed, reward, 100_000)
    found = rows(tmp_path)
    assert len(found) == len(REQUIREMENTS)
    verdicts = {text: row[-1] for text, row in found.items() if "auto_trees" not in text or TREES in KNOWN}
    assert set(verdicts.values()) == {"met"}
    best = found["16 real sets: linear less the best Vowpal Wabbit"]
    assert best == ["+10.00 ± 0.00", "at least +2.50 points", "10", "met"]
    assert found["Section 1.1, 100,000 rounds, last quarter: auto"][2] == "20"


def test_nothing_stored_is_nothing_met(tmp_path: Path) -> None:
    (tmp_path / "cells").mkdir()
    assert {row[-1] for row in rows(tmp_path).values()} == {"not played yet"}


def test_with_too_few_seeds_nothing_is_final(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(2):
        stored(tmp_path, LINEAR, "section 1.1", seed, 0.7 + 0.02 * seed, 100_000)
    found = rows(tmp_path)["Section 1.1, 100,000 rounds, last quarter: linear"]
    assert found == ["0.7100 ± 0.0100", "at least 0.7400", "2 of 20", "not met so far"]
    assert "AdaptiveFalcon, auto has not been played there yet" in " ".join(capsys.readouterr().out.split())


def test_other_lengths_do_not_count(tmp_path: Path) -> None:
    stored(tmp_path, LINEAR, "section 1.1", 0, 0.9, 20_000)
    assert {row[-1] for row in rows(tmp_path).values()} == {"not played yet"}


def test_cells_of_other_settings_are_left_out_and_counted(tmp_path: Path) -> None:
    made = stored(tmp_path, LINEAR, "section 1.1", 0, 0.9, 100_000)
    stored(tmp_path, ABLATIONS[0].name, "section 1.1", 0, 0.9, 100_000)
    changed = replace(made, player="AdaptiveFalcon of long ago")
    (tmp_path / "cells" / "other.json").write_bytes(changed.document())
    (tmp_path / "cells" / "damaged.json").write_bytes(b"{")
    assert rows(tmp_path)["Section 1.1, 100,000 rounds, last quarter: linear"][2] == "1 of 20"
    page = (tmp_path / "bars.md").read_text()
    assert "2 stored cells do not count" in page
    assert f"Played by other code than there is now: {LINEAR}; {ABLATIONS[0].name}." in page


def test_a_folder_without_cells_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--folder", str(tmp_path / "nowhere")])
    assert "play something into --folder first" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rule", "value", "holds"),
    [
        ("at least", 0.1 + 0.2, True),
        ("at least", 0.3 - 1e-9, False),
        ("at most", 0.1 + 0.2, True),  # .30000000000000004
        ("at most", 0.3 + 1e-9, False),
        ("above", 0.1 + 0.2, False),
        ("above", 0.3 + 1e-9, True),
    ],
)
def test_a_bar_that_is_just_reached_counts_unless_it_must_be_passed(
    rule: Rule, value: float, holds: bool
) -> None:
    assert requirement(rule, 0.3).holds(value) is holds


def test_environments_that_fail_are_listed_with_how_many_surely_do() -> None:
    by_environment = {"a": Summary(-0.02, 0.001), "b": Summary(-0.011, 0.001), "c": Summary(0.01, 0.001)}
    found = Measured(-0.02, 0.001, 10, "worst in a", True, by_environment)
    outcome = requirement("at least", -0.01, found).outcome({})
    assert outcome.verdict == "not met"
    assert outcome.note == (
        "worst in a; 2 of 3 fail, 1 by more than two standard errors: a -2.00 ± 0.10, b -1.10 ± 0.10"
    )


def test_while_some_have_not_played_the_verdict_is_not_final() -> None:
    found = Measured(0.5, math.nan, 10, complete=False)
    assert requirement("at least", 0.1, found).outcome({}).verdict == "met so far"
    assert Outcome(requirement("at least", 0.1), None, "why").row[1] == ""


def requirement(rule: Rule, bar: float, found: Measured | str = "nothing") -> Requirement:
    return Requirement("text", lambda _: found, rule, bar, "points")
