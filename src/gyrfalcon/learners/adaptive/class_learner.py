"""Practical play that chooses its model class: the linear one to begin with, larger ones as data allow."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from gyrfalcon.core.arrays import Ints
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.inputs.problem import Problem
from gyrfalcon.core.policies.kernel_policy import KernelPolicy, Policy, UniformPolicy
from gyrfalcon.core.policies.kernels import InverseGapWeighting
from gyrfalcon.core.records import History, Log
from gyrfalcon.learners import action_changes, steps
from gyrfalcon.learners.adaptive.candidates import Entrants, Fit
from gyrfalcon.learners.adaptive.class_selection import Outlook, Standings, explained
from gyrfalcon.learners.adaptive.learner import Practical
from gyrfalcon.learners.adaptive.model_classes import ClassChoice, name_of
from gyrfalcon.learners.adaptive.state import played_state
from gyrfalcon.learners.optimistic.ridge_learner import optimist
from gyrfalcon.oracles.linear.models import fill_unknown
from gyrfalcon.oracles.recursive.deferred import RestingRidge
from gyrfalcon.oracles.recursive.ridge import RunningModel, RunningRidge

_ALONE = "linear plays alone: the other classes need features of the context, and none of actions"
_UNASKED = "the passive share follows an estimate of b only while lines play"


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is carried from epoch to epoch; the linear class is number 0, those of `others` follow."""

    linear: Epoch
    """What would be played if the linear class did; its state is that of `Practical`."""
    others: Entrants
    standings: Standings
    playing: int = 0
    n_unforgotten: int = 0
    """Rows since weights were last scaled: for wide classes that costs more than new rows do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassChoosing:
    """`Practical` play by the class of models that foretells rewards best."""

    reads_history: ClassVar[bool] = False
    practical: Practical
    others: tuple[ClassChoice, ...]
    """Classes beside the linear one, the smaller first."""
    with_linear: bool = True
    """Whether the linear class may play after one of the others has entered."""

    @property
    def names(self) -> tuple[str, ...]:
        """All classes, the linear one first."""
        return ("linear", *(name_of(one) for one in self.others))

    def start(self, problem: Problem, log: Log | None = None) -> Epoch:
        """Epoch 1, all of it passive unless a log warms it up."""
        linear = self.practical.start(problem)
        n_others = 0 if problem.action_features.width or not problem.features.width else len(self.others)
        state = Chosen(linear, Entrants.none(n_others), Standings.none(1 + n_others))
        return steps.started(self, replace(linear, state=state), log)

    def next_epoch(self, epoch: Epoch, log: Log, *, history: History) -> Epoch:
        """Judge all classes by the new rows, then fit again with these, and play by the best."""
        del history
        if len(log) == 0:
            return steps.unchanged(epoch, self.practical.schedule)
        state = chosen_state(epoch)
        before = state.linear
        n = _n_rows(before) + len(log)
        ahead = [_advanced(fit, log) for fit in state.others.fits]
        outlooks = [_linear_outlook(before, log), *(outlook for _, outlook in ahead)]
        standings = state.standings.judged(outlooks, state.playing, log, n)
        linear = self.practical.advanced(
            replace(before, index=epoch.index, start=epoch.start, stop=epoch.stop),
            log,
            idle=state.playing > 0,
        )
        others = replace(state.others, fits=tuple(fit for fit, _ in ahead))
        state = replace(state, linear=linear, standings=standings, others=self._entered(others, state, log))
        state = self._rested(replace(state, playing=self._best(state, n)))
        return self._played(self._forgotten(state, len(log)))

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired: what is known of the others stays."""
        state = chosen_state(epoch)
        before = played_state(state.linear).problem
        moved = replace(
            state,
            linear=self.practical.adapt(state.linear, problem),
            others=state.others.reindexed(action_changes.sources(before, problem)),
        )
        adapted = self._played(moved)
        return replace(
            adapted,
            policy=_as_optimistic(adapted.policy, epoch.policy),
            index=epoch.index,
            start=epoch.start,
            stop=epoch.stop,
            passive_share=epoch.passive_share,
            passive_policy=UniformPolicy(problem.n_actions),
            report=epoch.report,
        )

    def _entered(self, others: Entrants, state: Chosen, log: Log) -> Entrants:
        """With the classes that now have rows enough."""
        if not others.fits:
            return others
        n_actions, own = played_state(state.linear).problem.n_actions, self.practical
        return others.entered(self.others, log, n_actions, own.ridge, own.half_life)

    def _forgotten(self, state: Chosen, n_new: int) -> Chosen:
        """With earlier rows counting less, a quarter of a half-life at a time."""
        n, half_life = state.n_unforgotten + n_new, self.practical.half_life
        if half_life is None or 4 * n < half_life:
            return replace(state, n_unforgotten=n)
        kept = self.practical.kept(n)
        return replace(
            state, others=state.others.scaled(kept), standings=state.standings.scaled(kept), n_unforgotten=0
        )

    def _rested(self, state: Chosen) -> Chosen:
        """With classes at rest that are far behind the one that plays, and those awake that have rested."""
        n_seen, leads = played_state(state.linear).n_seen, state.standings.z[state.playing, 1:]
        return replace(
            state,
            others=state.others.rested(
                self.others, state.playing - 1, leads, n_seen, self.practical.half_life
            ),
        )

    def _best(self, state: Chosen, n_rows: float) -> int:
        """The class that plays next, of those that take part."""
        awake = [1 + place for place in state.others.awake]
        playing = state.playing
        if not self.with_linear and playing == 0 and awake:
            playing = awake[0]
        among = [0, *awake] if self.with_linear else awake
        return state.standings.best(playing, self._sizes(state), n_rows, among)

    def _sizes(self, state: Chosen) -> Ints:
        """(C,): columns of each class."""
        oracle = played_state(state.linear).oracle
        own = 0 if oracle is None else oracle.design.block_width
        return np.array([own, *state.others.sizes(self.others)])

    def _words(self, state: Chosen) -> tuple[str, ...]:
        """How the classes compare."""
        if not state.others.fits:
            return (_ALONE,)
        n_compared = state.standings.weights[1:].tolist()
        fits = zip(state.others.fits, n_compared, strict=True)
        takes_part = [True, *(fit is not None or n > 0.0 for fit, n in fits)]
        words = explained(self.names, state.standings, state.playing, takes_part)
        left_out = [False, *(rows == math.inf for rows in state.others.wanted)]
        return tuple(
            f"{name}: left out, as it would be no richer than linear here, or too large" if out else said
            for name, said, out in zip(self.names, words, left_out, strict=True)
        )

    def _played(self, state: Chosen) -> Epoch:
        """The epoch of the class that plays."""
        linear, fit = state.linear, state.others.fits[state.playing - 1] if state.playing else None
        assert not isinstance(fit, RestingRidge)
        report = linear.report
        if report is not None:
            words, of_lines = self._words(state), report.details
            if fit is not None:
                of_lines = (_UNASKED,) if self.practical.sharing == "corollary" else ()
            report = replace(report, details=(*words, *of_lines))
        if fit is None:
            return replace(linear, state=state, report=report)
        sigma = math.sqrt(fit.residual_variance)
        gamma = self.practical.c_gamma * math.sqrt(fit.n)
        return replace(
            linear,
            policy=KernelPolicy(fit.model(self.practical.bonus * sigma), InverseGapWeighting(gamma)),
            passive_share=self.practical.share(linear.start),
            state=state,
            report=report,
        )


def chosen_state(epoch: Epoch) -> Chosen:
    """The state of an epoch that this learner made."""
    if not isinstance(epoch.state, Chosen):
        raise TypeError(
            f"epoch {epoch.index} carries {type(epoch.state).__name__}; give the learner its own epochs."
        )
    return epoch.state


def _as_optimistic(policy: Policy, before: Policy) -> Policy:
    """The policy with the bonus and the kernel of the one before, where that was of a class beside lines."""
    if not (isinstance(policy, KernelPolicy) and isinstance(before, KernelPolicy)):
        return policy
    if not (isinstance(policy.scorer, RunningModel) and isinstance(before.scorer, RunningModel)):
        return policy
    return replace(before, scorer=replace(policy.scorer, bonus=before.scorer.bonus))


def _n_rows(linear: Epoch) -> float:
    evidence = played_state(linear).evidence
    return 0.0 if evidence is None else evidence.rows.n


def _advanced(fit: Fit | None, log: Log) -> tuple[Fit | None, Outlook | None]:
    """A fit with new rows, and what it foretold of them before, if it takes part."""
    if not isinstance(fit, RunningRidge):
        return None if fit is None else fit.with_rows(log), None
    phi = fit.rows(log.contexts)
    after, leverages = fit.advanced(log, phi)
    means = fit.coefficients @ phi.T
    if fit.known is not None:
        fill_unknown(means, fit.known, log.contexts.eligible, eager=True)
    return after, Outlook.of(means.T, leverages)


def _linear_outlook(linear: Epoch, log: Log) -> Outlook | None:
    model, pooled = optimist(linear.policy), played_state(linear).model
    if model is None or pooled is None:
        return None
    return Outlook.of(pooled.scores(log.contexts), model.widths_of(log.contexts, log.action) ** 2)
