"""`gyrfalcon diagnose`: what a live bandit has logged, in a terminal, as JSON, as a page and as a picture."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gyrfalcon import Bandit, EpsilonGreedy
from tests.cli.terminal import COMMAND, invoke, numbers, refusal


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a bandit whose red banner earns 6 more between 30 and 45 years."""
    path = tmp_path_factory.mktemp("log")
    bandit = Bandit(
        actions=["red", "green"],
        features=["age"],
        reward_range=(0, 20),
        learner=EpsilonGreedy(epsilon=0.4),
        log=path,
        seed=1,
    )
    rng = np.random.default_rng(0)
    for _ in range(800):
        age = float(rng.uniform(18, 70))
        decision = bandit.decide({"age": age})
        mean = 5.0 + 6.0 * (30.0 < age < 45.0) if decision.action == "red" else 7.0
        bandit.reward(decision.event_id, float(np.clip(mean + rng.standard_normal(), 0, 20)))
    return path


def test_a_terminal_gets_verdict_recommendation_place_and_tables(folder: Path) -> None:
    result = invoke("diagnose", folder, "--unit", "euros")
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert "800 rows. The model class is wrong" in text
    assert "The model class in question is Linear()." in text
    assert "in squared euros" in text
    assert "Most of all: action red, age from" in text
    assert "Greedy policies over 640 rows" in text
    assert "Excess risk under uniform play" in text


def test_json_has_every_part(folder: Path) -> None:
    found = numbers("diagnose", folder)
    assert found["actions"] == ["red", "green"]
    assert found["misspecification"]["lower"] > 0.0
    assert set(found["tests"]["p_values_by_action"]) == {"red", "green"}
    assert found["region"]["ranges"][0]["feature"] == "age"
    assert found["cost"]["richer"]["gain"]["low"] > 0.0
    assert len(found["profiles"][0]["residual"]) == 2
    assert found["set_aside"] == []
    assert found["model_class"] == "Linear()"


def test_a_richer_class_in_question_is_less_wrong(folder: Path) -> None:
    linear, splines = (
        numbers("diagnose", folder, "--model-class", name)["misspecification"]["b_hat"]
        for name in ("linear", "splines")
    )
    assert splines < 0.5 * linear


def test_page_and_picture_are_written(folder: Path, tmp_path: Path) -> None:
    page, picture = tmp_path / "page.html", tmp_path / "map.png"
    result = invoke("diagnose", folder, "--html", page, "--figure", picture)
    assert result.exit_code == 0, result.output
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert "The model class in question is Linear()." in page.read_text()
    assert "data:image/svg+xml;base64" in page.read_text()
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model-class", "cubic"], "--model-class is 'cubic'"),
        (["--figure", "map.gif"], "give a name that ends in .svg, .png or .pdf"),
        (["--rows", "some"], "rows is 'some'"),
        (["--level", "95"], "level is 95"),
    ],
)
def test_wrong_options_get_a_sentence(folder: Path, options: list[str], message: str) -> None:
    result = invoke("diagnose", folder, *options)
    assert result.exit_code == 2
    assert message in refusal(result)


def test_rows_that_leave_nothing_to_draw_get_a_verdict_all_the_same(tmp_path: Path) -> None:
    log, figure = tmp_path / "ads.csv", tmp_path / "map.svg"
    log.write_text("ad,click,p,age\nred,1,0.5,30\ngreen,0,0.5,40\n")
    pairs = ("action=ad", "reward=click", "propensity=p", "features=age")
    columns = [part for pair in pairs for part in ("--map", pair)]
    result = invoke("diagnose", log, *columns, "--figure", figure)
    assert result.exit_code == 2
    assert "This log can't say whether the model class is wrong." in " ".join(result.stdout.split())
    assert "was not written: these rows leave nothing to draw" in " ".join(result.stderr.split())
    assert not figure.exists()


def test_numbers_do_not_depend_on_the_threads_of_the_machine(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, action = rng.standard_normal((3000, 20)), rng.integers(0, 2, 3000)
    log = tmp_path / "wide.csv"
    lines = [
        ",".join(map(str, (a, y, 0.5, *row)))
        for a, y, row in zip(action, rng.random(3000), x.tolist(), strict=True)
    ]
    names = [f"x{j}" for j in range(20)]
    log.write_text("\n".join([",".join(["ad", "click", "p", *names]), *lines]) + "\n")
    pairs = ("action=ad", "reward=click", "propensity=p", f"features={','.join(names)}")
    command = [*COMMAND, "diagnose", str(log), "--json"]
    command += [part for pair in pairs for part in ("--map", pair)]
    said = [
        subprocess.run(
            command, env={**os.environ, "OPENBLAS_NUM_THREADS": n}, capture_output=True, check=True
        ).stdout
        for n in ("1", "2")
    ]
    assert said[0] == said[1]


def test_a_folder_without_a_log_gets_a_sentence(tmp_path: Path) -> None:
    result = invoke("diagnose", tmp_path)
    assert result.exit_code == 2
    assert refusal(result)


def test_of_many_actions_the_terminal_shows_the_most_wrong_ones(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    lines = [f"a{rng.integers(20)},{rng.normal():.4f},0.05,{rng.normal():.4f}" for _ in range(1200)]
    (tmp_path / "ads.csv").write_text("\n".join(["ad,y,p,x", *lines]) + "\n")
    columns = [
        one for key in ("action=ad", "reward=y", "propensity=p", "features=x") for one in ("--map", key)
    ]
    text = " ".join(invoke("diagnose", tmp_path / "ads.csv", *columns).stdout.split())
    assert "5 more actions have smaller errors; --html and --json show them all." in text
    assert len(numbers("diagnose", tmp_path / "ads.csv", *columns)["by_action"]) == 20
