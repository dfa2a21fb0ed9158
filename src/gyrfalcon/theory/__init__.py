"""The paper's theory as code: constants, rates and bounds; each function names the equation it computes."""

from gyrfalcon.theory.bounds import RegretBound, kappa, regret_bound
from gyrfalcon.theory.checks import DELTA_MAX, Variant
from gyrfalcon.theory.classes import Rates, Settings, entropy, linear, vc_hull, vc_subgraph
from gyrfalcon.theory.constants import (
    C_LINEAR,
    C_LINEAR_EPOCHS,
    LINEAR_CONSTANTS,
    A,
    Constants,
    c_1,
    c_3,
    c_5,
    c_linear,
    constants,
)
from gyrfalcon.theory.epoch_sums import epochwise_regret_bound
from gyrfalcon.theory.examples import example_1, example_2, example_3
from gyrfalcon.theory.lemmas import (
    active_error_bound,
    best_policy_divergence_bound,
    divergence_bound,
    epoch_regret_bound,
    passive_error_bound,
    policy_regret_bound,
    reward_error_bound,
)
from gyrfalcon.theory.misspecification import (
    best_model_regret_bound,
    misspecification_scale,
    worst_misspecification,
)
from gyrfalcon.theory.rates import Form, gamma, log_confidence, slack, unit_gamma, unit_slack
from gyrfalcon.theory.regret_rates import RegretRate, TunedRate, regret_rate, tuned_rate
from gyrfalcon.theory.tuning import EPSILON_MAX, cost_of_epsilon, optimal_cost, optimal_epsilon

__all__ = [
    "C_LINEAR",
    "C_LINEAR_EPOCHS",
    "DELTA_MAX",
    "EPSILON_MAX",
    "LINEAR_CONSTANTS",
    "A",
    "Constants",
    "Form",
    "Rates",
    "RegretBound",
    "RegretRate",
    "Settings",
    "TunedRate",
    "Variant",
    "active_error_bound",
    "best_model_regret_bound",
    "best_policy_divergence_bound",
    "c_1",
    "c_3",
    "c_5",
    "c_linear",
    "constants",
    "cost_of_epsilon",
    "divergence_bound",
    "entropy",
    "epoch_regret_bound",
    "epochwise_regret_bound",
    "example_1",
    "example_2",
    "example_3",
    "gamma",
    "kappa",
    "linear",
    "log_confidence",
    "misspecification_scale",
    "optimal_cost",
    "optimal_epsilon",
    "passive_error_bound",
    "policy_regret_bound",
    "regret_bound",
    "regret_rate",
    "reward_error_bound",
    "slack",
    "tuned_rate",
    "unit_gamma",
    "unit_slack",
    "vc_hull",
    "vc_subgraph",
    "worst_misspecification",
]
