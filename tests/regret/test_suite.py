"""The whole program, with our own learners alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.regret.__main__ import main
from benchmarks.regret.contestants import BASELINE, CONTESTANTS
from benchmarks.regret.costs import _SIZES, _terms, _weights, expected_seconds

from tests.regret.players import Always, cell

SMALL = ["--peers", "none", "--only", "LinUCB", "--worlds", "wine", "xor", "--seeds", "2"]


def run(folder: Path, *options: str) -> int:
    return main([*SMALL, "--folder", str(folder), *options])


def test_a_run_prints_a_table_and_writes_all_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "--rounds", "60") == 0
    assert BASELINE in capsys.readouterr().out
    document = json.loads((tmp_path / "rounds-60.json").read_text())
    assert document["worlds"] == {"real": ["wine"], "synthetic": ["xor"]}
    assert {one["contestant"] for one in document["cells"]} == {BASELINE, "LinUCB .3 on 100 waves"}
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
    run(tmp_path, "--rounds", "60", "--again", "waves", "--estimate")
    assert "4 cells are stored; 4 cells to play" in capsys.readouterr().err


def test_without_replay_each_set_is_as_long_as_it_is(tmp_path: Path) -> None:
    assert run(tmp_path, "--no-replay") == 0
    document = json.loads((tmp_path / "once.json").read_text())
    assert {(one["world"], one["n_rounds"]) for one in document["cells"]} == {("wine", 178)}
    assert not (tmp_path / "rounds-20000.json").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--rounds", "3"], "--rounds has 3"),
        (["--seeds", "0"], "--seeds is 0"),
        (["--jobs", "0"], "--jobs is 0"),
        (["--worlds", "whine"], "'whine'"),
        (["--worlds", "xor", "--no-replay"], "--no-replay is for real sets"),
        (["--peers", "none", "coba"], "none and others"),
    ],
)
def test_what_can_not_be_played_is_refused(
    options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(options)
    assert sentence in capsys.readouterr().err


def test_names_and_settings_of_contestants_are_their_own() -> None:
    assert len({one.name for one in CONTESTANTS}) == len(CONTESTANTS)
    assert len({repr(one.player) for one in CONTESTANTS}) == len(CONTESTANTS)


def test_expected_times_are_near_those_that_were_measured() -> None:
    for contestant in CONTESTANTS:
        weights = _weights(contestant.milliseconds)
        for size, measured in zip(_SIZES, contestant.milliseconds, strict=True):
            assert 0.3 < float(weights @ _terms(*size)) / measured < 3.0
    assert expected_seconds(cell(Always(0))) == pytest.approx(0.1 + 40 * 1e-4)
