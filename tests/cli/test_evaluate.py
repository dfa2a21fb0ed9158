from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gyrfalcon import Bandit, __version__
from gyrfalcon.bandit import read_decision_log
from gyrfalcon.cli.evaluate import _diagnosed
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.experiment.final_policy import FinalPolicy
from tests.cli.terminal import invoke, numbers, refusal
from tests.evaluation.logs import log_of


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logged decisions of the default learner between three actions."""
    folder = tmp_path_factory.mktemp("decisions")
    random = np.random.default_rng(0)
    bandit = Bandit(["red", "blue", "green"], features=["age"], seed=1, log=folder)
    for age in random.uniform(18.0, 70.0, 300).tolist():
        decision = bandit.decide([age])
        click = random.random() < 0.2 + 0.4 * (decision.action == "blue")
        bandit.reward(decision.event_id, float(click))
    return folder


def test_the_verdict_stands_before_the_numbers(log: Path) -> None:
    result = invoke("evaluate", log, "--policy", "uniform", "--policy", "always:red")
    assert result.exit_code == 0
    text = result.stdout
    assert text.startswith("Verdict: ")
    assert text.index("Verdict") < text.index("expected effective rows") < text.index("Reward per decision")
    assert "Set aside: 1 row, first row, from which predictions start." in text


def test_json_names_policies_verdicts_and_intervals(log: Path) -> None:
    found = numbers(
        "evaluate",
        log,
        "--policy",
        "old=uniform",
        "--policy",
        "greedy",
        "--baseline",
        "old",
        "--reward-range",
        "0,1",
        "--estimator",
        "snips",
        "--interval",
        "normal",
        "--level",
        0.9,
    )
    assert found["verdict"] in ("trust", "caution", "do not trust")
    assert [policy["name"] for policy in found["policies"]] == ["old", "greedy"]
    assert len(found["log_sha256"]) == 64
    assert found["gyrfalcon"] == __version__
    assert found["policies"][1]["interval"]["level"] == 0.9
    assert found["settings"] == {
        "estimator": "snips",
        "interval": "normal",
        "level": 0.9,
        "model_class": None,
        "reward_range": [0.0, 1.0],
        "reward_unit": "",
        "marginalise": None,
    }
    assert "dependence on the log" in [reason["check"] for reason in found["policies"][1]["reasons"]]


def test_strict_exits_with_3_where_a_value_is_not_to_be_trusted(log: Path) -> None:
    plain = invoke("evaluate", log, "--policy", "always red")
    strict = invoke("evaluate", log, "--policy", "always red", "--strict")
    assert "always red: do not trust" in plain.stdout
    assert (plain.exit_code, strict.exit_code) == (0, 3)
    assert invoke("evaluate", log, "--policy", "logged", "--strict").exit_code == 0


def test_stored_policies_are_found_by_the_start_of_their_hash(log: Path) -> None:
    names = sorted(path.stem for path in (log / "policies").iterdir())
    found = numbers("evaluate", log, "--policy", f"greedy:{names[0][:10]}", "--policy", f"epoch:{names[0]}")
    assert len(found["policies"]) == 3
    error = refusal(invoke("evaluate", log, "--policy", "greedy:zzz"))
    assert "has no policy whose hash starts with 'zzz'" in error


def test_rows_since_a_policy_are_held_out_from_it(log: Path) -> None:
    decided = [row["model"] for row in read_decision_log(log).rows]
    model = decided[150]
    found = numbers("evaluate", log, "--policy", f"greedy:{model}", "--held-out")
    assert found["n_given"] == len(decided) - decided.index(model)
    checks = [reason["check"] for reason in found["policies"][1]["reasons"]]
    assert "dependence on the log" not in checks
    everything = numbers("evaluate", log, "--policy", "uniform", "--held-out")
    assert everything["n_given"] == len(decided)


def test_a_saved_bandit_is_a_policy(log: Path, tmp_path: Path) -> None:
    path = tmp_path / "shop.bandit"
    Bandit(["red", "blue", "green"], features=["age"], seed=1).save(path)
    found = numbers("evaluate", log, "--policy", f"new=bandit:{path}", "--policy", "uniform", "--held-out")
    assert found["policies"][1]["name"] == "new"
    assert found["policies"][1]["value"] == pytest.approx(found["policies"][2]["value"])
    assert "nowhere.bandit" in refusal(invoke("evaluate", log, "--policy", "bandit:nowhere.bandit"))


def test_the_final_policy_of_an_experiment_is_a_policy(log: Path, tmp_path: Path) -> None:
    path = tmp_path / "buttons.policy"
    bandit = Bandit(["red", "blue", "green"], features=["age"], seed=1)
    FinalPolicy(bandit.problem, bandit.epoch.policy, "uniform play").save(path)
    found = numbers("evaluate", log, "--policy", f"final:{path}", "--policy", "uniform", "--held-out")
    assert found["policies"][1]["value"] == pytest.approx(found["policies"][2]["value"])
    assert "holds a FinalPolicy" in refusal(invoke("evaluate", log, "--policy", f"bandit:{path}"))


def test_functions_of_a_module_are_policies(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_rules.py").write_text(
        "def by_age(table):\n"
        "    return ['red' if age < 30 else 'blue' for age in table.contexts.shared[:, 0]]\n"
    )
    monkeypatch.chdir(tmp_path)
    found = numbers("evaluate", log, "--policy", "new=own_rules:by_age")
    assert found["policies"][1]["name"] == "new"
    assert "own_rules has no 'by_height'" in refusal(
        invoke("evaluate", log, "--policy", "own_rules:by_height")
    )
    assert "there is no module 'other_rules'" in refusal(
        invoke("evaluate", log, "--policy", "other_rules:by_age")
    )


def test_a_page_is_written(log: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    result = invoke("evaluate", log, "--policy", "uniform", "--html", page, "--json")
    assert json.loads(result.stdout)["policies"]
    assert f"Wrote {page}." in result.stderr
    assert "<title>What other policies would have earned" in page.read_text(encoding="utf-8")


def test_refusals_are_one_sentence(log: Path, tmp_path: Path) -> None:
    for arguments, sentence in (
        (("--policy", "best"), "policy 'best' is unknown; give always:LABEL, uniform"),
        (("--policy", "uniform", "--policy", "uniform"), "two policies are called 'uniform'"),
        (("--reward-range", "one"), "--reward-range is 'one'; give two numbers"),
        (("--estimator", "wald"), "estimator is 'wald'"),
        (("--policy", "always pink"), "there is no action 'pink' in the log"),
    ):
        assert sentence in refusal(invoke("evaluate", log, *arguments))
    assert "elsewhere does not exist" in refusal(invoke("evaluate", tmp_path / "elsewhere"))


def test_the_help_has_examples() -> None:
    text = invoke("evaluate", "--help").stdout
    assert "Examples" in text
    assert "gyrfalcon evaluate decisions --policy greedy --html report.html" in text


def test_a_figure_of_the_values_is_written_in_the_kind_of_its_name(log: Path, tmp_path: Path) -> None:
    for name, start in (("values.png", b"\x89PNG"), ("values.svg", b"<?xml"), ("values.pdf", b"%PDF")):
        result = invoke("evaluate", log, "--policy", "always:red", "--figure", tmp_path / name)
        assert result.exit_code == 0, result.output
        assert (tmp_path / name).read_bytes().startswith(start)
    assert "always:red" in (tmp_path / "values.svg").read_text()


def test_a_figure_of_no_known_kind_is_refused_before_the_log_is_read(tmp_path: Path) -> None:
    result = invoke("evaluate", tmp_path / "nowhere", "--figure", tmp_path / "values.gif")
    assert "give a name that ends in .svg, .png or .pdf" in refusal(result)


def test_a_log_without_propensities_gets_estimated_ones_where_that_is_asked(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    lines = [
        f"{'red' if random.random() < 0.3 + 0.4 * x else 'blue'},{int(random.random() < 0.5)},{x:.3f}"
        for x in random.random(800).tolist()
    ]
    (tmp_path / "ads.csv").write_text("\n".join(["ad,y,x", *lines]) + "\n")
    columns = ("--map", "action=ad", "--map", "reward=y", "--map", "features=x")
    assert "have no propensity" in refusal(invoke("evaluate", tmp_path / "ads.csv", *columns))
    result = invoke("evaluate", tmp_path / "ads.csv", *columns, "--estimated-propensities", "--json")
    assert result.stderr.startswith("Estimated the propensities of 800 rows; no test speaks against them.")
    found = json.loads(result.stdout)
    assert found["verdict"] == "caution"
    uniform = found["policies"][1]
    assert "Propensities were estimated" in " ".join(reason["text"] for reason in uniform["reasons"])
    assert uniform["interval"]["low"] < 0.5 < uniform["interval"]["high"]


def test_the_page_has_five_figures_unless_the_diagnosis_is_left_out(log: Path, tmp_path: Path) -> None:
    whole, short = tmp_path / "whole.html", tmp_path / "short.html"
    given = ("evaluate", log, "--policy", "uniform", "--unit", "clicks")
    assert invoke(*given, "--html", whole).exit_code == 0
    assert invoke(*given, "--html", short, "--no-diagnosis").exit_code == 0
    pages = whole.read_text(), short.read_text()
    assert [page.count("data:image/svg+xml;base64,") for page in pages] == [5, 4]
    assert ["Is the reward model wrong?" in page for page in pages] == [True, False]
    for page in pages:
        assert "Faults of the log" in page
        assert "reward per decision in clicks" in page.lower()


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_the_page_says_why_a_log_can_not_be_diagnosed() -> None:
    table = log_of(60)
    beyond = replace(table, contexts=Contexts(np.where(table.contexts.shared > 0.9, 1e200, 1.0)))
    assert _diagnosed(beyond, "")[1].startswith("That stays open: Sums of squares of features or rewards")
    found, why_not = _diagnosed(table, "clicks")
    assert (found is not None and found.reward_unit, why_not) == ("clicks", "")


def test_terminal_and_page_say_the_same(log: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = invoke("evaluate", log, "-p", "uniform", "-p", "always:blue", "--html", page, "--no-diagnosis")
    text, shown = " ".join(result.stdout.split()), " ".join(re.sub("<[^>]+>", "", page.read_text()).split())
    sentence = re.search(r"Verdict: [a-z ]+\. (.+?\.) logged: ", text)
    assert sentence is not None
    assert sentence[1] in html.unescape(shown)
    values = text[: text.index("Differences to logged")]
    found = re.findall(r"(uniform|always:blue) (?:trust|caution|do not trust) (\S+)", values)
    assert [name for name, _ in found] == ["uniform", "always:blue"]
    for name, value in found:
        assert re.search(rf"{name}\s*\S* (?:trust|caution|do not trust)\s*{re.escape(value)}", shown)
