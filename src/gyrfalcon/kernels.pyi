# Written by `make stubs` from gyrfalcon/public_names.py: change that, and run it.
from gyrfalcon.core.policies.kernels import EpsilonGreedyKernel as EpsilonGreedyKernel
from gyrfalcon.core.policies.kernels import InverseGapWeighting as InverseGapWeighting
from gyrfalcon.core.policies.kernels import Kernel as Kernel
from gyrfalcon.core.policies.kernels import LogBarrierWeighting as LogBarrierWeighting
from gyrfalcon.core.policies.kernels import SoftmaxKernel as SoftmaxKernel
from gyrfalcon.core.policies.kernels import epsilon_greedy as epsilon_greedy
from gyrfalcon.core.policies.kernels import inverse_gap_weighting as inverse_gap_weighting
from gyrfalcon.core.policies.kernels import log_barrier_weighting as log_barrier_weighting
from gyrfalcon.core.policies.kernels import mixture as mixture
from gyrfalcon.core.policies.kernels import softmax as softmax
from gyrfalcon.core.policies.kernels import uniform as uniform
from gyrfalcon.core.policies.proportional_response import ProportionalResponse as ProportionalResponse
from gyrfalcon.core.policies.proportional_response import proportional_response as proportional_response

__all__: list[str]
