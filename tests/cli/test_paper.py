from __future__ import annotations

import json
from pathlib import Path

import pytest

from gyrfalcon_paper.claims.claim import Claim, claims_json
from gyrfalcon_paper.cli import paper
from tests.cli.terminal import WIDTH, invoke, numbers, refusal


def claim(key: str, holds: bool | None) -> Claim:
    statement = f"What {key} says, at some length, so that it has to be wrapped in a narrow terminal."
    return Claim(key=key, source="Section 1.1", statement=statement, computed="1", holds=holds)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    claims = [claim("a", True), claim("b", False), claim("c", None), claim("d", True)]
    (tmp_path / "claims.json").write_text(claims_json(claims), encoding="utf-8")
    return tmp_path / "index.html"


def test_claims_are_counted_by_verdict(page: Path) -> None:
    claims = paper._claims(page)
    assert paper._counts(claims) == {"hold": 2, "do_not_hold": 1, "not_decided": 1}
    assert paper._failing(claims) == ["b"]


def test_claims_that_do_not_hold_are_shown(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paper._print(page, paper._claims(page))
    text = capsys.readouterr().out
    assert "What b says" in text
    assert "What a says" not in text
    assert "Of 4 claims 2 hold, 1 do not hold; not decided: 1." in text
    assert text.rstrip().endswith(f"Page: {page}")
    assert max(map(len, text.partition("Page:")[0].splitlines())) <= WIDTH


def test_no_processes_compute_nothing() -> None:
    result = invoke("paper", "--jobs", "0")
    assert result.exit_code == 2
    assert "at least 1" in refusal(result)


def test_a_folder_that_cant_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = invoke("paper", "--quick", "--out", tmp_path / "file")
    assert result.exit_code == 2
    assert "file" in refusal(result)


@pytest.mark.long
def test_the_paper_is_computed_and_written(tmp_path: Path) -> None:
    report = numbers("paper", "--quick", "--out", tmp_path)
    assert Path(report["page"]).read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    claims = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))
    assert sum(report["claims"].values()) == len(claims)
    assert report["claims"]["hold"] > report["claims"]["do_not_hold"] > 0
