# Written by `make stubs` from gyrfalcon/public_names.py: change that, and run it.
from gyrfalcon.environments.data.classification import Classification as Classification
from gyrfalcon.environments.data.logged_replay import LoggedReplay as LoggedReplay
from gyrfalcon.environments.data.named import dataset as dataset
from gyrfalcon.environments.data.named import dataset_names as dataset_names
from gyrfalcon.environments.delayed import Delayed as Delayed
from gyrfalcon.environments.paper import SensitivityExample as SensitivityExample
from gyrfalcon.environments.paper import StepExample as StepExample
from gyrfalcon.environments.population.best_in_class import (
    PopulationMisspecification as PopulationMisspecification,
)
from gyrfalcon.environments.population.best_in_class import best_in_class as best_in_class
from gyrfalcon.environments.population.best_in_class import misspecification as misspecification
from gyrfalcon.environments.population.population import Population as Population
from gyrfalcon.environments.population.population import greedy_policy as greedy_policy
from gyrfalcon.environments.protocol import BLOCK as BLOCK
from gyrfalcon.environments.protocol import Environment as Environment
from gyrfalcon.environments.protocol import PotentialOutcomes as PotentialOutcomes
from gyrfalcon.environments.protocol import block_generator as block_generator
from gyrfalcon.environments.protocol import blocks as blocks
from gyrfalcon.environments.protocol import drawn as drawn
from gyrfalcon.environments.synthetic.action_features import (
    ActionFeatureEnvironment as ActionFeatureEnvironment,
)
from gyrfalcon.environments.synthetic.action_features import EligibilityEnvironment as EligibilityEnvironment
from gyrfalcon.environments.synthetic.families import BumpEnvironment as BumpEnvironment
from gyrfalcon.environments.synthetic.families import LinearEnvironment as LinearEnvironment
from gyrfalcon.environments.synthetic.families import SinusoidEnvironment as SinusoidEnvironment
from gyrfalcon.environments.synthetic.families import XorEnvironment as XorEnvironment
from gyrfalcon.environments.synthetic.outcomes import HeteroscedasticEnvironment as HeteroscedasticEnvironment
from gyrfalcon.environments.synthetic.outcomes import RareRewardEnvironment as RareRewardEnvironment
from gyrfalcon.environments.wrappers import Drifting as Drifting
from gyrfalcon.environments.wrappers import Switching as Switching

__all__: list[str]
