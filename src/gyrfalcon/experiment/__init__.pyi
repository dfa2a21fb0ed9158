# Written by `make stubs` from gyrfalcon/public_names.py: change that, and run it.
from gyrfalcon.experiment.final_policy import FinalPolicy as FinalPolicy
from gyrfalcon.experiment.results import Comparison as Comparison
from gyrfalcon.experiment.results import ExperimentResult as ExperimentResult
from gyrfalcon.experiment.results import ExperimentStatus as ExperimentStatus

__all__: list[str]
