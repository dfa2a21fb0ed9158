# Written by `make stubs` from gyrfalcon/public_names.py: change that, and run it.
from gyrfalcon.evaluation.checks.check import check_log as check_log
from gyrfalcon.evaluation.checks.finding import LogFinding as LogFinding
from gyrfalcon.evaluation.checks.report import LogCheck as LogCheck
from gyrfalcon.evaluation.diagnosis.diagnosis import diagnose as diagnose
from gyrfalcon.evaluation.diagnosis.profiles import ActionMisfit as ActionMisfit
from gyrfalcon.evaluation.diagnosis.profiles import FeatureProfile as FeatureProfile
from gyrfalcon.evaluation.diagnosis.profiles import PairProfile as PairProfile
from gyrfalcon.evaluation.diagnosis.profiles import Region as Region
from gyrfalcon.evaluation.diagnosis.result import Diagnosis as Diagnosis
from gyrfalcon.evaluation.diagnosis.reward_cost import ClassValue as ClassValue
from gyrfalcon.evaluation.diagnosis.reward_cost import RewardCost as RewardCost
from gyrfalcon.evaluation.diagnosis.risk_by_epoch import EpochRisk as EpochRisk
from gyrfalcon.evaluation.diagnosis.usable_rows import SetAside as SetAside
from gyrfalcon.evaluation.estimators.embeddings import counted_embeddings as counted_embeddings
from gyrfalcon.evaluation.estimators.embeddings import embedding_likelihoods as embedding_likelihoods
from gyrfalcon.evaluation.estimators.embeddings import (
    logistic_embedding_likelihoods as logistic_embedding_likelihoods,
)
from gyrfalcon.evaluation.estimators.estimate import Estimate as Estimate
from gyrfalcon.evaluation.estimators.estimate import contrast as contrast
from gyrfalcon.evaluation.estimators.importance_weighted import (
    clipped_inverse_propensity as clipped_inverse_propensity,
)
from gyrfalcon.evaluation.estimators.importance_weighted import inverse_propensity as inverse_propensity
from gyrfalcon.evaluation.estimators.importance_weighted import (
    self_normalised_inverse_propensity as self_normalised_inverse_propensity,
)
from gyrfalcon.evaluation.estimators.importance_weighted import (
    sub_gaussian_inverse_propensity as sub_gaussian_inverse_propensity,
)
from gyrfalcon.evaluation.estimators.marginalised import (
    marginalised_inverse_propensity as marginalised_inverse_propensity,
)
from gyrfalcon.evaluation.estimators.model_assisted import direct_method as direct_method
from gyrfalcon.evaluation.estimators.model_assisted import doubly_robust as doubly_robust
from gyrfalcon.evaluation.estimators.model_assisted import (
    self_normalised_doubly_robust as self_normalised_doubly_robust,
)
from gyrfalcon.evaluation.estimators.model_assisted import shrunk_doubly_robust as shrunk_doubly_robust
from gyrfalcon.evaluation.estimators.model_assisted import (
    sub_gaussian_doubly_robust as sub_gaussian_doubly_robust,
)
from gyrfalcon.evaluation.estimators.model_assisted import switch_doubly_robust as switch_doubly_robust
from gyrfalcon.evaluation.estimators.streaming import estimate_in_batches as estimate_in_batches
from gyrfalcon.evaluation.estimators.switching import switch as switch
from gyrfalcon.evaluation.estimators.tuning import select_max_weight as select_max_weight
from gyrfalcon.evaluation.estimators.tuning import select_shrinkage as select_shrinkage
from gyrfalcon.evaluation.evaluation import Evaluation as Evaluation
from gyrfalcon.evaluation.evaluation import PolicyValue as PolicyValue
from gyrfalcon.evaluation.policies.target_policies import always as always
from gyrfalcon.evaluation.policies.target_policies import by_row as by_row
from gyrfalcon.evaluation.policies.target_policies import logged_play as logged_play
from gyrfalcon.evaluation.policies.target_policies import of_policy as of_policy
from gyrfalcon.evaluation.policies.target_policies import target_policy as target_policy
from gyrfalcon.evaluation.policies.target_policies import uniform_play as uniform_play
from gyrfalcon.evaluation.policies.targets import TargetPolicy as TargetPolicy
from gyrfalcon.evaluation.policy_evaluation import evaluate as evaluate
from gyrfalcon.evaluation.predictions.by_time import predictions_by_time as predictions_by_time
from gyrfalcon.evaluation.propensities.calibration import CalibrationGroup as CalibrationGroup
from gyrfalcon.evaluation.propensities.calibration import PropensityCalibration as PropensityCalibration
from gyrfalcon.evaluation.propensities.calibration import propensity_calibration as propensity_calibration
from gyrfalcon.evaluation.propensities.estimates import PropensityEstimate as PropensityEstimate
from gyrfalcon.evaluation.propensities.estimates import estimated_propensities as estimated_propensities
from gyrfalcon.evaluation.verdict.diagnostics import WeightDiagnostics as WeightDiagnostics
from gyrfalcon.evaluation.verdict.verdict import Reason as Reason
from gyrfalcon.evaluation.verdict.verdict import Verdict as Verdict

__all__: list[str]
