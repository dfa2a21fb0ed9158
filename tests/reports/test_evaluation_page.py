from __future__ import annotations

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.evaluation import check_log, diagnose, evaluate
from gyrfalcon.evaluation.estimators.by_name import ESTIMATORS
from gyrfalcon.evaluation.evaluation import Evaluation
from gyrfalcon.evaluation.intervals.by_name import INTERVALS
from gyrfalcon.reports import evaluation_figures as figures
from gyrfalcon.reports.evaluation_method import content_hash
from gyrfalcon.reports.evaluation_page import evaluation_page
from gyrfalcon.reports.evaluation_summary import _IN_PLAIN_WORDS, sentences_on
from gyrfalcon.reports.figures import picture
from gyrfalcon.reports.formulas import OF_ESTIMATORS, OF_INTERVALS
from gyrfalcon.reports.page import Section, marked
from tests.evaluation.logs import log_of

POLICIES = {"uniform": "uniform", "blue": "always blue"}


def evaluated(table: DecisionTable) -> Evaluation:
    return evaluate(table, POLICIES)


def test_the_page_says_the_verdict_first_and_what_a_statistician_checks() -> None:
    table = log_of(1500, source="/somewhere/clicks")
    page = evaluation_page(table, evaluated(table)).html()
    assert "<title>What other policies would have earned: clicks</title>" in page
    assert page.index("<b>Trust</b>: uniform, blue.") < page.index("In short")
    assert "That is better than logged by" in page
    assert content_hash(table) in page
    assert "1,499 of 1,500 logged decisions" in page
    for text in ("doubly robust", "MinVar", "Betting sequence", "first row, from which", "Linear(ridge=1.0)"):
        assert text in page
    assert page.count("data:image/svg+xml;base64,") == 4
    assert "No policy is shown" not in page
    assert not re.search(r'(src|href)="(?!data:|#)', page), "everything is in the page"


def test_a_value_that_is_not_to_be_trusted_is_no_ground_for_a_decision() -> None:
    table = log_of(800, propensities=np.array([0.98, 0.01, 0.01]))
    page = evaluation_page(table, evaluated(table)).html()
    assert "<b>Do not trust</b>: " in page
    assert "is no ground for a decision" in page
    assert "That is better" not in page


def test_costs_are_better_when_they_are_lower() -> None:
    table = log_of(3000, cost=True)
    page = evaluation_page(table, evaluated(table)).html()
    assert "That is worse than logged by" in page
    assert "Costs over time" in page


def test_further_sections_stand_before_the_method() -> None:
    table = log_of(300)
    extra = Section("Where the reward model is wrong", ["Here."])
    page = evaluation_page(table, evaluated(table), sections=[extra]).html()
    assert page.index("How far the log overlaps") < page.index("Here.") < page.index("<h2>Method</h2>")


def test_the_hash_follows_the_columns() -> None:
    table = log_of(50)
    changed = table.reward.copy()
    changed[7] += 1e-9
    assert content_hash(table) == content_hash(log_of(50))
    assert content_hash(table) != content_hash(replace(table, reward=changed))
    assert content_hash(table) != content_hash(replace(table, distribution=None))


@pytest.mark.parametrize("n", [2, 25, 400])
def test_figures_are_drawn_for_logs_of_any_size(n: int) -> None:
    table = log_of(n, propensities=np.array([0.9, 0.06, 0.04]))
    evaluation = evaluate(table, {"uniform": "uniform"}, estimator="ips")
    for figure in (
        figures.estimates_figure(evaluation),
        figures.rewards_figure(table, evaluation),
        figures.propensities_figure(table, evaluation),
        figures.overlap_figure(evaluation),
    ):
        assert picture(figure, "svg").startswith(b"<?xml")


def test_colours_are_those_of_verdicts_and_stay_with_their_policy() -> None:
    table = log_of(400)
    evaluation = evaluated(table)
    panels = figures.rewards_figure(table, evaluation).axes
    assert [axes.get_title(loc="left") for axes in panels] == ["logged", "uniform", "blue"]
    lines = figures.overlap_figure(evaluation).axes[0].get_lines()
    assert [line.get_label() for line in lines[:2]] == ["uniform", "blue"]
    assert lines[0].get_color() == figures._colours(evaluation)["uniform"]


def test_every_check_has_plain_words_for_the_summary() -> None:
    table = log_of(800, epoch=np.repeat([0, 1], 400))
    evaluation = evaluate(table, POLICIES, estimator="clipped", interval="stablevar")
    checks = {reason.check for policy in evaluation.policies for reason in policy.verdict.reasons}
    assert checks - {"adaptivity"} <= set(_IN_PLAIN_WORDS)


def test_names_of_policies_are_shown_as_they_stand() -> None:
    names = {
        "<b>bold</b> & $5 off $10": "uniform",
        "🌞" * 3 + " summer, or what is left of it by then": "uniform",
    }
    table = log_of(400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = evaluation_page(table, evaluate(table, names)).html()
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; $5 off $10" in page
    assert "<b>bold</b>" not in page


def test_intervals_are_seen_beside_a_sequence_that_is_much_wider() -> None:
    table = log_of(1500, propensities=np.array([0.9, 0.05, 0.05]), reward_range=(0.0, 20.0))
    evaluation = evaluated(table)
    widest = max(one.sequence.high - one.sequence.low for one in evaluation.policies if one.sequence)
    axes = figures.estimates_figure(evaluation).axes[0]
    low, high = axes.get_xlim()
    kept = [one.interval for one in evaluation.policies if one.verdict.level != "do not trust"]
    assert all(low <= one.low and one.high <= high for one in kept)
    assert high - low < 0.8 * widest
    assert ">" in {line.get_marker() for line in axes.get_lines()}


@pytest.mark.parametrize(("scale", "shift"), [(1e-6, 0.0), (1.0, 0.0), (1e6, 5e7)])
def test_ends_of_intervals_differ_in_print_whatever_the_unit(scale: float, shift: float) -> None:
    table = log_of(1500)
    paid = replace(table, reward=shift + scale * table.reward, reward_range=(shift, shift + scale))
    evaluation = evaluated(paid)
    for policy in evaluation.policies:
        found = re.search(r"between (\S+) and ([^\s.]\S*?)[.)\s]", sentences_on(policy, evaluation))
        if policy.name != "logged":
            assert found is not None
            assert found[1] != found[2]
            assert float(found[1].replace(",", "")) == pytest.approx(
                policy.interval.low, abs=0.01 * (policy.interval.high - policy.interval.low)
            )


def test_pages_of_many_policies_count_those_that_are_not_drawn() -> None:
    table = log_of(300)
    policies = {f"policy {number}": "uniform" for number in range(8)}
    page = evaluation_page(table, evaluate(table, policies)).html()
    assert "5 of 9 policies are drawn, those of the best values." in page
    assert "5 of 8 policies are drawn, those of the best values." in page
    assert page.index("Why this verdict") < page.index("<h2>All checks</h2>")


def test_one_page_has_all_five_figures_and_the_faults_of_the_log() -> None:
    table = log_of(1500)
    broken = replace(table, propensity=np.where(np.arange(1500) == 7, 1.7, table.propensity))
    check = check_log(broken)
    page = evaluation_page(table, evaluated(table), check=check, diagnosis=diagnose(table)).html()
    assert page.count("data:image/svg+xml;base64,") == 5
    assert "Is the reward model wrong?" in page
    assert "Row 7: the propensity is 1.7, which is above 1." in page
    assert f"<b>The log has {len(check.errors)} errors</b>: see its faults before you decide." in page
    sound = evaluation_page(table, evaluated(table), check=check_log(table)).html()
    assert "The log has" not in sound
    assert "passed: 1,500 rows, 0 errors" in sound


def test_reasons_about_the_log_stand_once_for_all_policies() -> None:
    table = log_of(800)
    policies = {f"policy {number}": "uniform" for number in range(6)}
    evaluation = evaluate(table, policies, estimated_propensities=True)
    text = next(one.text for one in evaluation.common_reasons if one.check == "propensities")
    page = evaluation_page(table, evaluation).html()
    assert page.count(text) == 2, "once among the objections and once among all checks"
    assert "all but logged" in page


@pytest.mark.parametrize("estimator", sorted(ESTIMATORS))
def test_the_method_is_that_of_the_values(estimator: str) -> None:
    table = log_of(120)
    page = evaluation_page(table, evaluate(table, POLICIES, estimator=estimator, interval="normal")).html()
    assert marked(OF_ESTIMATORS[estimator]) in page
    assert marked(OF_INTERVALS["normal"]) in page
    assert "Zhan, Hadad" not in page


def test_every_method_has_a_formula() -> None:
    assert set(OF_ESTIMATORS) == set(ESTIMATORS)
    assert set(OF_INTERVALS) == set(INTERVALS)


def test_overlap_is_drawn_as_the_table_counts_it() -> None:
    parts = [log_of(450, propensities=np.array([0.9, 0.05, 0.05])), log_of(450, seed=1)]
    evaluation = evaluated(DecisionTable.concat(parts))
    assert np.ptp(evaluation["uniform"].row_weights) > 0.5, "MinVar counts rows differently"
    line = figures.overlap_figure(evaluation).axes[0].get_lines()[0]
    first = np.asarray(line.get_ydata(), dtype=float)[0]
    assert first == pytest.approx(100.0 * evaluation["uniform"].weights.largest_share)


def test_units_are_the_users() -> None:
    table = log_of(400)
    evaluation = evaluate(table, POLICIES, reward_unit="EUR <net> $")
    page = evaluation_page(table, evaluation).html()
    assert "Reward per decision in EUR &lt;net&gt; $. Thick" in page
    assert "EUR &lt;net&gt; $ per decision, probably" in page
    assert evaluation.measure == "reward per decision in EUR <net> $"


def test_days_are_shown_where_times_are_dates() -> None:
    table = log_of(200)
    days = replace(table, time=1.7e9 + 86_400.0 * np.arange(200.0))
    labels = [figures.rewards_figure(one, evaluated(one)).axes[-1].get_xlabel() for one in (days, table)]
    assert labels[0] == "row, in the order of time (2023-11-15 to 2024-05-31)"
    assert labels[1] == "row, in the order of time"


def test_letters_that_our_font_lacks_are_left_to_the_reader() -> None:
    table = log_of(100)
    svg = picture(figures.estimates_figure(evaluate(table, {"日本語 sale": "uniform"})), "svg")
    assert "日本語 sale" in svg.decode()
    plain = picture(figures.estimates_figure(evaluate(table, {"sale": "uniform"})), "svg")
    assert b"<text" not in plain
