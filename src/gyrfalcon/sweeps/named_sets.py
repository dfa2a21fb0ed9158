"""A classification set by its name, as an environment that is read where it is played in."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import lru_cache

from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.environments.data.classification import Classification, Order
from gyrfalcon.environments.data.named import dataset
from gyrfalcon.environments.protocol import PotentialOutcomes


@dataclass(frozen=True, repr=False)
class NamedSet:
    """The data set of a name: only the name and a digest of the rows travel to other processes.

    `content` is that digest. It is found when left out; when given, as it is to the workers of a sweep, other
    data under the same name are refused. The other settings are those of `Classification`.

    >>> NamedSet("iris").problem.n_actions
    3
    """

    data_set: str
    _: KW_ONLY
    standardise: bool = True
    clip: float | None = 4.0
    order: Order = "passes"
    flip: float = 0.0
    content: str | None = None

    def __post_init__(self) -> None:
        found = self._read().content
        if self.content is None:
            object.__setattr__(self, "content", found)
        self._check(found)

    def __repr__(self) -> str:
        return changed_settings_repr(self)

    @property
    def data(self) -> Classification:
        """The rows; ValueError if they are not those that the settings were made with."""
        data = self._read()
        self._check(data.content)
        return data

    @property
    def problem(self) -> Problem:
        """Classes as actions, columns as features, rewards 0 and 1."""
        return self.data.problem

    def draw(self, start: int, stop: int, seed: int) -> PotentialOutcomes:
        """Contexts and rewards of rounds start..stop-1."""
        return self.data.draw(start, stop, seed)

    def _read(self) -> Classification:
        return _read(self.data_set, self.standardise, self.clip, self.order, self.flip)

    def _check(self, found: str) -> None:
        if self.content != found:
            raise ValueError(
                f"the data set {self.data_set!r} that is installed here has the content {found}, not "
                f"{self.content}; install the same version of it everywhere, or leave out content."
            )


@lru_cache(maxsize=16)
def _read(name: str, standardise: bool, clip: float | None, order: Order, flip: float) -> Classification:
    return dataset(name, standardise=standardise, clip=clip, order=order, flip=flip)
