"""The paper's theory as code: constants, rates and bounds; each function names the equation it computes."""

from gyrfalcon.theory.constants import C_LINEAR, c_1, c_3, c_5
from gyrfalcon.theory.rates import log_confidence, unit_gamma, unit_slack

__all__ = ["C_LINEAR", "c_1", "c_3", "c_5", "log_confidence", "unit_gamma", "unit_slack"]
