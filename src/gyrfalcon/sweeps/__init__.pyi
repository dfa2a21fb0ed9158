# Written by `make stubs` from gyrfalcon/public_names.py: change that, and run it.
from gyrfalcon.sweeps.content_key import Keyed as Keyed
from gyrfalcon.sweeps.errors import SweepError as SweepError
from gyrfalcon.sweeps.run import Sweep as Sweep

__all__: list[str]
