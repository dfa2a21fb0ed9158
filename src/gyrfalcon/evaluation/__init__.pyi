# Written by `make stubs` from gyrfalcon/registry.py: change that, and run it.
from gyrfalcon.evaluation.diagnosis.diagnosis import diagnose as diagnose
from gyrfalcon.evaluation.diagnosis.profiles import ActionMisfit as ActionMisfit
from gyrfalcon.evaluation.diagnosis.profiles import FeatureProfile as FeatureProfile
from gyrfalcon.evaluation.diagnosis.profiles import PairProfile as PairProfile
from gyrfalcon.evaluation.diagnosis.profiles import Region as Region
from gyrfalcon.evaluation.diagnosis.result import Diagnosis as Diagnosis
from gyrfalcon.evaluation.diagnosis.reward_cost import PolicyValue as PolicyValue
from gyrfalcon.evaluation.diagnosis.reward_cost import RewardCost as RewardCost
from gyrfalcon.evaluation.diagnosis.risk_by_epoch import EpochRisk as EpochRisk
from gyrfalcon.evaluation.diagnosis.usable_rows import SetAside as SetAside
from gyrfalcon.evaluation.estimate import Estimate as Estimate
from gyrfalcon.evaluation.estimate import contrast as contrast
from gyrfalcon.evaluation.importance_weighted import clipped_inverse_propensity as clipped_inverse_propensity
from gyrfalcon.evaluation.importance_weighted import inverse_propensity as inverse_propensity
from gyrfalcon.evaluation.importance_weighted import (
    self_normalised_inverse_propensity as self_normalised_inverse_propensity,
)
from gyrfalcon.evaluation.importance_weighted import (
    sub_gaussian_inverse_propensity as sub_gaussian_inverse_propensity,
)
from gyrfalcon.evaluation.model_assisted import direct_method as direct_method
from gyrfalcon.evaluation.model_assisted import doubly_robust as doubly_robust
from gyrfalcon.evaluation.model_assisted import self_normalised_doubly_robust as self_normalised_doubly_robust
from gyrfalcon.evaluation.model_assisted import shrunk_doubly_robust as shrunk_doubly_robust
from gyrfalcon.evaluation.model_assisted import sub_gaussian_doubly_robust as sub_gaussian_doubly_robust
from gyrfalcon.evaluation.model_assisted import switch_doubly_robust as switch_doubly_robust
from gyrfalcon.evaluation.predictions import predictions_by_time as predictions_by_time

__all__: list[str]
