"""Logs that simulations keep: traces are the same, and every probability in them is computed again."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gyrfalcon import Bandit
from gyrfalcon.bandit import LogFolder, audit_decision_log, compact_decision_log, read_decision_log
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.decision_table import DecisionTable
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.environments.data.logged_replay import LoggedReplay
from gyrfalcon.environments.delayed import Delayed
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.environments.protocol import BLOCK, PotentialOutcomes, block_generator, drawn
from gyrfalcon.environments.synthetic.action_features import ActionFeatureEnvironment, EligibilityEnvironment
from gyrfalcon.learners.adaptive.learner import AdaptiveFalcon
from gyrfalcon.learners.baselines.uniform import Uniform
from gyrfalcon.learners.epsilon_falcon import EpsilonFalcon
from gyrfalcon.learners.limited import Limited
from gyrfalcon.learners.optimistic.linucb import LinUCB
from gyrfalcon.learners.protocol import Learner
from gyrfalcon.logs import LogReader, read_log
from gyrfalcon.simulation.replications import simulate
from tests.contracts.learners import PLAIN
from tests.contracts.throwaway import ExponentialWeights, Master

QUICK = ("epsilon-falcon calibrated", "epsilon-falcon coin", "adaptive-falcon", "linucb", "uniform")
OF_LABELS: dict[str, Learner] = {
    "limited adaptive-falcon": Limited(AdaptiveFalcon(), floor=0.02, control=(1, 0.1), shares={2: (0.0, 0.6)})
}
"""Learners whose settings name the actions of the example."""
LEARNERS = [
    pytest.param(learner, id=name, marks=() if name in QUICK else pytest.mark.long)
    for name, learner in (PLAIN | OF_LABELS).items()
]


@dataclasses.dataclass(frozen=True)
class Costs:
    """Costs of two actions in euros, of which some are never known."""

    problem = Problem(["slow", "fast"], features=["load"], reward_range=(0, 20), cost=True)

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        return drawn(lambda block: self._block(block_generator(seed, block)), start, stop)

    def _block(self, rng: np.random.Generator) -> PotentialOutcomes:
        load = rng.random((BLOCK, 1))
        means = np.hstack([10.0 * load, 8.0 - 4.0 * load])
        return PotentialOutcomes(Contexts(load), means, means + rng.random((BLOCK, 2)))


ENVIRONMENTS: dict[str, Any] = {
    "costs": Costs(),
    "eligible": EligibilityEnvironment(environment=StepExample(), share=0.7),
    "action features": ActionFeatureEnvironment(),
    "delayed": Delayed(StepExample(), mean=20, distribution="geometric"),
    "with a timeout": Delayed(StepExample(), mean=20, distribution="geometric", missing=0.0, timeout=50),
    "missing": Delayed(Costs(), mean=lambda costs: np.where(costs > 9.0, np.inf, 2.0)),
}


def equal(one: Any, other: Any) -> bool:
    names = ("checkpoints", "regret", "reward", "propensity", "least_propensity")
    arrays = [np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True) for name in names]
    epochs = [[[(e.index, e.start, e.stop) for e in run] for run in trace.epochs] for trace in (one, other)]
    return all(arrays) and epochs[0] == epochs[1]


def kept(
    folder: Path, learner: Any, environment: Any, n_rounds: int, n_replications: int = 2
) -> DecisionTable:
    """The log of a simulation, after checks of all that holds of any."""
    classes = [type(learner)] if hasattr(learner, "__dataclass_fields__") else []
    without = simulate(learner, environment, n_rounds, n_replications, seed=5)
    place = LogFolder(folder, classes=[one for one in classes if one.__module__.startswith("tests")])
    trace = simulate(learner, environment, n_rounds, n_replications, seed=5, keep_log=place)
    assert equal(trace, without)
    report = audit_decision_log(folder)
    assert report.passed
    table = read_log(folder)
    assert report.n_decisions == len(table) == n_rounds * n_replications
    assert table.distribution is not None
    assert np.array_equal(table.distribution[np.arange(len(table)), table.action], table.propensity)
    assert not table.distribution[~table.eligible].any()
    if report.not_recomputable:
        assert set(report.not_recomputable) == {"their policy can't be stored"}
    else:
        assert report.n_equal == len(table)
    assert_replications(table, trace)
    return table


def assert_replications(table: DecisionTable, trace: Any) -> None:
    """Each replication is an experiment, with rounds in order and the rewards of its trace."""
    assert table.experiment is not None
    assert table.round is not None
    for number in range(trace.n_replications):
        rows = table.take(table.experiment == f"simulation/{number}")
        assert rows.round is not None
        assert np.array_equal(rows.round, np.arange(trace.n_rounds))
        if not np.isnan(rows.reward).any():
            assert rows.reward.sum() == pytest.approx(trace.reward[number, -1], rel=1e-12)


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learners_log_is_computed_again_and_its_trace_is_the_same(learner: Any, tmp_path: Path) -> None:
    kept(tmp_path, learner, StepExample(), 600)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_environments_log_is_computed_again_and_its_trace_is_the_same(
    name: str, tmp_path: Path
) -> None:
    environment = ENVIRONMENTS[name]
    learner = (
        AdaptiveFalcon() if name in {"action features", "costs"} else EpsilonFalcon(passive_design="coin")
    )
    table = kept(tmp_path, learner, environment, 500)
    problem = environment.problem
    assert table.actions == problem.actions
    assert table.features == tuple(problem.features.names)
    declared = None if problem.out_of_range == "accept" else problem.reward_range
    assert (table.reward_range, table.cost) == (declared, problem.cost)
    assert (table.contexts.eligible is None) == (name != "eligible")
    assert (table.contexts.actions is None) == (name != "action features")


def test_a_mixture_of_bases_is_computed_again(tmp_path: Path) -> None:
    """Bases flip coins in every round, also where no epoch before did."""
    table = kept(tmp_path, Master(), StepExample(), 400)
    assert table.passive is not None
    assert 0 < table.passive.sum() < len(table)


def test_contexts_and_rewards_are_those_of_the_environment(tmp_path: Path) -> None:
    table = kept(tmp_path, LinUCB(), Costs(), 300, 1)
    outcomes = Costs().draw(0, 300, 5)
    assert np.array_equal(table.contexts.shared, outcomes.contexts.shared)
    assert np.array_equal(table.reward, outcomes.rewards[np.arange(300), table.action])
    assert table.time is not None
    assert table.reward_time is not None
    assert np.array_equal(table.time, np.arange(300.0))
    assert np.array_equal(table.reward_time, np.arange(300.0) + 1.0)


def test_late_rewards_have_their_times_and_those_that_never_come_are_nan(tmp_path: Path) -> None:
    environment = ENVIRONMENTS["missing"]
    table = kept(tmp_path, Uniform(), environment, 400, 1)
    outcomes = environment.draw(0, 400, 5)
    chosen = np.arange(400), table.action
    never = outcomes.rewards[chosen] > 9.0
    assert 0 < never.sum() < 400
    assert np.array_equal(np.isnan(table.reward), never)
    assert table.reward_time is not None
    assert np.array_equal(table.reward_time[~never], np.arange(400.0)[~never] + 3.0)
    assert np.isnan(table.reward_time[never]).all()


def test_a_replay_keeps_its_rounds(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    problem = Problem(["a", "b"], features=["x"])
    log = LoggedReplay(
        problem, rng.random((3_000, 1)), rng.choice(["a", "b"], 3_000), rng.random(3_000), "uniform"
    )
    learner = EpsilonFalcon()
    trace = simulate(learner, log, 500, 2, seed=1, keep_log=tmp_path)
    assert equal(trace, simulate(learner, log, 500, 2, seed=1))
    report = audit_decision_log(tmp_path)
    assert report.passed
    assert list(report.not_recomputable.values()) == [1_000]
    assert "a replay of a log drew their actions" in str(report)
    assert_replications(read_log(tmp_path), trace)


def test_a_policy_of_ones_own_class_is_logged_without_a_hash_unless_the_class_is_named(
    tmp_path: Path,
) -> None:
    simulate(ExponentialWeights(), StepExample(), 100, keep_log=tmp_path)
    models = read_log(tmp_path).model
    assert models is not None
    assert set(models) == {None}
    assert audit_decision_log(tmp_path).not_recomputable == {"their policy can't be stored": 100}


def test_replications_are_kept_once_in_any_parts_and_under_any_name(tmp_path: Path) -> None:
    simulate(LinUCB(), StepExample(), 50, 3, keep_log=tmp_path)
    before = sorted(tmp_path.rglob("*"))
    sentence = (
        r"has replication 2 of the experiment 'simulation' already; give another folder, or another name"
    )
    with pytest.raises(ValueError, match=sentence):
        simulate(LinUCB(), StepExample(), 50, 2, first_replication=2, keep_log=tmp_path)
    assert sorted(tmp_path.rglob("*")) == before
    simulate(LinUCB(), StepExample(), 50, 2, first_replication=3, keep_log=tmp_path)
    named = LogFolder(tmp_path, experiment="uniform", keep_seed=False)
    simulate(Uniform(), StepExample(), 50, keep_log=named)
    bandit = Bandit(["red", "blue"], features=["x"], seed=1, log=LogFolder(tmp_path, experiment="live"))
    bandit.decide_many(np.zeros((7, 1)))
    table = read_log(tmp_path)
    assert table.experiment is not None
    names, counts = np.unique(table.experiment.astype(str), return_counts=True)
    expected = {**{f"simulation/{number}": 50 for number in range(5)}, "uniform/0": 50, "live": 7}
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == expected
    report = audit_decision_log(tmp_path)
    assert report.passed
    assert (report.n_decisions, report.n_equal) == (307, 257)
    assert list(report.not_recomputable) == [
        "the log has no seed, so that only their probabilities were compared"
    ]
    assert len(read_decision_log(tmp_path)) == 307
    assert compact_decision_log(tmp_path).n_open == 1


def test_a_simulation_that_fails_leaves_no_rows(tmp_path: Path) -> None:
    def interrupt(n_rounds: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(Uniform(), StepExample(), 100, keep_log=tmp_path, on_rounds=interrupt)
    assert not list(tmp_path.glob("*.parquet"))
    simulate(Uniform(), StepExample(), 100, keep_log=tmp_path)
    assert len(read_log(tmp_path)) == 100


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    simulate(
        EpsilonFalcon(passive_design="coin", epsilon=0.2), StepExample(), 400, 2, seed=2, keep_log=folder
    )
    return folder


def changed(folder: Path, target: Path, change: Callable[[list[dict[str, Any]]], Any]) -> Path:
    """A copy of a log whose rows somebody has changed."""
    import shutil

    import pyarrow
    import pyarrow.parquet

    copy = Path(shutil.copytree(folder, target / "copy"))
    (path,) = copy.glob("*.parquet")
    table = pyarrow.parquet.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=table.schema), path)
    return copy


def _nudged(name: str) -> Callable[[list[dict[str, Any]]], Any]:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[333][name] = float(np.nextafter(rows[333][name], 2.0))

    return change


def _other_share(rows: list[dict[str, Any]]) -> None:
    rows[333]["distribution"] = rows[333]["distribution"][::-1]


def _other_action(rows: list[dict[str, Any]]) -> None:
    labels = {row["action"] for row in rows}
    (rows[333]["action"],) = labels - {rows[333]["action"]}
    rows[333]["propensity"] = 1.0 - rows[333]["propensity"]


def _other_phase(rows: list[dict[str, Any]]) -> None:
    rows[333]["phase"] = "policy" if rows[333]["phase"] == "passive" else "passive"


CHANGES: dict[str, tuple[Callable[[list[dict[str, Any]]], Any], str]] = {
    "propensity": (_nudged("propensity"), "propensity"),
    "distribution": (_other_share, "distribution"),
    "action": (_other_action, "action"),
    "phase": (_other_phase, "phase"),
    "context": (lambda rows: rows[333].update({"context.x": 1.0 - rows[333]["context.x"]}), "distribution"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_value_that_was_changed_is_found(name: str, long_log: Path, tmp_path: Path) -> None:
    change, value = CHANGES[name]
    report = audit_decision_log(changed(long_log, tmp_path, change))
    assert not report.passed
    assert report.n_different == 1
    assert ("simulation/0/333", value) in {(one.event_id, one.value) for one in report.differences}


def test_other_faults_of_kept_logs_are_named(long_log: Path, tmp_path: Path) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[11]["distribution"] = [0.9, 0.9]
        rows[12]["action"] = None
        rows[13:13] = [dict(rows[12]), dict(rows[5])]

    report = audit_decision_log(changed(long_log, tmp_path, change))
    assert not report.passed
    assert report.wrong_sums == ("simulation/0/11",)
    assert "simulation/0/12" in report.misfits
    assert report.duplicates == ("simulation/0/12", "simulation/0/5")


def test_rewards_out_of_range_are_named(tmp_path: Path) -> None:
    simulate(Uniform(), Costs(), 100, keep_log=tmp_path / "log")
    copy = changed(tmp_path / "log", tmp_path, lambda rows: rows[10].update(reward=21.0))
    assert audit_decision_log(copy).out_of_range == ("simulation/0/10",)


def test_rows_that_are_missing_leave_the_others_to_be_computed(long_log: Path, tmp_path: Path) -> None:
    """Without the coins before it, a later round's draw can't be repeated; its probabilities can."""

    def change(rows: list[dict[str, Any]]) -> None:
        del rows[250:260]

    report = audit_decision_log(changed(long_log, tmp_path, change))
    assert report.passed
    assert "rounds before them are missing" in str(report)
    assert report.n_equal + sum(report.not_recomputable.values()) == 790
    assert report.n_equal >= 400 + 200


def test_policies_that_are_missing_or_altered_are_named(long_log: Path, tmp_path: Path) -> None:
    copy = changed(long_log, tmp_path, len)
    models = list(dict.fromkeys(row["model"] for row in read_decision_log(copy).rows))
    policies = copy / "policies"
    (policies / f"{models[0]}.gyrfalcon").unlink()
    (policies / f"{models[1]}.gyrfalcon").write_bytes((policies / f"{models[2]}.gyrfalcon").read_bytes())
    report = audit_decision_log(copy)
    assert not report.passed
    assert report.missing_policies == (models[0],)
    assert report.altered_policies == (models[1],)
    assert not report.differences


def test_reading_by_columns_gives_the_trace_without_the_rows(tmp_path: Path) -> None:
    trace = simulate(LinUCB(), StepExample(), 20_000, 3, keep_log=tmp_path)
    total = sum(table.reward.sum() for table in LogReader(tmp_path).tables(["reward"], batch_rows=1_000))
    assert total == pytest.approx(trace.reward[:, -1].sum(), rel=1e-12)
