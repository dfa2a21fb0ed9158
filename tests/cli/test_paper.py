from __future__ import annotations

import json
from pathlib import Path

import pytest

from gyrfalcon_paper.claims.claim import Claim, Kind, Verdict, claims_json
from gyrfalcon_paper.cli import paper
from tests.cli.terminal import WIDTH, invoke, numbers, refusal


def claim(key: str, verdict: Verdict, kind: Kind = Kind.PAPER) -> Claim:
    statement = f"What {key} says, at some length, so that it has to be wrapped in a narrow terminal."
    return Claim(key=key, part="", place="Section 1.1", statement=statement, verdict=verdict, kind=kind)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    claims = [
        claim("a", Verdict.HOLDS),
        claim("b", Verdict.ERRATUM),
        claim("c", Verdict.DOUBLE_PRECISION_ONLY),
        claim("d", Verdict.HOLDS),
        claim("e", Verdict.ERRATUM, Kind.EXPECTATION),
    ]
    (tmp_path / "claims.json").write_text(claims_json(claims), encoding="utf-8")
    return tmp_path / "index.html"


def test_claims_of_the_paper_are_counted_by_verdict(page: Path) -> None:
    counts = paper._counts(paper._claims(page))
    assert counts == dict.fromkeys(Verdict, 0) | {
        "holds": 2,
        "erratum": 1,
        "double_precision_only": 1,
    }


def test_claims_with_other_verdicts_are_shown(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paper._print(page, paper._claims(page))
    text = capsys.readouterr().out
    assert "What b says" in text
    assert "What a says" not in text
    assert "What e says" not in text
    assert "4 claims of the paper: holds 2, erratum 1, typo 0, double precision only 1" in " ".join(
        text.split()
    )
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
    assert json.loads((tmp_path / "claims.json").read_text(encoding="utf-8")) == report["claims"]
    assert sum(report["counts"].values()) == sum(row["kind"] == "paper" for row in report["claims"])
    assert report["counts"]["holds"] > report["counts"]["erratum"] > 0
