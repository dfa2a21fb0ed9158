"""The whole program, with our own learners alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.regret.__main__ import _chosen, _completed, _parser, main
from benchmarks.regret.ablations import ABLATIONS
from benchmarks.regret.contestants import BASELINE, CONTESTANTS, LINEAR
from benchmarks.regret.costs import _SIZES, _terms, _weights, expected_seconds
from benchmarks.regret.environments import PLACES, place_named

from tests.regret.players import Always, cell

SMALL = ["--peers", "none", "--only", "LinUCB", "--environments", "wine", "xor", "--seeds", "2"]


def run(folder: Path, *options: str) -> int:
    return main([*SMALL, "--folder", str(folder), *options])


def test_a_run_prints_a_table_and_writes_all_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "--rounds", "60") == 0
    assert BASELINE in capsys.readouterr().out
    document = json.loads((tmp_path / "rounds-60.json").read_text())
    assert document["environments"] == {"real": ["wine"], "synthetic": ["xor"]}
    assert {one["contestant"] for one in document["cells"]} == {
        BASELINE,
        "LinUCB 0.3 on 100 Fourier features",
    }
    assert len(document["cells"]) == 8
    assert (tmp_path / "rounds-60.md").read_text().count("\n| ") == 4
    assert (tmp_path / "rounds-60.png").read_bytes().startswith(b"\x89PNG")


def test_nothing_is_played_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, "--rounds", "60")
    before = {path.name: path.read_bytes() for path in (tmp_path / "cells").iterdir()}
    capsys.readouterr()
    run(tmp_path, "--rounds", "60")
    assert "8 cells are stored; 0 cells to play" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in (tmp_path / "cells").iterdir()} == before


def test_contestants_are_played_anew_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, "--rounds", "60")
    capsys.readouterr()
    run(tmp_path, "--rounds", "60", "--again", "fourier", "--estimate")
    assert "4 cells are stored; 4 cells to play" in capsys.readouterr().err


def test_without_replay_each_set_is_as_long_as_it_is(tmp_path: Path) -> None:
    assert run(tmp_path, "--no-replay") == 0
    document = json.loads((tmp_path / "once.json").read_text())
    assert {(one["environment"], one["n_rounds"]) for one in document["cells"]} == {("wine", 178)}
    assert not (tmp_path / "rounds-20000.json").exists()


def test_ablations_are_compared_with_the_preset_in_a_table_of_their_own(tmp_path: Path) -> None:
    options = ["--ablations", "--only", "no bonus", "never", "--environments", "wine", "--seeds", "2"]
    assert main([*options, "--rounds", "60", "--folder", str(tmp_path)]) == 0
    document = json.loads((tmp_path / "ablations-rounds-60.json").read_text())
    assert document["baseline"] == LINEAR
    assert len({one["contestant"] for one in document["cells"]}) == 3
    assert list(document["differences"]["reward"]) == [f"{LINEAR}: no bonus", f"{LINEAR}: gate never open"]
    assert not (tmp_path / "rounds-60.json").exists()


def asked(*options: str) -> list[str]:
    return [one.name for one in _chosen(_completed(_parser().parse_args(options)))]


def test_some_contestants_can_be_chosen_and_the_baseline_is_always_there() -> None:
    assert asked("--only", "lints 0.1", "SquareCB 10") == [BASELINE, "LinTS 0.1", "SquareCB 10"]
    assert asked("--only", "LinTS 0.1", "--baseline", LINEAR) == [LINEAR, "LinTS 0.1"]
    assert asked("--only", "LinTS 0.1", "--baseline", "LinTS 0.1") == ["LinTS 0.1"]
    assert asked("--ablations")[0] == LINEAR
    assert asked("--ablations", "--baseline", BASELINE)[:2] == [BASELINE, ABLATIONS[0].name]


def test_slow_contestants_take_part_only_when_asked_for() -> None:
    slow = {one.name for one in CONTESTANTS if one.slow}
    assert not slow & set(asked())
    assert slow <= set(asked("--slow"))
    assert "coba LinTS" not in asked("--only", "LinTS")
    assert "coba LinTS" in asked("--only", "coba lints")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--rounds", "3"], "--rounds has 3"),
        (["--seeds", "0"], "--seeds is 0"),
        (["--jobs", "0"], "--jobs is 0"),
        (["--environments", "whine"], "'whine'"),
        (["--environments", "xor", "--no-replay"], "--no-replay is for real sets"),
        (["--peers", "none", "coba"], "none and others"),
        (["--only", "LinUCB", "nobody"], "--only has 'nobody'"),
        (["--only", "a LinTS"], "need --slow, or the whole of their name"),
        (["--baseline", "LinUCB"], "--baseline is 'LinUCB'"),
    ],
)
def test_what_can_not_be_played_is_refused(
    options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(options)
    assert sentence in capsys.readouterr().err


def test_names_and_settings_of_contestants_are_their_own() -> None:
    everybody = (*CONTESTANTS, *ABLATIONS)
    assert len({one.name for one in everybody}) == len(everybody)
    assert len({repr(one.player) for one in everybody}) == len(everybody)


def test_expected_times_are_near_those_that_were_measured() -> None:
    for contestant in CONTESTANTS:
        weights = _weights(contestant.milliseconds)
        for size, measured in zip(_SIZES, contestant.milliseconds, strict=True):
            assert 0.3 < float(weights @ _terms(*size)) / measured < 3.0
    assert expected_seconds(cell(Always(0))) == pytest.approx(0.1 + 40 * 1e-4)


def test_other_data_sets_are_environments_by_their_names() -> None:
    place = place_named("pima")
    assert place is not None
    assert (place.kind, place.n_rows, place.size) == ("real", 768, (2, 8))
    assert place_named("wine") is PLACES["wine"]
    assert place_named("whine") is None
