"""Any weighted regressor as a model class: the paper's Section D, where F needs a regression oracle only."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal

import numpy as np

from gyrfalcon.core.arrays import Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.core.records import Log
from gyrfalcon.core.validation import check_flag, check_whole
from gyrfalcon.oracles.features.bases import Basis, Identity
from gyrfalcon.oracles.features.design import Design
from gyrfalcon.oracles.linear.linear import Linear, LinearOracle
from gyrfalcon.oracles.linear.models import LinearModel, linear_model
from gyrfalcon.oracles.protocol import Noise, Slack
from gyrfalcon.oracles.regressors.fitted import FittedRegressor, RegressorModel, WeightedRows
from gyrfalcon.oracles.regressors.prediction import padded
from gyrfalcon.oracles.regressors.rows import Part, RowSummary
from gyrfalcon.oracles.regressors.spec import Estimator, estimator_of
from gyrfalcon.oracles.regressors.weighted import WeightedFit, WeightedRegression, linear_coefficients
from gyrfalcon.oracles.solvers.dual_search import DualFit, dual_search
from gyrfalcon.oracles.solvers.moments import checked_weights
from gyrfalcon.oracles.solvers.slack import noise_of_halves, noise_of_parameters

AnyModel = RegressorModel | LinearModel


@dataclass(frozen=True, slots=True)
class Regressor:
    """Reward models of a regressor in scikit-learn's manner.

    The regressor has `fit(X, y, sample_weight)` and `predict`. The constraint is met by a search over
    weighted regressions. The paper's guarantee needs a convex class whose squared error the regressor
    minimises: linear, kernel ridge, isotonic and `StumpHull` regressors are known to be; for others a fit
    report says that it does not apply, unless `convex=True` asserts it.

    Parameters
    ----------
    regressor : regressor
        The unfitted regressor; kept as the name of its class and its parameters. A random_state of None
        becomes `seed`.
    layout : {'per_action', 'shared'}, optional
        One regressor 'per_action' on [x, v], or one 'shared' by all, on [x, v, x v]; None means per action,
        or shared where actions have features v.
    basis : Basis, default Identity()
        Expansion of shared features.
    complexity : int, optional
        Complexity comp(F), from which gamma and slack are computed. None means, for gamma, as many as a
        linear class has; for a calibrated slack, the degrees of freedom that fits of half the passive rows
        use; both follow actions and rows to come, so that a file keeps None.
    convex : bool, optional
        Whether the class is convex; None means if it is known to be.
    seed : int, default 0
        The random_state of the regressor and of regressors within it, where it is not set.
    standardise : bool, default True
        Whether features are scaled by their spread in the first log; they are always centred by it.
    interactions : bool, default True
        Whether a shared regressor gets the products x v.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> Regressor(Ridge(alpha=0.5)).regressor
    sklearn.linear_model.Ridge(alpha=0.5)
    """

    regressor: Any
    _: KW_ONLY
    layout: Literal["per_action", "shared"] | None = None
    basis: Basis = Identity()
    complexity: int | None = None
    convex: bool | None = None
    seed: int = 0
    standardise: bool = True
    interactions: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "regressor", estimator_of(self.regressor))
        if self.layout not in (None, "per_action", "shared"):
            raise ValueError(f"layout is {self.layout!r}; choose 'per_action' or 'shared'.")
        if self.complexity is not None:
            check_whole("complexity", self.complexity)
        check_whole("seed", self.seed, least=0, below=2**32)
        check_flag("standardise", self.standardise)
        check_flag("interactions", self.interactions)
        if self.convex is not None:
            check_flag("convex", self.convex)
        if not hasattr(self.basis, "fit"):
            raise ValueError(f"basis is {self.basis!r}; give a basis such as Polynomial(degree=2).")

    def check(self, n_features: int, n_action_features: int) -> None:
        """Refuse a problem whose features the regressor can't take."""
        self._linear.check(n_features, n_action_features)
        if not self.regressor.name.endswith(".IsotonicRegression"):
            return
        n_columns = n_features + n_action_features
        if n_columns > 1 or not isinstance(self.basis, Identity):
            raise ValueError(
                f"IsotonicRegression takes one feature, and the problem has {n_columns} with the basis "
                f"{self.basis!r}; give it one as it is, or choose a regressor of several features."
            )

    def oracle(self, contexts: Contexts, n_actions: int) -> RegressorOracle:
        """The oracle for a problem, its basis, centring and scales fixed by these early contexts."""
        linear = self._linear.oracle(contexts, n_actions)
        columns = linear.design.cube(contexts)[:, :, 1:]
        spread = columns.std(axis=(0, 1)) if self.standardise else np.ones(columns.shape[2])
        # A column that is constant up to rounding keeps its scale: noise would become features of it.
        size = np.abs(columns + linear.design.offsets[1:]).max(axis=(0, 1), initial=0.0)
        scales = np.where(spread > 1e-12 * size, spread, 1.0)
        layout: Any = linear.settings.layout
        return RegressorOracle(replace(self, layout=layout, convex=self.is_convex), linear, scales)

    @property
    def is_convex(self) -> bool:
        """Whether the guarantee may be claimed."""
        return self.regressor.is_convex if self.convex is None else self.convex

    @property
    def _linear(self) -> Linear:
        return Linear(layout=self.layout, basis=self.basis, interactions=self.interactions)


@dataclass(frozen=True, slots=True)
class RegressorOracle:
    """Constrained regression through weighted regressions: log -> rows -> reward model."""

    settings: Regressor
    linear: LinearOracle
    """Lays out the features, and makes the model where the regressor's is linear."""
    scale: Floats  # (D,)

    @property
    def design(self) -> Design:
        """How the features are laid out; the first column, the intercept, is the regressor's own affair."""
        return self.linear.design

    @property
    def estimator(self) -> Estimator:
        """The regressor's class and parameters."""
        estimator: Estimator = self.settings.regressor
        return estimator

    @property
    def n_parameters(self) -> int:
        """comp(F), as set, or that of a linear class on the same features."""
        return self.settings.complexity or self.design.n_parameters

    def summarise(self, log: Log, weights: Floats | None = None) -> RowSummary:
        """The rows as the regressor will see them."""
        features, blocks = self.design.rows(log)
        for name, values in (("feature", features), ("reward", log.reward)):
            bad = values[~np.isfinite(values)]
            if len(bad):
                raise ValueError(f"the log holds a {name} of {bad[0]}; drop or fill such rows first.")
        block = np.zeros(len(log), dtype=np.int64) if blocks is None else blocks
        weight = np.ones(len(log)) if weights is None else checked_weights(weights, len(log))
        part = Part(padded(features[:, 1:] / self.scale), block, log.reward, weight)
        return RowSummary((part,) if len(log) else ())

    def empty(self) -> RowSummary:
        """Summary of no rows at all."""
        return RowSummary()

    def fit(
        self,
        active: RowSummary,
        passive: RowSummary,
        *,
        slack: Slack = math.inf,
        previous: AnyModel | None = None,
    ) -> tuple[AnyModel, FitReport]:
        """The constrained fit; an action without any rows keeps its `previous` regressor."""
        regression = self._regression(active, passive)
        if callable(slack):
            slack = slack(regression.solve(math.inf).passive_risk) if passive.n > 0.0 else math.inf
        guess = previous.multiplier if isinstance(previous, RegressorModel) else None
        found = self._search(regression, slack, guess)
        if regression.is_warm and found.n_regressions > 1:
            found = self._cold(active, passive, found)
        return self._model(active, passive, found, previous), self._report(active, passive, found)

    def passive_risk(self, passive: RowSummary) -> float:
        """alpha: the mean squared error of the fit of these rows."""
        return self._regression(self.empty(), passive).solve(math.inf).passive_risk

    def noise(self, alpha: float, active: RowSummary, passive: RowSummary) -> Noise:
        """sigma^2 and degrees of freedom: as set or known, else from how half the rows predict the others.

        A tree can fit its rows without error; only rows that it has not seen measure the noise.
        """
        known = noise_of_parameters(alpha, self.n_parameters, active, passive)
        if self.estimator.is_linear:
            return known
        exchanged = self._regression(*passive.halves()).exchanged_risk()
        if not exchanged > 1e-10 * passive.reward_variance:
            return replace(known, variance=(active + passive).reward_variance)
        found = noise_of_halves(passive.n, alpha, exchanged)
        return found if self.settings.complexity is None else replace(found, degrees=known.degrees)

    def reindexed(self, n_actions: int) -> RegressorOracle:
        """The oracle for another number of actions."""
        return replace(self, linear=self.linear.reindexed(n_actions))

    def reindexed_summary(self, summary: RowSummary, source: Ints) -> RowSummary:
        """The rows when action k was action source[k] before; those of retired actions go, unless shared."""
        return summary if self.design.n_blocks == 1 else summary.reindexed(source)

    def reindexed_model(self, model: AnyModel, source: Ints) -> AnyModel:
        """The model in which action k scores as action source[k] did, and a new one (-1) is unknown."""
        if isinstance(model, RegressorModel):
            return model.reindexed(source, self.design)
        return self.linear.reindexed_model(model, source)

    def _regression(
        self, active: RowSummary, passive: RowSummary, *, warm: bool | None = None
    ) -> WeightedRegression:
        """Warm starts where they can't change the answer: in convex classes whose solver takes them."""
        if warm is None:
            warm = self.estimator.is_convex and self.estimator.has("warm_start")
        return WeightedRegression(
            self.estimator, self.settings.seed, active, passive, n_blocks=self.design.n_blocks, is_warm=warm
        )

    def _search(
        self, regression: WeightedRegression, slack: float, guess: float | None
    ) -> DualFit[WeightedFit]:
        """Trees move in jumps, at which no search can end as sharply as in a convex class."""
        if self.settings.is_convex:
            return dual_search(regression.solve, slack, guess=guess or None)
        return dual_search(regression.solve, slack, guess=guess or None, tolerance=0.05, max_regressions=20)

    def _cold(
        self, active: RowSummary, passive: RowSummary, found: DualFit[WeightedFit]
    ) -> DualFit[WeightedFit]:
        """The fit without a warm start, as a file will make it; searched anew if it breaks the constraint."""
        regression = self._regression(active, passive, warm=False)
        solution = regression.solve(found.multiplier)
        excess = solution.passive_risk - found.alpha
        n_regressions = found.n_regressions + 1
        if excess <= found.slack:
            return replace(found, solution=solution, excess=excess, n_regressions=n_regressions)
        again = self._search(regression, found.slack, found.multiplier)
        return replace(again, n_regressions=again.n_regressions + n_regressions)

    def _model(
        self,
        active: RowSummary,
        passive: RowSummary,
        found: DualFit[WeightedFit],
        previous: AnyModel | None,
    ) -> AnyModel:
        regressors = found.solution.regressors
        linear = linear_coefficients(found.solution, self.scale) if self.estimator.is_linear else None
        if linear is not None:
            seen = np.array([one is not None for one in regressors])
            earlier = None if isinstance(previous, RegressorModel) else previous
            return linear_model(self.design, linear, None if seen.all() else seen, earlier)
        weight = found.solution.passive_weight
        kept = previous.regressors if isinstance(previous, RegressorModel) else (None,) * len(regressors)
        made = tuple(
            self._fitted(WeightedRows(active, passive, block, weight), one)
            if one is not None
            else kept[block]
            for block, one in enumerate(regressors)
        )
        return RegressorModel(self.design, self.scale, made, found.multiplier)

    def _fitted(self, rows: WeightedRows, regressor: object) -> FittedRegressor:
        return FittedRegressor(self.estimator, self.settings.seed, rows, fitted=regressor)

    def _report(self, active: RowSummary, passive: RowSummary, found: DualFit[WeightedFit]) -> FitReport:
        notes = list(found.solution.complaints)
        if not self.settings.is_convex and found.slack < math.inf:
            notes.append(
                f"{self.estimator} is not known to minimise squared error over a convex class: the "
                "constraint is kept, but the paper's guarantee does not apply"
            )
        if not found.converged:
            notes.append(
                f"no weighted regression used up the slack of {found.slack:.3g}; the best that keeps the "
                f"constraint uses {found.excess:.3g}"
            )
        return FitReport(
            n_active=active.n,
            n_passive=passive.n,
            alpha=found.alpha,
            slack=found.slack,
            excess=found.excess if found.slack < math.inf else 0.0,
            multiplier=found.multiplier,
            binding=found.binding,
            n_regressions=found.n_regressions,
            accurate=found.converged,
            notes=tuple(notes),
        )
