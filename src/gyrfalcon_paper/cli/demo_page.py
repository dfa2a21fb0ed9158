"""The demo as one HTML page: what the paper's first example is, what happened, and how to go on."""

from __future__ import annotations

from collections.abc import Mapping

from gyrfalcon.cli._output import with_error
from gyrfalcon.environments.paper import StepExample
from gyrfalcon.reports.page import Page, Section, Table
from gyrfalcon.reports.pictures import picture
from gyrfalcon_paper.cli import demo_figures
from gyrfalcon_paper.demo import Outcome

_ENVIRONMENT = [
    "A context <i>x</i> is uniform on (0, 1), and there are two actions. Action 1 earns 1 where <i>x</i> is "
    "above one half, and 0 elsewhere; action 2 earns one half everywhere; rewards are noisy. All learners "
    "fit a line per action, which no step is.",
    "Still a line would do. The best one for action 1, -.25 + 1.5<i>x</i>, crosses that of action 2 at one "
    "half, so that whoever believed in it would act optimally. But it is the best for contexts and actions "
    "drawn uniformly. A learner that plays action 1 where it pays sees it there alone, and there it always "
    "earns 1: the line through those data is flat, and says to play action 1 everywhere.",
]
_LEARNERS = (
    "<b>LinUCB</b> fits all rows so far and adds a bonus for what is uncertain. <b>FALCON</b> fits the rows "
    "of its last epoch, and plays an action the less the further its estimate falls behind. "
    "<b>Epsilon-FALCON</b> does the same, but plays uniformly in a small passive share of rounds, and keeps "
    "its fit close to what those rows support."
)
_NEXT = [
    "<code>gyrfalcon simulate EpsilonFalcon StepExample --set preset=calibrated</code> plays any learner in "
    "any environment; <code>gyrfalcon learners</code> lists them. This one is Epsilon-FALCON of this page; without "
    "the preset it chooses its own class of models.",
    "<code>gyrfalcon sweep grid.toml --out results</code> runs a grid of learners, environments and seeds on all "
    "cores, and goes on where it was stopped.",
    "<code>gyrfalcon paper --out paper</code> computes every figure, table and claim of the paper.",
    "<code>gyrfalcon bounds -T 1e6 -K 2 -d 4 -b 0.03125</code> prints the theorem's bound for this problem.",
]


def demo_page(outcomes: Mapping[str, Outcome], n_rounds: int, n_replications: int) -> str:
    """The page's HTML."""
    size = f"{n_rounds:,} rounds, {n_replications} replications"
    return Page(
        "A wrong model, and who is led astray by it",
        "Section 1.1 of Krishnamurthy, Hadad and Athey (2021), played by three learners: "
        f"{size}. Learners meet the same contexts and rewards: what differs is their own doing.",
        [
            Section("The environment", _ENVIRONMENT),
            _regret(outcomes, size),
            _beliefs(outcomes),
            Section("How to go on", _NEXT),
        ],
    ).html()


def _regret(outcomes: Mapping[str, Outcome], size: str) -> Section:
    return Section(
        "Regret over time",
        [_LEARNERS, _late(outcomes)],
        picture(demo_figures.regret_over_time(outcomes), "svg"),
        "Expected regret per round over stretches that double, as epochs do, so that each has its full share "
        "of passive rounds; bands of two standard errors.",
        Table(*table_of(outcomes), caption=f"Expected regret, standard errors in brackets: {size}."),
    )


def table_of(outcomes: Mapping[str, Outcome]) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: regret in all and per round of the last half, with standard errors."""
    rows = [
        [
            name,
            with_error(outcome.cumulative, 0),
            with_error(outcome.late, 4),
        ]
        for name, outcome in outcomes.items()
    ]
    return ["learner", "cumulative", "per round, last half"], rows


def _late(outcomes: Mapping[str, Outcome]) -> str:
    costs = ", ".join(f"{name} {outcome.late.mean:.4f}" for name, outcome in outcomes.items())
    best = min(outcomes, key=lambda name: outcomes[name].late.mean)
    return (
        f"Over the last half of the rounds a round costs: {costs}; the least is {best}'s. Uniform play, and "
        f"action 1 everywhere, would cost {StepExample().uniform_regret}, the best line nothing."
    )


def _beliefs(outcomes: Mapping[str, Outcome]) -> Section:
    return Section(
        "What each learner believes at the end",
        [_acting(outcomes)],
        picture(demo_figures.beliefs(outcomes), "svg"),
        "The line that each replication has for action 1 at the end, the best line (dotted), and the truth "
        "(grey). Action 1 is played where its line is above that of action 2.",
    )


def _acting(outcomes: Mapping[str, Outcome]) -> str:
    told = "; ".join(f"{name} {outcome.greedy_regret():.4f}" for name, outcome in outcomes.items())
    return (
        "Whoever always took the action whose line is higher would lose one half wherever the lines are the "
        f"wrong way round. With the lines at the end that comes to this much a round, on average: {told}. "
        "For the best line it is 0."
    )
