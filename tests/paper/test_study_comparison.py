from __future__ import annotations

import numpy as np
import pytest

from gyrfalcon.core.epochs import decide
from gyrfalcon.core.policies.kernel_policy import KernelPolicy
from gyrfalcon.core.records import Log
from gyrfalcon.core.sampling import UNIFORMS_PER_DECISION
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.simulation.replications import simulate
from gyrfalcon_paper.exhibits.comparison import (
    ENVIRONMENTS,
    EXHIBIT,
    GREEDIER,
    LEARNERS,
    OURS,
    SHARPER,
    UNCONSTRAINED,
    doublings,
    runs,
)
from gyrfalcon_paper.exhibits.exhibit import Tables
from gyrfalcon_paper.linear_models import played_model
from gyrfalcon_paper.tables import entry, matching, numbers, only
from tests.paper.showing import check_readable, tables_of


@pytest.fixture(scope="module")
def tables() -> Tables:
    return tables_of(EXHIBIT)


def test_every_learner_plays_in_every_environment(tables: Tables) -> None:
    pairs = list(zip(tables["regret"]["environment"], tables["regret"]["learner"], strict=True))
    assert pairs == [(environment, learner) for environment in ENVIRONMENTS for learner in LEARNERS]


def test_parts_are_replications_of_one_simulation() -> None:
    whole = runs("Section 1.1", OURS, 1_600, 4, 0)
    parts = [runs("Section 1.1", OURS, 1_600, 2, first) for first in (0, 2)]
    assert np.array_equal(np.concatenate([part.regret for part in parts]), whole.regret)
    assert np.array_equal(np.concatenate([part.late for part in parts]), whole.late)


def test_regret_is_that_of_the_simulation(tables: Tables) -> None:
    learner, environment = "FALCON, all data", "Appendix E"
    row = only(matching(tables["regret"], environment=environment, learner=learner))
    n_rounds = int(max(numbers(tables["per-round"], "round")))
    trace = simulate(
        LEARNERS[learner], ENVIRONMENTS[environment], n_rounds, int(row["replications"]), checkpoints="every"
    )
    assert row["cumulative"] == pytest.approx(trace.regret[:, -1].mean())
    by_round = np.diff(trace.regret, axis=1, prepend=0.0)
    assert row["late"] == pytest.approx(by_round[:, -by_round.shape[1] // 5 :].mean())
    shown = matching(tables["per-round"], environment=environment, learner=learner)
    assert numbers(shown, "regret")[1] == pytest.approx(by_round[:, 100:200].mean())


def test_without_the_constraint_no_multiplier_is_above_0_and_fits_are_those_of_active_rows() -> None:
    trace = simulate(LEARNERS[UNCONSTRAINED], StepExample(), 6_400, 3, checkpoints=doublings(6_400))
    reports = [epoch.report for epochs in trace.epochs for epoch in epochs if epoch.report is not None]
    assert len(reports) == 3 * 6
    assert all(report.multiplier == 0.0 and report.n_passive > 0.0 for report in reports)


def test_the_unconstrained_learner_fits_what_least_squares_of_its_active_rows_give() -> None:
    example, learner = StepExample(), LEARNERS[UNCONSTRAINED]
    assert isinstance(learner, EpsilonFalcon)
    epoch = learner.start(example.problem)
    drawn = example.draw(0, 100, seed=0)
    uniforms = np.random.default_rng(0).random((100, UNIFORMS_PER_DECISION))
    decisions = decide(epoch, np.arange(100), drawn.contexts, uniforms)
    x = drawn.contexts.shared[:, 0]
    rewards = drawn.rewards[np.arange(100), decisions.action]
    log = Log.of(drawn.contexts, decisions, rewards)
    after = learner.next_epoch(epoch, log)
    assert isinstance(after.policy, KernelPolicy)
    model = played_model(after.policy)
    assert model is not None
    scores = model.scores(drawn.contexts)
    for action in (0, 1):
        mine = ~log.passive & (log.action == action)
        slope, intercept = np.polyfit(x[mine], rewards[mine], 1)
        assert scores[:, action] == pytest.approx(intercept + slope * x, abs=1e-9)


def test_the_tuned_settings_are_those_that_their_names_say() -> None:
    ours, sharper, greedier = (LEARNERS[name] for name in (OURS, SHARPER, GREEDIER))
    assert isinstance(ours, EpsilonFalcon)
    assert isinstance(sharper, EpsilonFalcon)
    assert isinstance(greedier, EpsilonFalcon)
    assert (sharper.data, sharper.passive_data) == ("all", "all")
    assert sharper.c_beta == pytest.approx(ours.c_beta / 5)
    assert greedier.c_gamma_value == pytest.approx(3 * ours.c_gamma_value)


def test_differences_are_taken_in_the_same_replications(tables: Tables) -> None:
    for environment in ENVIRONMENTS:
        assert entry(tables["regret"], "above", environment=environment, learner=OURS) == 0.0
        row = only(matching(tables["regret"], environment=environment, learner="LinUCB"))
        ours = entry(tables["regret"], "cumulative", environment=environment, learner=OURS)
        assert row["above"] == pytest.approx(row["cumulative"] - ours)


def test_it_can_be_read(tables: Tables) -> None:
    check_readable(EXHIBIT, tables)
