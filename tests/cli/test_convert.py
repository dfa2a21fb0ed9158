"""`gyrfalcon convert`: logs of one format become logs of another."""

from __future__ import annotations

from pathlib import Path

import pytest

from gyrfalcon.logs import read_log
from tests.cli.terminal import invoke, numbers, refusal

CLICKS = """banner,click,p,age,country
red,1,0.5,31,NO
blue,0,0.25,44,SE
"""
MAPPING = [
    *("--map", "action=banner", "--map", "reward=click", "--map", "propensity=p"),
    *("--map", "features=age,country"),
]


@pytest.fixture
def clicks(tmp_path: Path) -> Path:
    path = tmp_path / "clicks.csv"
    path.write_text(CLICKS)
    return path


@pytest.mark.parametrize("name", ["log.dsjson", "log.parquet", "log.jsonl", "log.csv", "log.vw"])
def test_a_csv_file_becomes_any_other(clicks: Path, name: str) -> None:
    target = clicks.with_name(name)
    result = invoke("convert", clicks, target, *MAPPING)
    assert result.exit_code == 0, result.output
    assert "2 decisions" in result.stdout
    table = read_log(target)
    assert table.reward.tolist() == [1.0, 0.0]
    assert table.propensity.tolist() == [0.5, 0.25]
    assert table.features == ("age", "country=NO", "country=SE", "country=other")


def test_json_says_what_was_done(clicks: Path) -> None:
    target = clicks.with_name("again.dsjson")
    assert numbers("convert", clicks, target, *MAPPING, "--map", "cost=true") == {
        "source": str(clicks),
        "from": "csv",
        "destination": str(target),
        "to": "dsjson",
        "n_rows": 2,
    }
    assert read_log(target, cost=True).reward.tolist() == [1.0, 0.0]


def test_options_of_the_format_that_is_read(clicks: Path) -> None:
    inside = clicks.parent / "random" / "men"
    inside.mkdir(parents=True)
    (inside / "men.csv").write_text(
        "item_id,position,click,propensity_score,timestamp,user_feature_0,user-item_affinity_4\n"
        "4,1,0,1.0,2019-11-24 00:00:00+00:00,x,0.5\n"
    )
    (inside / "item_context.csv").write_text("item_id,item_feature_0\n4,-0.5\n")
    target = clicks.with_name("men.jsonl")
    result = invoke(
        "convert", inside, target, "--from", "obp", "--option", "action_features=affinity,item_feature_0"
    )
    assert result.exit_code == 0, result.output
    assert read_log(target).action_features == ("affinity", "item_feature_0")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--map", "action=bannr"], "has no column 'bannr'; did you mean 'banner'?"),
        (["--map", "action"], "'action' is not name=value; give for example action=banner."),
        (["--from", "cvs"], "format is 'cvs'; did you mean 'csv'"),
        ([*MAPPING, "--to", "obp"], "the format 'obp' is only read"),
        ([*MAPPING, "--option", "cost=true"], "the format 'csv' has no option 'cost'"),
    ],
)
def test_errors_are_one_sentence_and_nothing_is_written(
    clicks: Path, arguments: list[str], sentence: str
) -> None:
    target = clicks.with_name("log.dsjson")
    result = invoke("convert", clicks, target, *arguments)
    assert result.exit_code == 2
    assert sentence in refusal(result)
    assert not target.exists()
