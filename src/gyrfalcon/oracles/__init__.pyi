# Written by `make stubs` from gyrfalcon/public_names.py: change that, and run it.
from gyrfalcon.oracles.features.bases import Identity as Identity
from gyrfalcon.oracles.features.bases import Polynomial as Polynomial
from gyrfalcon.oracles.features.smooth import RandomFourier as RandomFourier
from gyrfalcon.oracles.features.smooth import Splines as Splines
from gyrfalcon.oracles.solvers.constrained import ConstrainedFit as ConstrainedFit
from gyrfalcon.oracles.solvers.constrained import constrained_fit as constrained_fit
from gyrfalcon.oracles.solvers.constrained import constrained_least_squares as constrained_least_squares
from gyrfalcon.oracles.solvers.dual_search import DualFit as DualFit
from gyrfalcon.oracles.solvers.dual_search import dual_search as dual_search
from gyrfalcon.oracles.solvers.moments import Moments as Moments
from gyrfalcon.oracles.stump_hull.regressor import StumpHull as StumpHull

__all__: list[str]
