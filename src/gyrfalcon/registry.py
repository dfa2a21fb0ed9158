"""Every public name and every class that may stand in a file, in one literal table.

The front doors (`gyrfalcon`, `gyrfalcon.environments`, ...), files, sweeps, the command line and the
reference pages all read it. Adding a learner takes its module, a row here, and its tests. The table is text:
nothing is imported before it is used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from gyrfalcon.stored_classes import STORED_CLASSES


class Kind(NamedTuple):
    """What entries of one kind have in common: the module that offers them, if any, and their heading."""

    door: str | None
    title: str


class Entry(NamedTuple):
    """One name: its module below `gyrfalcon`, its kind, and the id by which files know the class.

    An id never changes, whatever becomes of the name and the module. An entry without one is never stored.
    """

    name: str
    home: str
    kind: str
    id: str | None = None

    def load(self) -> Any:
        """The class or function itself."""
        return getattr(import_module(f"gyrfalcon.{self.home}"), self.name)


KINDS = {
    "bandit": Kind("gyrfalcon", "The bandit and its decisions"),
    "experiment": Kind("gyrfalcon", "Experiments that stop when known"),
    "experiment_part": Kind("gyrfalcon.experiment", "Results of experiments, and final policies"),
    "inspection": Kind("gyrfalcon.bandit", "Status, explanations and decision logs of a bandit"),
    "problem": Kind("gyrfalcon", "Problems, features and logs"),
    "learner": Kind("gyrfalcon", "Learners"),
    "model_class": Kind("gyrfalcon", "Model classes"),
    "schedule": Kind("gyrfalcon", "Schedules of epochs"),
    "simulation": Kind("gyrfalcon", "Simulations and sweeps"),
    "estimate": Kind("gyrfalcon", "Estimates from logged data"),
    "protocol": Kind("gyrfalcon", "Protocols and records"),
    "environment": Kind("gyrfalcon.environments", "Environments"),
    "environment_data": Kind("gyrfalcon.environments", "Data as environments"),
    "population": Kind("gyrfalcon.environments", "Populations and best models"),
    "environment_part": Kind("gyrfalcon.environments", "Parts of an environment of your own"),
    "kernel": Kind("gyrfalcon.kernels", "Exploration kernels"),
    "learner_part": Kind("gyrfalcon.learners", "Parts of a learner of your own"),
    "basis": Kind("gyrfalcon.oracles", "Bases"),
    "regressor": Kind("gyrfalcon.oracles", "Regressors of our own"),
    "solver": Kind("gyrfalcon.oracles", "Solvers of constrained least squares"),
    "estimate_part": Kind("gyrfalcon.estimates", "Results of estimates"),
    "evaluation": Kind("gyrfalcon.evaluation", "Values of policies from a log"),
    "log_check": Kind("gyrfalcon.evaluation", "Checks of a log"),
    "diagnosis": Kind("gyrfalcon.evaluation", "Diagnosis of a model class from a log"),
    "log": Kind("gyrfalcon.logs", "Logs of decisions: reading, writing, import and export"),
    "simulation_part": Kind("gyrfalcon.simulation", "Results of simulations"),
    "sweep_part": Kind("gyrfalcon.sweeps", "Parts of a sweep"),
    "stored": Kind(None, "Internal classes that stand in files"),
}

ENTRIES = (
    Entry("Bandit", "bandit.bandit", "bandit"),
    Entry("Decision", "bandit.decision", "bandit"),
    Entry("DecisionBatch", "bandit.decision", "bandit"),
    Entry("BanditStatus", "bandit.status", "inspection"),
    Entry("ActionStatus", "bandit.status", "inspection"),
    Entry("SettingsChange", "bandit.history", "inspection", "bandit/settings-change"),
    Entry("Explanation", "bandit.explanation", "inspection"),
    Entry("ActionExplanation", "bandit.explanation", "inspection"),
    Entry("LogFolder", "logs.folder", "inspection"),
    Entry("LoggedDecisions", "logs.rows", "inspection"),
    Entry("read_decision_log", "logs.reading", "inspection"),
    Entry("Compaction", "logs.compaction", "inspection"),
    Entry("compact_decision_log", "logs.compaction", "inspection"),
    Entry("AuditReport", "bandit.audit_report", "inspection"),
    Entry("Difference", "bandit.audit_report", "inspection"),
    Entry("audit_decision_log", "bandit.audit", "inspection"),
    Entry("Problem", "core.inputs.problem", "problem", "problem"),
    Entry("Schema", "core.inputs.schema", "problem", "schema"),
    Entry("Numeric", "core.inputs.columns", "problem", "column/numeric"),
    Entry("Categorical", "core.inputs.columns", "problem", "column/categorical"),
    Entry("Boolean", "core.inputs.columns", "problem", "column/boolean"),
    Entry("Hashed", "core.inputs.columns", "problem", "column/hashed"),
    Entry("Contexts", "core.contexts", "problem", "contexts"),
    Entry("Log", "core.records", "problem", "log"),
    # Learners stand in the order in which the command line lists them.
    Entry("AdaptiveFalcon", "learners.adaptive.learner", "learner", "learner/adaptive-falcon"),
    Entry("EpsilonFalcon", "learners.epsilon_falcon", "learner", "learner/epsilon-falcon"),
    Entry("Falcon", "learners.falcon", "learner", "learner/falcon"),
    Entry("FalconPlus", "learners.falcon_plus", "learner", "learner/falcon-plus"),
    Entry("RAPR", "learners.rapr", "learner", "learner/rapr"),
    Entry("SquareCB", "learners.squarecb", "learner", "learner/squarecb"),
    Entry("LinUCB", "learners.optimistic.linucb", "learner", "learner/linucb"),
    Entry("EnlargedLinUCB", "learners.optimistic.enlarged_linucb", "learner", "learner/enlarged-linucb"),
    Entry("OFUL", "learners.optimistic.oful", "learner", "learner/oful"),
    Entry("LinTS", "learners.optimistic.lints", "learner", "learner/lints"),
    Entry("RegCB", "learners.optimistic.regcb", "learner", "learner/regcb"),
    Entry("EpochGreedy", "learners.baselines.epoch_greedy", "learner", "learner/epoch-greedy"),
    Entry("ExploreFirst", "learners.baselines.explore_first", "learner", "learner/explore-first"),
    Entry("EpsilonGreedy", "learners.baselines.epsilon_greedy", "learner", "learner/epsilon-greedy"),
    Entry("Softmax", "learners.baselines.softmax", "learner", "learner/softmax"),
    Entry("Greedy", "learners.baselines.greedy", "learner", "learner/greedy"),
    Entry("Uniform", "learners.baselines.uniform", "learner", "learner/uniform"),
    Entry("Limited", "learners.limited", "learner", "learner/limited"),
    Entry("Linear", "oracles.linear.linear", "model_class", "model-class/linear"),
    Entry("Regressor", "oracles.regressors.regressor", "model_class", "model-class/regressor"),
    Entry("StumpHull", "oracles.stump_hull.regressor", "regressor"),
    Entry("Identity", "oracles.features.bases", "basis", "basis/identity"),
    Entry("Polynomial", "oracles.features.bases", "basis", "basis/polynomial"),
    Entry("Splines", "oracles.features.smooth", "basis", "basis/splines"),
    Entry("RandomFourier", "oracles.features.smooth", "basis", "basis/random-fourier"),
    Entry("Doubling", "core.schedules", "schedule", "schedule/doubling"),
    Entry("Geometric", "core.schedules", "schedule", "schedule/geometric"),
    Entry("FixedBatch", "core.schedules", "schedule", "schedule/fixed-batch"),
    Entry("KnownHorizon", "core.schedules", "schedule", "schedule/known-horizon"),
    Entry("Experiment", "experiment.experiment", "experiment"),
    Entry("ExperimentStatus", "experiment.results", "experiment_part"),
    Entry("ExperimentResult", "experiment.results", "experiment_part"),
    Entry("Comparison", "experiment.results", "experiment_part"),
    Entry("FinalPolicy", "experiment.final_policy", "experiment_part", "experiment/final-policy"),
    Entry("simulate", "simulation.simulate", "simulation"),
    Entry("Trace", "simulation.trace", "simulation"),
    Entry("evaluate_learner", "simulation.learner_evaluation", "simulation_part"),
    Entry("LearnerValue", "simulation.learner_value", "simulation_part"),
    Entry("Summary", "simulation.trace", "simulation_part"),
    Entry("simulate_experiment", "simulation.experiments", "simulation_part"),
    Entry("SimulatedExperiments", "simulation.experiments", "simulation_part"),
    Entry("Grid", "sweeps.grid", "simulation"),
    Entry("run_sweep", "sweeps.run", "simulation"),
    Entry("misspecification_estimate", "estimates.misspecification.estimate", "estimate"),
    Entry("Learner", "learners.protocol", "protocol"),
    Entry("Policy", "core.policies.kernel_policy", "protocol"),
    Entry("Epoch", "core.epochs", "protocol", "epoch"),
    Entry("FitReport", "core.fit_report", "protocol", "fit-report"),
    Entry("StepExample", "environments.paper", "environment"),
    Entry("SensitivityExample", "environments.paper", "environment"),
    Entry("LinearEnvironment", "environments.synthetic.families", "environment"),
    Entry("SinusoidEnvironment", "environments.synthetic.families", "environment"),
    Entry("XorEnvironment", "environments.synthetic.families", "environment"),
    Entry("BumpEnvironment", "environments.synthetic.families", "environment"),
    Entry("RareRewardEnvironment", "environments.synthetic.outcomes", "environment"),
    Entry("HeteroscedasticEnvironment", "environments.synthetic.outcomes", "environment"),
    Entry("ActionFeatureEnvironment", "environments.synthetic.action_features", "environment"),
    Entry("EligibilityEnvironment", "environments.synthetic.action_features", "environment"),
    Entry("Delayed", "environments.delayed", "environment"),
    Entry("Switching", "environments.wrappers", "environment"),
    Entry("Drifting", "environments.wrappers", "environment"),
    Entry("Classification", "environments.data.classification", "environment_data"),
    Entry("LoggedReplay", "environments.data.logged_replay", "environment_data"),
    Entry("dataset", "environments.data.named", "environment_data"),
    Entry("dataset_names", "environments.data.named", "environment_data"),
    Entry("Population", "environments.population.population", "population"),
    Entry("PopulationMisspecification", "environments.population.best_in_class", "population"),
    Entry("best_in_class", "environments.population.best_in_class", "population"),
    Entry("greedy_policy", "environments.population.population", "population"),
    Entry("misspecification", "environments.population.best_in_class", "population"),
    Entry("Environment", "environments.protocol", "environment_part"),
    Entry("PotentialOutcomes", "environments.protocol", "environment_part"),
    Entry("BLOCK", "environments.protocol", "environment_part"),
    Entry("block_generator", "environments.protocol", "environment_part"),
    Entry("blocks", "environments.protocol", "environment_part"),
    Entry("drawn", "environments.protocol", "environment_part"),
    Entry("inverse_gap_weighting", "core.policies.kernels", "kernel"),
    Entry("log_barrier_weighting", "core.policies.kernels", "kernel"),
    Entry("epsilon_greedy", "core.policies.kernels", "kernel"),
    Entry("softmax", "core.policies.kernels", "kernel"),
    Entry("uniform", "core.policies.kernels", "kernel"),
    Entry("mixture", "core.policies.kernels", "kernel"),
    Entry("Kernel", "core.policies.kernels", "kernel"),
    Entry("InverseGapWeighting", "core.policies.kernels", "kernel", "kernel/inverse-gap-weighting"),
    Entry("LogBarrierWeighting", "core.policies.kernels", "kernel", "kernel/log-barrier-weighting"),
    Entry("EpsilonGreedyKernel", "core.policies.kernels", "kernel", "kernel/epsilon-greedy"),
    Entry("SoftmaxKernel", "core.policies.kernels", "kernel", "kernel/softmax"),
    Entry("proportional_response", "core.policies.proportional_response", "kernel"),
    Entry(
        "ProportionalResponse",
        "core.policies.proportional_response",
        "kernel",
        "kernel/proportional-response",
    ),
    Entry("KernelPolicy", "core.policies.kernel_policy", "learner_part", "policy/kernel"),
    Entry("UniformPolicy", "core.policies.kernel_policy", "learner_part", "policy/uniform"),
    Entry("PassiveDesign", "core.epochs", "learner_part", "passive-design"),
    Entry("Decisions", "core.records", "learner_part", "decisions"),
    Entry("decide", "core.epochs", "learner_part"),
    Entry("ConstrainedFit", "oracles.solvers.constrained", "solver"),
    Entry("DualFit", "oracles.solvers.dual_search", "solver"),
    Entry("Moments", "oracles.solvers.moments", "solver", "moments"),
    Entry("constrained_least_squares", "oracles.solvers.constrained", "solver"),
    Entry("constrained_fit", "oracles.solvers.constrained", "solver"),
    Entry("dual_search", "oracles.solvers.dual_search", "solver"),
    Entry("epsilon_choice", "estimates.misspecification.passive_share", "estimate_part"),
    Entry("EpsilonChoice", "estimates.misspecification.passive_share", "estimate_part"),
    Entry("MisspecificationEstimate", "estimates.misspecification.result", "estimate_part"),
    Entry("NotEstimableError", "estimates.misspecification.result", "estimate_part"),
    Entry("specification_test", "estimates.misspecification.specification_tests", "estimate_part"),
    Entry("SpecificationTest", "estimates.misspecification.specification_result", "estimate_part"),
    Entry("SpecificationTests", "estimates.misspecification.specification_result", "estimate_part"),
    Entry("DecisionTable", "core.decision_table", "log"),
    Entry("read_log", "logs.opening", "log"),
    Entry("stored_policy", "logs.stored_policies", "log"),
    Entry("LogReader", "logs.log_reader", "log"),
    Entry("LogWriter", "logs.log_writer", "log"),
    Entry("write_log", "logs.opening", "log"),
    Entry("table_from_frame", "logs.formats.frames", "log"),
    Entry("ColumnMapping", "logs.formats.mapping", "log"),
    Entry("table_from_obp", "logs.formats.obp_feedback", "log"),
    Entry("obp_feedback", "logs.formats.obp_feedback", "log"),
    Entry("open_bandit_data", "logs.formats.open_bandit", "log"),
    Entry("write_set_aside", "logs.set_aside", "log"),
    Entry("stored_policy", "logs.policies", "log"),
    Entry("stored_policies", "logs.policies", "log"),
    Entry("Estimate", "evaluation.estimate", "evaluation"),
    Entry("contrast", "evaluation.estimate", "evaluation"),
    Entry("inverse_propensity", "evaluation.importance_weighted", "evaluation"),
    Entry("clipped_inverse_propensity", "evaluation.importance_weighted", "evaluation"),
    Entry("self_normalised_inverse_propensity", "evaluation.importance_weighted", "evaluation"),
    Entry("sub_gaussian_inverse_propensity", "evaluation.importance_weighted", "evaluation"),
    Entry("direct_method", "evaluation.model_assisted", "evaluation"),
    Entry("doubly_robust", "evaluation.model_assisted", "evaluation"),
    Entry("self_normalised_doubly_robust", "evaluation.model_assisted", "evaluation"),
    Entry("switch_doubly_robust", "evaluation.model_assisted", "evaluation"),
    Entry("shrunk_doubly_robust", "evaluation.model_assisted", "evaluation"),
    Entry("sub_gaussian_doubly_robust", "evaluation.model_assisted", "evaluation"),
    Entry("estimated_propensities", "evaluation.propensity_estimates", "evaluation"),
    Entry("PropensityEstimate", "evaluation.propensity_estimates", "evaluation"),
    Entry("propensity_calibration", "evaluation.calibration", "evaluation"),
    Entry("PropensityCalibration", "evaluation.calibration", "evaluation"),
    Entry("CalibrationGroup", "evaluation.calibration", "evaluation"),
    Entry("predictions_by_time", "evaluation.predictions", "evaluation"),
    Entry("evaluate", "evaluation.policy_evaluation", "evaluation"),
    Entry("Evaluation", "evaluation.evaluation", "evaluation"),
    Entry("PolicyValue", "evaluation.evaluation", "evaluation"),
    Entry("Verdict", "evaluation.verdict", "evaluation"),
    Entry("Reason", "evaluation.verdict", "evaluation"),
    Entry("WeightDiagnostics", "evaluation.diagnostics", "evaluation"),
    Entry("TargetPolicy", "evaluation.targets", "evaluation"),
    Entry("target_policy", "evaluation.target_policies", "evaluation"),
    Entry("always", "evaluation.target_policies", "evaluation"),
    Entry("uniform_play", "evaluation.target_policies", "evaluation"),
    Entry("logged_play", "evaluation.target_policies", "evaluation"),
    Entry("by_row", "evaluation.target_policies", "evaluation"),
    Entry("of_policy", "evaluation.target_policies", "evaluation"),
    Entry("check_log", "evaluation.checks.check", "log_check"),
    Entry("LogCheck", "evaluation.checks.report", "log_check"),
    Entry("LogFinding", "evaluation.checks.finding", "log_check"),
    Entry("estimate_in_batches", "evaluation.streaming", "evaluation"),
    Entry("switch", "evaluation.switching", "evaluation"),
    Entry("select_max_weight", "evaluation.tuning", "evaluation"),
    Entry("select_shrinkage", "evaluation.tuning", "evaluation"),
    Entry("marginalised_inverse_propensity", "evaluation.marginalised", "evaluation"),
    Entry("embedding_likelihoods", "evaluation.embeddings", "evaluation"),
    Entry("counted_embeddings", "evaluation.embeddings", "evaluation"),
    Entry("logistic_embedding_likelihoods", "evaluation.embeddings", "evaluation"),
    Entry("diagnose", "evaluation.diagnosis.diagnosis", "diagnosis"),
    Entry("Diagnosis", "evaluation.diagnosis.result", "diagnosis"),
    Entry("ActionMisfit", "evaluation.diagnosis.profiles", "diagnosis"),
    Entry("FeatureProfile", "evaluation.diagnosis.profiles", "diagnosis"),
    Entry("PairProfile", "evaluation.diagnosis.profiles", "diagnosis"),
    Entry("Region", "evaluation.diagnosis.profiles", "diagnosis"),
    Entry("EpochRisk", "evaluation.diagnosis.risk_by_epoch", "diagnosis"),
    Entry("RewardCost", "evaluation.diagnosis.reward_cost", "diagnosis"),
    Entry("PolicyValue", "evaluation.diagnosis.reward_cost", "diagnosis"),
    Entry("SetAside", "evaluation.diagnosis.usable_rows", "diagnosis"),
    Entry("Keyed", "sweeps.content_key", "sweep_part"),
    Entry("Sweep", "sweeps.run", "sweep_part"),
    Entry("SweepError", "sweeps.errors", "sweep_part"),
    *(Entry(name, home, "stored", class_id) for name, home, class_id in STORED_CLASSES),
)
DOORS = tuple(dict.fromkeys(kind.door for kind in KINDS.values() if kind.door is not None))
MODULES = tuple(sorted({*(door.partition(".")[2] for door in DOORS if "." in door), "theory"}))
"""Public modules that `gyrfalcon` has as attributes."""

_BY_ID = {entry.id: entry for entry in ENTRIES if entry.id is not None}
_BY_CLASS = {(f"gyrfalcon.{entry.home}", entry.name): entry for entry in ENTRIES}


def entries_of(*kinds: str) -> tuple[Entry, ...]:
    """The entries of some kinds, in the order of the table."""
    return tuple(entry for entry in ENTRIES if entry.kind in kinds)


def public_entries(door: str) -> tuple[Entry, ...]:
    """The entries that a public module offers, in the order of the table.

    >>> [entry.name for entry in public_entries("gyrfalcon.sweeps")]
    ['Keyed', 'Sweep', 'SweepError']
    """
    return tuple(entry for entry in ENTRIES if KINDS[entry.kind].door == door)


def entry_of(cls: type) -> Entry | None:
    """The entry of a class; None if it has none, also where only its module and name have one."""
    entry = _BY_CLASS.get((cls.__module__, cls.__qualname__))
    return entry if entry is not None and entry.load() is cls else None


def entry_by_id(class_id: str) -> Entry | None:
    """The entry that files know by this id."""
    return _BY_ID.get(class_id)
