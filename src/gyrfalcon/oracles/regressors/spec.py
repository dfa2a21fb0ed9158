"""Regressors as values: the name of their class and their parameters, never an object that must be pickled.

Anything with `fit(X, y, sample_weight)`, `predict(X)` and `get_params()` will do, scikit-learn's way. A name
becomes a class again only if it is one of scikit-learn's or our own, or if the running program has imported
its module already: a file can't make a program import anything else.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrfalcon.registry import entries_of, entry_of

_OURS = {f"gyrfalcon.{entry.name}": entry for entry in entries_of("regressor")}
"""Our own regressors by their names in files, which never change, whatever module offers them."""

_CONVEX = {
    "sklearn.linear_model.ElasticNet",
    "sklearn.linear_model.Lasso",
    "sklearn.linear_model.LinearRegression",
    "sklearn.linear_model.Ridge",
    "sklearn.kernel_ridge.KernelRidge",
    "sklearn.isotonic.IsotonicRegression",
    "gyrfalcon.StumpHull",
}
_KERNELS = ("linear", "poly", "polynomial", "rbf", "laplacian", "cosine")
"""Kernels that are always positive definite, so that kernel ridge is a convex problem."""
_FORCED = {"n_jobs": None, "copy_X": True}
"""Threads add up in any order, and fits in place would spoil the rows of the next one."""
_REFUSED = {"memory": "a cache on disk, which is read with pickle"}


@dataclass(frozen=True, slots=True, repr=False)
class Estimator:
    """A regressor that is not fitted yet: the name of its class and what differs from the defaults.

    >>> Estimator("sklearn.linear_model.Ridge", (("alpha", 2.0),))
    sklearn.linear_model.Ridge(alpha=2.0)
    """

    name: str
    params: tuple[tuple[str, Any], ...] = ()

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in self.params)})"

    @property
    def is_convex(self) -> bool:
        """Whether it is known to minimise squared error over a convex class."""
        params = dict(self.params)
        kernel, direction = params.get("kernel", "linear"), params.get("increasing", True)
        return self.name in _CONVEX and kernel in _KERNELS and direction != "auto"

    @property
    def is_linear(self) -> bool:
        """Whether it is a linear model of scikit-learn's, with a degree of freedom for each coefficient."""
        return self.name.startswith("sklearn.linear_model.") or self.name == "sklearn.svm.LinearSVR"

    @property
    def library(self) -> str:
        """The package that the class comes from, with its version."""
        root = self.name.split(".", maxsplit=1)[0]
        version = getattr(sys.modules.get(root), "__version__", None)
        return root if version is None else f"{root} {version}"

    def has(self, parameter: str) -> bool:
        """Whether the constructor takes this parameter."""
        return parameter in inspect.signature(class_named(self.name)).parameters

    def built(self, seed: int | None = None, **changes: object) -> Any:
        """A new regressor; `seed` becomes its random_state where that is not set."""
        for key, value in self.params:
            if key in _REFUSED:
                raise ValueError(f"{self.name} has {key}={value!r}, {_REFUSED[key]}; leave it out.")
        params = {key: _FORCED.get(key, _built(value, seed)) for key, value in self.params} | changes
        if seed is not None and params.get("random_state") is None and self.has("random_state"):
            params["random_state"] = seed
        return class_named(self.name)(**params)


def estimator_of(regressor: object) -> Estimator:
    """The name and parameters of a regressor; ValueError if it can't be used or stored.

    >>> from sklearn.linear_model import Ridge
    >>> estimator_of(Ridge(alpha=0.5))
    sklearn.linear_model.Ridge(alpha=0.5)
    """
    if isinstance(regressor, Estimator):
        class_named(regressor.name)
        return regressor
    if isinstance(regressor, type) or not all(hasattr(regressor, method) for method in ("fit", "predict")):
        raise ValueError(
            f"the regressor is {regressor!r}; give an object with fit and predict, such as Ridge(alpha=1.0)."
        )
    return _described(regressor)


def class_named(name: str) -> type[Any]:
    """The class of this name; ValueError unless a file may ask for it."""
    ours = _OURS.get(name)
    if ours is not None:
        own: type[Any] = ours.load()
        return own
    module_name, _, class_name = name.rpartition(".")
    module = sys.modules.get(module_name)
    if module is None and _may_be_imported(module_name):
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            raise ValueError(
                f"{name} needs {error.name}, which is not installed; install it first."
            ) from error
    cls = getattr(module, class_name, None)
    if not isinstance(cls, type) or not all(hasattr(cls, one) for one in ("fit", "predict", "get_params")):
        raise ValueError(
            f"{name} is not a regressor of scikit-learn or of a module that is imported; import its module "
            "first, or check the name."
        )
    _check_regressor(cls)
    return cls


def _may_be_imported(module_name: str) -> bool:
    """Whether a name alone is reason enough: that of a public part of scikit-learn."""
    root, _, part = module_name.partition(".")
    is_public = (
        part.isidentifier() and not part.startswith("_") and part not in ("conftest", "tests", "externals")
    )
    return root == "sklearn" and is_public


def _check_regressor(cls: Any) -> None:
    """Refuse a class that predicts labels, or that takes no weights."""
    if "sample_weight" not in inspect.signature(cls.fit).parameters:
        raise ValueError(
            f"{cls.__name__}.fit takes no sample_weight, by which the constraint enters the regression; "
            "choose a regressor that does, such as Ridge, KernelRidge or HistGradientBoostingRegressor."
        )
    if any(hasattr(cls, method) for method in ("predict_proba", "decision_function", "fit_predict")):
        raise ValueError(
            f"{cls.__name__} predicts classes or clusters, not rewards; give the regressor of its kind."
        )


def _described(regressor: Any) -> Estimator:
    cls = type(regressor)
    if not hasattr(cls, "get_params"):
        raise ValueError(
            f"{cls.__name__} has no get_params, by which it is stored; derive it from "
            "sklearn.base.BaseEstimator."
        )
    _check_regressor(cls)
    name = _public_name(cls)
    if "." in cls.__qualname__ or class_named(name) is not cls:
        raise ValueError(f"{cls.__name__} can't be found again as {name}; define it at the top of a module.")
    params = _settled(cls, regressor.get_params(deep=False))
    return Estimator(name, tuple((key, _plain(cls, key, value)) for key, value in params.items()))


def _settled(cls: type, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters that differ from the defaults, sorted, those that could do harm put right."""
    if cls.__name__ == "IsotonicRegression":
        params = params | {"out_of_bounds": "clip"}  # a context beyond those seen must have a score
    params = {key: _FORCED.get(key, value) for key, value in params.items()}
    defaults = inspect.signature(cls).parameters
    return {key: value for key, value in sorted(params.items()) if not _is_default(value, defaults.get(key))}


def _is_default(value: object, parameter: inspect.Parameter | None) -> bool:
    return parameter is not None and type(value) is type(parameter.default) and value == parameter.default


def _public_name(cls: type) -> str:
    """Where a class is meant to be imported from: its first package that is not private, if that has it."""
    entry = entry_of(cls)
    if entry is not None and f"gyrfalcon.{entry.name}" in _OURS:
        return f"gyrfalcon.{entry.name}"
    parts = cls.__module__.split(".")
    for end in range(1, len(parts) + 1):
        package = sys.modules.get(".".join(parts[:end]))
        if getattr(package, cls.__qualname__, None) is cls:
            return ".".join([*parts[:end], cls.__qualname__])
    return f"{cls.__module__}.{cls.__qualname__}"


def _plain(cls: type, key: str, value: object) -> object:
    """A parameter as a value that can be stored and hashed."""
    if key in _REFUSED:
        raise ValueError(f"{cls.__name__} has {key}={value!r}, {_REFUSED[key]}; leave it out.")
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return tuple(_plain(cls, key, item) for item in value)
    if hasattr(type(value), "get_params"):
        return _described(value)
    raise ValueError(
        f"{cls.__name__} has {key}={value!r}, which can't be stored; give text, numbers, None, "
        "lists of these or regressors."
    )


def _built(value: object, seed: int | None) -> object:
    if isinstance(value, Estimator):
        return value.built(seed)
    return tuple(_built(item, seed) for item in value) if isinstance(value, tuple) else value
