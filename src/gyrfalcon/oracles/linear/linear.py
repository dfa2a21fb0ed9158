"""The linear model class and its exact constrained regression oracle."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gyrfalcon.core.arrays import Bools, Floats, Ints
from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.fit_report import FitReport
from gyrfalcon.core.records import Log
from gyrfalcon.core.settings import changed_settings_repr
from gyrfalcon.oracles.features.bases import Basis, Identity
from gyrfalcon.oracles.features.design import Design, Layout
from gyrfalcon.oracles.linalg.conditioning import blocks_suffice
from gyrfalcon.oracles.linear.centring import Centring
from gyrfalcon.oracles.linear.fit_reports import constrained_report, ordinary_report
from gyrfalcon.oracles.linear.models import LinearModel, OptimisticModel, linear_model
from gyrfalcon.oracles.linear.reindex import (
    reindexed_factors,
    reindexed_model,
    reindexed_moments,
    reindexed_scatter,
)
from gyrfalcon.oracles.protocol import Noise, Slack
from gyrfalcon.oracles.solvers.constrained import constrained_fit
from gyrfalcon.oracles.solvers.least_squares import LinearFit, least_squares, ridge_fit
from gyrfalcon.oracles.solvers.moments import Moments, Rows
from gyrfalcon.oracles.solvers.slack import noise_of_parameters

_ROWS_AT_ONCE = 1 << 13


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear:
    """Reward models that are linear in phi(x, a): a convex class with d parameters and unbounded values.

    The paper's theorems are for classes with values in [0, 1]; `gyrfalcon.theory.classes` has what fails.
    Standardisation and the mean reward, to which a ridge shrinks, are computed anew at each fit.

    Parameters
    ----------
    layout : {'per_action', 'shared', 'hybrid'}, optional
        Coefficients per action, shared by all actions, or both; None means per action, or shared where
        actions have features.
    basis : Basis, default Identity()
        Expansion of the features.
    ridge : float, default 0.0
        Ridge penalty in units of rows, on standardised features and intercepts; `AdaptiveFalcon`'s least.
    intercept : bool, default True
        Whether models have an intercept.
    standardise : bool, default True
        Whether features are centred and scaled before the fit.
    interactions : bool, default True
        Whether shared coefficients include the products of context and action features.
    """

    layout: Literal["per_action", "shared", "hybrid"] | None = None
    basis: Basis = Identity()
    ridge: float = 0.0
    intercept: bool = True
    standardise: bool = True
    interactions: bool = True

    __repr__ = changed_settings_repr

    def __post_init__(self) -> None:
        layouts = [layout.value for layout in Layout]
        if self.layout is not None and self.layout not in layouts:
            raise ValueError(f"layout is {self.layout!r}; choose one of {', '.join(map(repr, layouts))}.")
        if not hasattr(self.basis, "fit"):
            raise ValueError(f"basis is {self.basis!r}; give a basis such as Polynomial(degree=2).")
        if not (self.ridge >= 0.0 and math.isfinite(self.ridge)):
            raise ValueError(f"ridge is {self.ridge}; give a finite number of at least 0.")

    def check(self, n_features: int, n_action_features: int) -> None:
        """Refuse a problem whose features leave nothing to fit."""
        self.layout_for(n_features, n_action_features)

    def layout_for(self, n_features: int, n_action_features: int) -> Layout:
        """The layout for a problem with these features, or a refusal if they leave nothing to fit."""
        layout = Layout(self.layout or ("shared" if n_action_features else "per_action"))
        if layout is not Layout.PER_ACTION and not n_action_features:
            raise ValueError(
                f"layout is {layout.value!r}, but the actions have no features to share coefficients over; "
                "give the problem action_features, or choose layout='per_action'."
            )
        if not (self.intercept or n_features or n_action_features):
            raise ValueError(
                "there are no features and intercept is False, so that nothing is left to fit; "
                "set intercept=True, or give the problem features."
            )
        return layout

    def oracle(self, contexts: Contexts, n_actions: int) -> LinearOracle:
        """The oracle for a problem, its basis and centring fixed by these early contexts."""
        q = 0 if contexts.actions is None else contexts.actions.shape[2]
        action_center = np.zeros(q)
        if contexts.actions is not None and q and self.intercept:
            action_center = contexts.actions.mean(axis=(0, 1))
        basis = self.basis.fit(contexts.shared)
        expanded = basis.expand(contexts.shared)
        design = Design(
            layout=self.layout_for(contexts.shared.shape[1], q),
            n_actions=n_actions,
            basis=basis,
            center=expanded.mean(axis=0) if self.intercept else np.zeros(expanded.shape[1]),
            action_center=action_center,
            intercept=self.intercept,
            interactions=self.interactions,
        )
        return LinearOracle(replace(self, layout=design.layout.value), design)


@dataclass(frozen=True, slots=True)
class LinearOracle:
    """Constrained least squares over a linear class: log -> moments -> reward model."""

    settings: Linear
    design: Design

    @property
    def n_parameters(self) -> int:
        """The paper's d: the coefficients of all actions."""
        return self.design.n_parameters

    def summarise(self, log: Log, weights: Floats | None = None) -> Moments:
        """Sufficient statistics of these rows; they add up over logs."""
        if weights is None:
            return self.summed(log)
        features, blocks = self.design.rows(log)
        return Moments.of(features, log.reward, blocks=blocks, n_blocks=self.design.n_blocks, weights=weights)

    def summed(self, log: Log, onto: Moments | None = None, *, penalised: bool = False) -> Moments:
        """Sufficient statistics of these rows, on top of earlier ones; a root only where the sums need it.

        A batch of a few rows has too few digits in its Gram matrix nearly always, and all rows so far hardly
        ever: their sum decides. `penalised` says that they are fitted with their ridge alone, without a
        constraint: then it decides together with the ridge.
        """
        new = self.sums(log)
        total = new if onto is None else onto.rootless() + new
        ridge = self.settings.ridge if penalised else 0.0
        gram = total.gram
        if ridge > 0.0:  # on standardised columns: a form on the columns as they are
            back = np.linalg.inv(self.standardisation(total))
            gram = gram + ridge * np.asarray(back @ back.T)
        if blocks_suffice(gram).all():
            return total
        rows = self._rows(log).with_root(new)
        return rows if onto is None else onto + rows

    def sums(self, log: Log, weights: Floats | None = None, onto: Moments | None = None) -> Moments:
        """Statistics without a root, with those of earlier rows, some rows at a time: they stay in cache."""
        total = onto
        for start in range(0, len(log), _ROWS_AT_ONCE):
            here = slice(start, start + _ROWS_AT_ONCE)
            total = self._rows(log.take(here), None if weights is None else weights[here]).moments(total)
        return self.empty() if total is None else total

    def _rows(self, log: Log, weights: Floats | None = None) -> Rows:
        """The rows of a regression; where they are made of shared features alone, as they are needed."""
        design = self.design
        if design.layout is Layout.PER_ACTION and log.contexts.actions is None:
            return Rows.of(
                log.contexts.shared,
                log.reward,
                blocks=log.action,
                n_blocks=design.n_actions,
                weights=weights,
                width=int(design.intercept) + len(design.center),
                expand=design.own_rows,
            )
        features, blocks = design.rows(log)
        return Rows.of(features, log.reward, blocks=blocks, n_blocks=design.n_blocks, weights=weights)

    def model_of(
        self, coefficients: Floats, rows: Moments, previous: LinearModel | None = None
    ) -> LinearModel:
        """The model of coefficients (B, d); actions without rows keep their `previous` coefficients."""
        return linear_model(self.design, coefficients, self._seen(rows), previous)

    def empty(self) -> Moments:
        """Statistics of no rows."""
        return Moments.zeros(self.design.n_blocks, self.design.block_width)

    def fit(
        self,
        active: Moments,
        passive: Moments,
        *,
        slack: Slack = math.inf,
        previous: LinearModel | None = None,
    ) -> tuple[LinearModel, FitReport]:
        """The exact constrained fit; an action without any rows keeps its `previous` coefficients."""
        if passive.n == 0.0:
            return self._unconstrained(active, previous)
        both = active.rootless() + passive.rootless()
        change, center = self.standardisation(both), Centring.of(both, self.design)
        one, other = (center.less(part).transformed(change) for part in (active, passive))
        fit = constrained_fit(one, other, slack, self.settings.ridge)
        coefficients = center.above(np.einsum("bi,ij->bj", fit.coefficients, change))
        return self.model_of(coefficients, both, previous), constrained_report(fit)

    def _unconstrained(self, rows: Moments, previous: LinearModel | None) -> tuple[LinearModel, FitReport]:
        """Ordinary least squares, five times as fast as a constraint that can't bind."""
        change, center = self.standardisation(rows), Centring.of(rows, self.design)
        fit = least_squares(center.less(rows).transformed(change), self.settings.ridge)
        coefficients = center.above(np.einsum("bi,ij->bj", fit.coefficients, change))
        return self.model_of(coefficients, rows, previous), ordinary_report(rows, fit)

    def passive_risk(self, passive: Moments) -> float:
        """alpha: the mean squared error of the (ridge) fit of these rows."""
        centred = Centring.of(passive, self.design).less(passive)
        standardised = centred.transformed(self.standardisation(passive))
        fit = least_squares(standardised, self.settings.ridge, shortest=False)
        return float(np.sum(fit.residual_squares)) / passive.n

    def noise(self, alpha: float, active: Moments, passive: Moments) -> Noise:
        """sigma^2 from alpha, or from all rewards where passive rows are few; d degrees of freedom."""
        return noise_of_parameters(alpha, self.n_parameters, active.rootless(), passive.rootless())

    def scatter(self, log: Log, passive: Moments) -> Floats:
        """Sum e^2 phi phi' over the rows of a log, residuals e of the fit of `passive`, (B, d, d)."""
        change, center = self.standardisation(passive), Centring.of(passive, self.design)
        fit = least_squares(center.less(passive).transformed(change), self.settings.ridge)
        coefficients = center.above(fit.coefficients @ change)
        features, blocks = self.design.rows(log)
        own = np.zeros(len(log), dtype=np.int64) if blocks is None else blocks
        residuals = log.reward - np.einsum("nf,nf->n", features, coefficients[own])
        n_blocks, squares = self.design.n_blocks, residuals**2
        return Rows.of(features, log.reward, blocks=blocks, n_blocks=n_blocks, weights=squares).moments().gram

    def optimistic(self, moments: Moments, bonus: float) -> tuple[OptimisticModel, FitReport]:
        """The ridge fit of these rows with its confidence widths (LinUCB), and how it went.

        An action without data has the best of the others' estimates before its bonus: a small bonus alone
        could leave it untried for ever.
        """
        model, fit = self.confident(moments)
        return replace(model, bonus=bonus), ordinary_report(moments, fit)

    def confident(self, moments: Moments) -> tuple[OptimisticModel, LinearFit]:
        """The ridge fit of these rows with its confidence widths and without a bonus, and the fit itself."""
        change, center = self.standardisation(moments), Centring.of(moments, self.design)
        fit, factors = ridge_fit(center.less(moments).transformed(change), self.settings.ridge)
        coefficients = center.above(np.einsum("bi,ij->bj", fit.coefficients, change))
        model = replace(linear_model(self.design, coefficients, self._seen(moments)), eager=True)
        return OptimisticModel(model, self.design, np.ascontiguousarray(factors @ change), 0.0), fit

    def log_determinants(self, moments: Moments, scale: Moments) -> Floats:
        """How much is known: ln det(I + Gram / ridge) of each block, (B,), standardised as `scale` is."""
        gram = moments.transformed(self.standardisation(scale)).gram
        ratio = np.maximum(np.linalg.eigvalsh(gram), 0.0) / self.settings.ridge
        return np.asarray(np.log1p(ratio).sum(axis=1))

    def reindexed_factors(self, factors: Floats, moments: Moments, source: Ints) -> Floats:
        """Confidence factors when action k was action source[k] before; a new one (-1) has no data."""
        unseen = self.standardisation(moments) / math.sqrt(self.settings.ridge)
        return reindexed_factors(factors, unseen, source, self.design)

    def reindexed(self, n_actions: int) -> LinearOracle:
        """The oracle for another number of actions."""
        return replace(self, design=replace(self.design, n_actions=n_actions))

    def reindexed_summary(self, summary: Moments, source: Ints) -> Moments:
        """The rows when action k was action source[k] before, -1 if it is new."""
        return reindexed_moments(summary, source, self.design)

    def reindexed_scatter(self, scatter: Floats, passive: Moments, source: Ints) -> Floats:
        """The scatter of passive rows when action k was action source[k] before, -1 if it is new."""
        return reindexed_scatter(scatter, passive, source, self.design)

    def reindexed_model(self, model: LinearModel, source: Ints) -> LinearModel:
        """The model in which action k scores as action source[k] did, and a new one (-1) is unknown."""
        return reindexed_model(model, source, self.design)

    def _seen(self, rows: Moments) -> Bools | None:
        """(K,): actions with rows; None if all have some, or share their coefficients."""
        design = self.design
        by_features = design.layout is Layout.HYBRID and (design.n_own == 0 or design.joint_basis is not None)
        if design.layout is Layout.SHARED or by_features:
            return None
        seen = rows.weight > 0.0
        if design.layout is Layout.HYBRID:
            squares = np.diag(rows.gram[0])[design.n_joint :]
            seen = squares.reshape(design.n_actions, -1).sum(axis=1) > 0.0
        return None if seen.all() else seen

    def standardisation(self, pooled: Moments) -> Floats:
        """The change of columns z = T phi that gives features mean 0 and scale 1 over all rows."""
        if not self.settings.standardise:
            return np.eye(self.design.block_width)
        change: Floats = self.design.standardisations(pooled.weight, pooled.gram)[0]
        return change
