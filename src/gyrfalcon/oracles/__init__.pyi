# Written by `make stubs` from gyrfalcon/registry.py: change that, and run it.
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit as ConstrainedFit
from gyrfalcon.oracles.solvers.constrained import constrained_fit as constrained_fit
from gyrfalcon.oracles.solvers.dual_search import DualFit as DualFit
from gyrfalcon.oracles.solvers.dual_search import dual_search as dual_search
from gyrfalcon.oracles.solvers.moments import Moments as Moments

__all__: list[str]
