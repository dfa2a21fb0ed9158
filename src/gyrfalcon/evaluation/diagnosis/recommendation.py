"""What follows from a diagnosis, in sentences that each name their evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from gyrfalcon.core.digits import significant
from gyrfalcon.estimates.misspecification.passive_share import epsilon_choice
from gyrfalcon.estimates.misspecification.result import MisspecificationEstimate
from gyrfalcon.estimates.misspecification.row_choice import ENOUGH_PASSIVE
from gyrfalcon.estimates.misspecification.specification_result import SpecificationTests
from gyrfalcon.evaluation.diagnosis.reward_cost import RewardCost
from gyrfalcon.evaluation.diagnosis.risk_by_epoch import EpochRisk
from gyrfalcon.evaluation.intervals.interval import Interval

SIZE = 0.05
WANTED_RELATIVE_ERROR = 0.25
"""Relative standard error of b at which its size is known well enough to act on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a recommendation follows from; None where the log could not say it."""

    misspecification: MisspecificationEstimate | None
    tests: SpecificationTests | None
    cost: RewardCost | None
    epochs: tuple[EpochRisk, ...]
    n_actions: int
    n_rows: int
    n_known: int
    """Rows with known propensities."""
    is_deterministic: bool
    """Whether every action was certain, so that no row says what another one would have earned."""
    constant_reward: float | None
    """The reward of all rows, where they have the same."""
    reward_span: float
    """Highest less lowest reward, in the user's unit."""
    reward_unit: str

    @property
    def wrong(self) -> bool | None:
        """Whether the class is wrong: True on evidence, False without any, None if nothing could tell."""
        b, tests = self.misspecification, self.tests
        if b is None and tests is None:
            return None
        return (b is not None and b.lower > 0.0) or (tests is not None and tests.rejects(SIZE))


def verdict_of(found: Evidence) -> str:
    """One sentence on whether the class is wrong."""
    b, tests = found.misspecification, found.tests
    if found.wrong is None:
        return "This log can't say whether the model class is wrong."
    if found.wrong:
        reasons = []
        if b is not None and b.lower > 0.0:
            reasons.append(f"the interval of b begins at {b.lower:.3g}, above 0")
        if tests is not None and tests.rejects(SIZE):
            reasons.append(f"specification tests reject it (p = {tests.p_value:.2g})")
        return f"The model class is wrong: {' and '.join(reasons)}."
    parts = []
    if tests is not None:
        parts.append(f"specification tests do not reject it (p = {tests.p_value:.2g})")
    if b is not None:
        parts.append(f"the interval of b, {b.lower:.3g} to {b.upper:.3g}, holds 0")
    return f"There is no evidence that the model class is wrong: {', and '.join(parts)}."


def recommendations(found: Evidence) -> tuple[str, ...]:
    """What to do, most important first."""
    if found.wrong is None:
        return (_first_step(found),)
    if found.is_deterministic:
        return (
            "Every action in this log was certain, so that it says nothing of the class where another action "
            "would have been shown: log a policy that draws, such as Limited(floor=...), and diagnose again.",
        )
    if not found.wrong:
        return ("Keep the model class: nothing in this log speaks for another one.", *_more_rows(found))
    return (*_classes(found), *_constraint(found), *_more_rows(found))


def _first_step(found: Evidence) -> str:
    """What a log lacks that says nothing."""
    if found.constant_reward is not None:
        return (
            f"All rewards are {found.constant_reward:g}: check that the log has the rewards that were meant, "
            "or wait for others."
        )
    if found.n_known < found.n_rows:
        return "Collect rows of uniform play, or log propensities, and diagnose again."
    return "Collect more rows, or choose a smaller model class, and diagnose again."


def _classes(found: Evidence) -> tuple[str, ...]:
    cost = found.cost
    if cost is None or cost.richer.gain is None:
        return (
            "Let AdaptiveFalcon(classes='auto') try richer classes in use: without known propensities this "
            "log can't say what the error costs.",
        )
    gain = cost.richer.gain
    if gain.low == gain.high == 0.0:
        return (
            "This log does not show that the error costs anything: no richer class predicted its rows better "
            "than this one. Keep the model class, or let AdaptiveFalcon(classes='auto') try richer ones.",
        )
    earned = f"earns {_amount(gain, found.reward_unit)} more than that of this class"
    if not cost.supported and gain.low <= 0.0 <= gain.high:
        return (
            "This log does not say what the error costs: it holds too few rows of what the greedy policy of "
            f"this class and that of a richer one would do, and the latter {earned}. Keep the model class, "
            "or let AdaptiveFalcon(classes='auto') try richer ones.",
        )
    if not cost.supported:
        return (
            f"Let AdaptiveFalcon(classes='auto') try richer classes: the greedy policy of one seems to earn "
            f"{_amount(gain, found.reward_unit)} more than that of this class, but this log holds too few "
            "rows of what the two would do to be sure.",
        )
    if gain.low > 0.0:
        return (
            f"Let richer classes take part, by AdaptiveFalcon(classes='auto'): the greedy policy of a richer "
            f"class ({cost.chosen}) {earned}.",
        )
    if gain.high < 0.0:
        return (f"Keep the model class, wrong as it is: the greedy policy of a richer class {earned}.",)
    return (
        "This log does not show that the error costs anything: the greedy policy of a richer class "
        f"{earned}. Keep the model class, or let AdaptiveFalcon(classes='auto') try richer ones.",
    )


def _constraint(found: Evidence) -> tuple[str, ...]:
    """Epsilon-FALCON's constraint, where a fit that answers to uniform play earns more than the plain one."""
    cost, b = found.cost, found.misspecification
    if cost is None or cost.uniform.gain is None or b is None:
        return ()
    gain = cost.uniform.gain
    if gain.low <= 0.0 or not cost.supported:
        binding = [one for one in found.epochs if one.binding]
        if not binding:
            return ()
        return (
            f"In {len(binding)} of {len(found.epochs)} epochs the fit to all rows is worse under uniform "
            "play than noise explains, but this log does not show that a constraint would earn more.",
        )
    share = _share(b, found)
    return (
        f"If the class must stay, constrain it by passive rows, by EpsilonFalcon(epsilon={share:.2g}): "
        f"fitted to uniform play it earns {_amount(gain, found.reward_unit)} more than fitted to all rows.",
    )


def _share(b: MisspecificationEstimate, found: Evidence) -> float:
    """The passive share of Corollary 1 for b as a part of the squared range of rewards, at most 0.1.

    The corollary sets every constant to 1 and is read as an upper end.
    """
    square = found.reward_span**2
    unit = replace(
        b, b_hat=b.b_hat / square, lower=b.lower / square, upper=b.upper / square, is_lower_bound=False
    )
    choice = epsilon_choice(unit, found.n_actions)
    assert choice.at_estimate is not None
    return min(choice.at_estimate, 0.1)


def _more_rows(found: Evidence) -> tuple[str, ...]:
    """How many more passive rows make b known to a quarter, by a standard error that goes as 1 / sqrt(n)."""
    b = found.misspecification
    if b is None:
        return (
            f"To know b, collect about {ENOUGH_PASSIVE} passive rows, by a learner with a passive share or "
            "mixing of uniform play.",
        )
    if b.is_lower_bound and not found.wrong:
        return (
            f"How large a misspecification would have gone unnoticed is not known: {b.upper:.3g}, the upper "
            "end, is the mean squared error of the class, noise included.",
        )
    if b.is_lower_bound or not b.standard_error > 0.0:
        return ()
    if not found.wrong:
        return (
            f"A misspecification up to {b.upper:.3g} would have gone unnoticed; four times as many rows "
            "halve that.",
        )
    if b.lower == 0.0:
        return (
            f"How large b is stays open, as its interval is 0 to {b.upper:.3g} by {b.n_rows} rows: four "
            "times as many halve it.",
        )
    relative = b.standard_error / b.b_hat
    if relative <= WANTED_RELATIVE_ERROR:
        return ()
    more = math.ceil(b.n_rows * ((relative / WANTED_RELATIVE_ERROR) ** 2 - 1.0))
    return (
        f"b is known to {relative:.0%}; about {_rounded(more):,} more rows like these make that "
        f"{WANTED_RELATIVE_ERROR:.0%}.",
    )


def _rounded(n: int) -> int:
    """A number of rows to two digits, upwards."""
    unit = int(10 ** max(len(str(n)) - 2, 0))
    return math.ceil(n / unit) * unit


def _amount(gain: Interval, unit: str) -> str:
    middle = (gain.low + gain.high) / 2.0
    low, high = (significant(end, signed=True) for end in (gain.low, gain.high))
    return f"{significant(middle, signed=True)} {unit} a round ({low} to {high})"
