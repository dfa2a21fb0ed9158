"""Commands on logs refuse what can't be done before they compute, with the path or the name that is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gyrfalcon.logs import write_log
from tests.cli.terminal import command, invoke, refusal
from tests.evaluation.logs import log_of


@pytest.fixture
def log(tmp_path: Path) -> Path:
    write_log(log_of(60), tmp_path / "decisions")
    return tmp_path / "decisions"


WRITING = [
    ("evaluate", "--html", "page.html"),
    ("diagnose", "--html", "page.html"),
    ("diagnose", "--figure", "map.svg"),
    ("check", "--set-aside", "rows.csv"),
]


@pytest.mark.parametrize(("name", "option", "file"), WRITING)
def test_a_file_in_a_folder_that_is_not_there_is_refused_before_the_log_is_read(
    name: str, option: str, file: str, tmp_path: Path
) -> None:
    place = tmp_path / "no such folder" / file
    sentence = refusal(invoke(name, tmp_path / "no such log", option, place))
    assert f"{option} is '{place}', and there is no folder '{place.parent}'" in sentence


@pytest.mark.parametrize(("name", "option", "file"), WRITING)
def test_a_folder_is_no_place_for_a_file(name: str, option: str, file: str, tmp_path: Path) -> None:
    (tmp_path / file).mkdir()
    sentence = refusal(invoke(name, tmp_path / "no such log", option, tmp_path / file))
    assert "which is a folder; give the name of a file." in sentence


def test_a_conversion_into_a_folder_that_is_not_there_is_refused(log: Path, tmp_path: Path) -> None:
    assert "there is no folder" in refusal(invoke("convert", log, tmp_path / "nowhere" / "log.csv"))


@pytest.mark.parametrize("name", ["check", "evaluate", "diagnose"])
def test_logs_that_are_not_there_or_hold_nothing_are_refused(name: str, tmp_path: Path) -> None:
    assert "elsewhere does not exist" in refusal(invoke(name, tmp_path / "elsewhere"))
    (tmp_path / "empty.csv").write_text("action,reward,propensity\n")
    result = invoke(name, tmp_path / "empty.csv")
    assert result.exit_code == 2
    assert "rows" in refusal(result)
    (tmp_path / "torn.parquet").write_bytes(b"PAR1")
    assert refusal(invoke(name, tmp_path / "torn.parquet")).count("..") == 0


def test_errors_of_a_policy_of_ones_own_are_sentences_that_name_it(log: Path, tmp_path: Path) -> None:
    rules = "def wrong(table):\n    return table.no_such_column\n\n\nlabel = 'red'\n"
    (tmp_path / "rules_of_ones_own.py").write_text(rules)
    done = command("evaluate", log, "-p", "rules_of_ones_own:wrong", cwd=tmp_path)
    assert done.returncode == 2
    assert "policy rules_of_ones_own:wrong failed with AttributeError: " in done.stderr
    assert "Traceback" not in done.stderr
    traced = command("--debug", "evaluate", log, "-p", "rules_of_ones_own:wrong", cwd=tmp_path)
    assert "return table.no_such_column" in traced.stderr
    constant = command("evaluate", log, "-p", "rules_of_ones_own:label", cwd=tmp_path)
    assert "rules_of_ones_own:label is 'red'; give the name of a function" in constant.stderr


def test_values_and_differences_fit_into_a_terminal(log: Path) -> None:
    result = invoke("evaluate", log, "-p", "always:red", "-p", "uniform")
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "Differences to logged" in result.stdout


@pytest.mark.parametrize("name", ["check", "evaluate", "diagnose"])
def test_every_command_on_logs_takes_columns_and_options_of_a_file(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    lines = [f"{rng.choice(['a', 'b'])};{rng.integers(2)};0.5;{rng.normal():.3f}" for _ in range(300)]
    (tmp_path / "ads.csv").write_text("\n".join(["ad;y;p;age", *lines]) + "\n")
    columns = ["--map", "action=ad", "--map", "reward=y", "--map", "propensity=p", "--map", "features=age"]
    given = (name, tmp_path / "ads.csv", *columns, "--option", "delimiter=;")
    assert invoke(*given).exit_code == 0, invoke(*given).output
    assert "no option 'comma'; it has 'mapping', 'delimiter'" in refusal(
        invoke(*given, "--option", "comma=;")
    )
    assert "'ad' is not name=value" in refusal(invoke(*given, "--map", "ad"))


def test_modules_that_can_not_be_imported_are_sentences(log: Path, tmp_path: Path) -> None:
    (tmp_path / "raises_at_once.py").write_text("raise RuntimeError('no connection')\n")
    (tmp_path / "not_python.py").write_text("def rule(:\n")
    (tmp_path / "needs_more.py").write_text("import no_such_package\n")
    found = {
        "raises_at_once": "RuntimeError: no connection",
        "not_python": "SyntaxError: ",
        "needs_more": "ModuleNotFoundError: No module named 'no_such_package'",
    }
    for module, error in found.items():
        done = command("evaluate", log, "-p", f"{module}:rule", cwd=tmp_path)
        assert done.returncode == 2
        assert f"module {module} can't be imported: {error}" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_log_is_never_written_over_itself(log: Path, tmp_path: Path) -> None:
    ads = tmp_path / "ads.csv"
    ads.write_text("ad,y,p\na,1,0.5\nb,0,0.5\n")
    (tmp_path / "link.csv").symlink_to(ads)
    before = ads.read_bytes()
    for name in ("ads.csv", "link.csv"):
        sentence = refusal(invoke("convert", ads, tmp_path / name, "--map", "action=ad"))
        assert "which is the source; give another name." in sentence
        assert ads.read_bytes() == before
    part = next(log.glob("*.parquet"))
    assert "a file of the source" in refusal(invoke("convert", log, part))


def test_devices_are_refused_before_the_log_is_read(tmp_path: Path) -> None:
    sentence = refusal(invoke("evaluate", tmp_path / "no such log", "--html", "/dev/null"))
    assert "which is no file that can be replaced" in sentence
