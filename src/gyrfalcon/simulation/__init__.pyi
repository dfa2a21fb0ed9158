# Written by `make stubs` from gyrfalcon/public_names.py: change that, and run it.
from gyrfalcon.simulation.experiments import SimulatedExperiments as SimulatedExperiments
from gyrfalcon.simulation.experiments import simulate_experiment as simulate_experiment
from gyrfalcon.simulation.learner_evaluation import evaluate_learner as evaluate_learner
from gyrfalcon.simulation.learner_value import LearnerValue as LearnerValue
from gyrfalcon.simulation.trace import Summary as Summary

__all__: list[str]
