"""Practical play that chooses its model class: the linear one to begin with, larger ones as data allow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from gyrfalcon.core.contexts import Contexts
from gyrfalcon.core.epochs import Epoch
from gyrfalcon.core.kernels import InverseGapWeighting
from gyrfalcon.core.policies import KernelPolicy, Policy, UniformPolicy
from gyrfalcon.core.problems import Problem
from gyrfalcon.core.records import History, Log
from gyrfalcon.core.types import Ints
from gyrfalcon.learners import adapting, epochwise
from gyrfalcon.learners.choosing import Outlook, Standings, explained
from gyrfalcon.learners.confident import optimist
from gyrfalcon.learners.practical import Practical, played_state
from gyrfalcon.oracles.class_choices import ClassChoice, candidate, name_of
from gyrfalcon.oracles.models import fill_unknown
from gyrfalcon.oracles.resting import RestingRidge
from gyrfalcon.oracles.running import RunningModel, RunningRidge

_MOST_EARLY = 4096
"""Rows that are kept until classes have enough of them to enter; then they enter with these."""
_MOST_CONTEXTS = 1000
"""Early contexts by which features are scaled, and waves measured."""
_FAR_BEHIND, _RESTS, _STAYS = -4.0, 1.5, 1.3
"""Standard errors behind with which a class rests, until rows are so many times as many; it then stays awake
until they are so many times as many again."""
_ROWS_PER_COLUMN = {"quadratic": 0.5}
_ROWS_PER_OTHER_COLUMN = 1.5


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is carried from epoch to epoch; the linear class is number 0, `fits` are of the others."""

    linear: Epoch
    """What would be played if the linear class did; its state is that of `Practical`."""
    fits: tuple[RunningRidge | RestingRidge | None, ...]
    """None for a class that waits for rows, or is of no use for these features."""
    until: tuple[float, ...]
    """Up to how many rows a class rests, or at least takes part."""
    wanted: tuple[float, ...]
    """Rows with which a class enters; 0 if it has, infinite if it never will, -1 before that is known."""
    standings: Standings
    playing: int = 0
    early: tuple[Log, ...] = ()
    """The first rows, as long as a class waits for more."""
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
        state = Chosen(
            linear,
            (None,) * n_others,
            (0.0,) * n_others,
            (-1.0,) * n_others,
            Standings.none(1 + n_others),
        )
        return epochwise.started(self, replace(linear, state=state), log)

    def next_epoch(self, epoch: Epoch, log: Log, *, history: History) -> Epoch:
        """Judge all classes by the new rows, then fit again with these, and play by the best."""
        del history
        if len(log) == 0:
            return epochwise.unchanged(epoch, self.practical.schedule)
        state = chosen_state(epoch)
        before = state.linear
        n_before = _n_rows(before)
        ahead = [_advanced(fit, log) for fit in state.fits]
        outlooks = [_linear_outlook(before, log), *(outlook for _, outlook in ahead)]
        standings = state.standings.judged(outlooks, state.playing, log, n_before + len(log))
        linear = self.practical.advanced(
            replace(before, index=epoch.index, start=epoch.start, stop=epoch.stop),
            log,
            idle=state.playing > 0,
        )
        fits = tuple(fit for fit, _ in ahead)
        state = self._entered(replace(state, fits=fits, linear=linear, standings=standings), log)
        n = n_before + len(log)
        state = self._rested(replace(state, playing=self._best(state, n)))
        return self._played(self._forgotten(state, len(log)))

    def adapt(self, epoch: Epoch, problem: Problem) -> Epoch:
        """The epoch with actions added or retired: what is known of the others stays."""
        state = chosen_state(epoch)
        before = played_state(state.linear).problem
        source = adapting.sources(before, problem)
        fits = tuple(None if fit is None else fit.reindexed(source) for fit in state.fits)
        moved = replace(
            state,
            linear=self.practical.adapt(state.linear, problem),
            fits=fits,
            early=tuple(_renumbered(log, source) for log in state.early),
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

    def _forgotten(self, state: Chosen, n_new: int) -> Chosen:
        """With earlier rows counting less, a quarter of a half-life at a time."""
        n, half_life = state.n_unforgotten + n_new, self.practical.half_life
        if half_life is None or 4 * n < half_life:
            return replace(state, n_unforgotten=n)
        kept = self.practical.kept(n)
        fits = tuple(None if fit is None else fit.scaled(kept) for fit in state.fits)
        return replace(state, fits=fits, standings=state.standings.scaled(kept), n_unforgotten=0)

    def _rested(self, state: Chosen) -> Chosen:
        """With classes at rest that are far behind the one that plays, and those awake that have rested."""
        fits, until = list(state.fits), list(state.until)
        n, behind = played_state(state.linear).n_seen, state.standings.z[state.playing]
        for place, fit in enumerate(state.fits):
            if fit is None or n < until[place] or place + 1 == state.playing:
                continue
            if isinstance(fit, RestingRidge):
                fits[place], until[place] = fit.awake(), self._later(_STAYS, n)
            elif behind[place + 1] < _FAR_BEHIND:
                fits[place], until[place] = RestingRidge.of(fit), self._later(_RESTS, n)
        return replace(state, fits=tuple(fits), until=tuple(until))

    def _later(self, ratio: float, n_seen: int) -> float:
        """When rows are so many times as many, but no later than a half-life from now."""
        return min(ratio * n_seen, n_seen + (self.practical.half_life or math.inf))

    def _best(self, state: Chosen, n_rows: float) -> int:
        """The class that plays next, of those that take part."""
        awake = [place for place, fit in enumerate(state.fits, start=1) if isinstance(fit, RunningRidge)]
        playing = state.playing
        if not self.with_linear and playing == 0 and awake:
            playing = awake[0]
        among = [0, *awake] if self.with_linear else awake
        return state.standings.best(playing, self._sizes(state), n_rows, among)

    def _sizes(self, state: Chosen) -> Ints:
        """(C,): columns of each class."""
        oracle = played_state(state.linear).oracle
        own = 0 if oracle is None else oracle.design.block_width
        return np.array([own, *(0 if fit is None else fit.n_columns for fit in state.fits)])

    def _entered(self, state: Chosen, log: Log) -> Chosen:
        """With the classes that now have rows enough."""
        if not _waits(state.wanted):
            return state
        n_actions = played_state(state.linear).problem.n_actions
        rows = Log.concat((*state.early, log), n_actions)
        worth = math.inf if len(rows) >= _MOST_EARLY else _worth(rows)
        fits, wanted, until = list(state.fits), list(state.wanted), list(state.until)
        for place, choice in enumerate(self.others):
            if wanted[place] == -1.0 or 0.0 < wanted[place] <= worth:
                contexts = rows.contexts.shared[:_MOST_CONTEXTS]
                found = candidate(choice, contexts, n_actions, seed=place)
                wanted[place] = math.inf if found is None else _wanted(choice, found.n_columns)
                if found is not None and wanted[place] <= worth:
                    fits[place] = found.start(n_actions, self.practical.ridge).with_rows(rows)
                    wanted[place], until[place] = 0.0, _STAYS * len(rows)
        kept = (*state.early, log) if _waits(wanted) else ()
        return replace(state, fits=tuple(fits), until=tuple(until), wanted=tuple(wanted), early=kept)

    def _words(self, state: Chosen) -> tuple[str, ...]:
        """How the classes compare."""
        takes_part = [True, *(one is not None for one in state.fits)]
        words = explained(self.names, state.standings, state.playing, takes_part)
        left_out = [False, *(rows == math.inf for rows in state.wanted)]
        return tuple(
            f"{name}: left out, as it would be no richer than linear here, or too large" if out else said
            for name, said, out in zip(self.names, words, left_out, strict=True)
        )

    def _played(self, state: Chosen) -> Epoch:
        """The epoch of the class that plays."""
        linear, fit = state.linear, state.fits[state.playing - 1] if state.playing else None
        assert not isinstance(fit, RestingRidge)
        report = linear.report
        if report is not None and state.fits:
            words = self._words(state)
            report = replace(report, details=(*words, *(report.details if fit is None else ())))
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


def _advanced(
    fit: RunningRidge | RestingRidge | None, log: Log
) -> tuple[RunningRidge | RestingRidge | None, Outlook | None]:
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
    rows = np.arange(len(log)), log.action
    return Outlook.of(pooled.scores(log.contexts), model.widths(log.contexts)[rows] ** 2)


def _waits(wanted: Sequence[float]) -> bool:
    """Whether a class still waits for rows."""
    return any(rows not in {0.0, math.inf} for rows in wanted)


def _worth(rows: Log) -> float:
    """Rows, fewer of them where rewards hardly vary: rare ones say little each."""
    return len(rows) * min(1.0, 4.0 * float(rows.reward.var()))


def _wanted(choice: ClassChoice, n_columns: int) -> float:
    per_column = (
        _ROWS_PER_OTHER_COLUMN
        if not isinstance(choice, str)
        else _ROWS_PER_COLUMN.get(choice, _ROWS_PER_OTHER_COLUMN)
    )
    return per_column * n_columns


def _renumbered(log: Log, source: Ints) -> Log:
    """Rows of actions that stay, by their new numbers; who else could have been chosen no longer matters."""
    places = np.full(int(max(source.max(initial=-1), log.action.max(initial=-1))) + 1, -1)
    old = np.flatnonzero(source >= 0)
    places[source[old]] = old
    action = places[log.action]
    return replace(log, contexts=Contexts(log.contexts.shared), action=action).where(action >= 0)
