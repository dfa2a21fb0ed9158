# Written by `make stubs` from gyrfalcon/public_names.py: change that, and run it.
from gyrfalcon.estimates.misspecification.passive_share import EpsilonChoice as EpsilonChoice
from gyrfalcon.estimates.misspecification.passive_share import epsilon_choice as epsilon_choice
from gyrfalcon.estimates.misspecification.result import MisspecificationEstimate as MisspecificationEstimate
from gyrfalcon.estimates.misspecification.result import NotEstimableError as NotEstimableError
from gyrfalcon.estimates.misspecification.specification_result import SpecificationTest as SpecificationTest
from gyrfalcon.estimates.misspecification.specification_result import SpecificationTests as SpecificationTests
from gyrfalcon.estimates.misspecification.specification_tests import specification_test as specification_test

__all__: list[str]
