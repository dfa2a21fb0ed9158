# Written by `make stubs` from gyrfalcon/public_names.py: change that, and run it.
from gyrfalcon.core.epochs import PassiveDesign as PassiveDesign
from gyrfalcon.core.epochs import decide as decide
from gyrfalcon.core.policies.kernel_policy import KernelPolicy as KernelPolicy
from gyrfalcon.core.policies.kernel_policy import UniformPolicy as UniformPolicy
from gyrfalcon.core.records import Decisions as Decisions

__all__: list[str]
