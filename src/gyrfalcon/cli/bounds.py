"""`gyrfalcon bounds`: the regret bound of Theorem 2 and the optimal passive share of a problem."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from gyrfalcon.cli._output import number, print_json, print_table, say
from gyrfalcon.cli._parsing import whole

if TYPE_CHECKING:
    from gyrfalcon.cli._theorem import Theorem
    from gyrfalcon.theory import RegretBound

EXAMPLES = """\
gyrfalcon bounds --rounds 1e6 --actions 2 --dimension 4 --misspecification 0
gyrfalcon bounds -T 1e6 -K 2 -d 4 -b 0.03125 --epsilon 0.05 --epochs
gyrfalcon bounds -T 1e9 -K 10 -d 200 -b 0 --json
"""
_TERMS = {
    "passive": "passive rounds",
    "azuma": "reward noise (Azuma)",
    "first_epoch": "first epoch",
    "misspecification": "misspecification",
    "estimation": "estimation",
}


def bounds(
    rounds: Annotated[
        int, typer.Option("--rounds", "-T", parser=whole, metavar="T", help="Number of rounds, such as 1e6.")
    ],
    actions: Annotated[
        int, typer.Option("--actions", "-K", parser=whole, metavar="K", help="Number of actions.")
    ],
    dimension: Annotated[
        float,
        typer.Option(
            "--dimension",
            "-d",
            metavar="D",
            help="Complexity comp of the model class; of a linear one, the coefficients of all actions.",
        ),
    ],
    misspecification: Annotated[
        float,
        typer.Option(
            "--misspecification",
            "-b",
            metavar="B",
            help="Mean squared error b of the best model under uniform play; 0 if well specified.",
        ),
    ],
    epsilon: Annotated[
        float | None,
        typer.Option(
            metavar="E", help="Passive share; the optimal one for b by default.", show_default=False
        ),
    ] = None,
    delta: Annotated[float, typer.Option(metavar="P", help="Probability that the bound fails.")] = 0.05,
    first_epoch: Annotated[
        int, typer.Option(parser=whole, metavar="N", help="Length tau_1 of the first epoch.")
    ] = 4,
    rho: Annotated[
        float, typer.Option(metavar="X", help="Exponent rho.", rich_help_panel="Other model classes")
    ] = 1.0,
    rho_prime: Annotated[
        float, typer.Option(metavar="X", help="Exponent rho'.", rich_help_panel="Other model classes")
    ] = 0.0,
    constant: Annotated[
        float | None,
        typer.Option(
            metavar="C",
            help="Constant C of Assumption 1; that of a linear class by default.",
            show_default=False,
            rich_help_panel="Other model classes",
        ),
    ] = None,
    epochs: Annotated[
        bool, typer.Option("--epochs", help="Show gamma and slack of every epoch.", rich_help_panel="Output")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.", rich_help_panel="Output")] = False,
) -> None:
    """Print the paper's regret bound and the optimal passive share.

    Theorem 2 bounds the regret of Epsilon-FALCON after T rounds with K actions and a class of d coefficients
    whose best model has the mean squared error b. It is shown with the constants of its proof, corrected
    and as printed, summed epoch by epoch, and with every constant set to 1.
    """
    from gyrfalcon.cli._theorem import Theorem
    from gyrfalcon.theory import C_LINEAR, optimal_epsilon

    best = optimal_epsilon(misspecification, actions, rho)
    theorem = Theorem(
        T=rounds,
        K=actions,
        comp=dimension,
        b=misspecification,
        epsilon=best if epsilon is None else epsilon,
        delta=delta,
        tau_1=first_epoch,
        rho=rho,
        rho_prime=rho_prime,
        C=C_LINEAR if constant is None else constant,
    )
    if as_json:
        print_json(_numbers(theorem, epochs))
    else:
        _print(theorem, epochs)


def _numbers(theorem: Theorem, epochs: bool) -> dict[str, object]:
    from dataclasses import asdict

    bounds = {name: _terms(bound) for name, bound in theorem.bounds().items()}
    rate, tuned = theorem.bound().rate, theorem.tuned()
    report: dict[str, object] = {
        "settings": asdict(theorem),
        "bounds": bounds,
        "vacuous": theorem.vacuous,
        "meaningful_from_rounds": theorem.meaningful_from(),
        "rate": {**asdict(rate), "total": rate.total},
        "tuned_rate": {**asdict(tuned), "total": tuned.total},
        "optimal_epsilon": theorem.optimal_epsilon,
        "optimal_epsilon_unclipped": theorem.unclipped_epsilon,
    }
    return {**report, "epochs": [asdict(epoch) for epoch in theorem.epochs()]} if epochs else report


def _terms(bound: RegretBound) -> dict[str, float]:
    terms = {term: getattr(bound, term) for term in _TERMS}
    return {**terms, "total": bound.total, "capped": bound.capped}


def _print(theorem: Theorem, epochs: bool) -> None:
    found, rate = theorem.bounds(), theorem.bound().rate
    sums = {name: _terms(bound) for name, bound in found.items()}
    rates = {
        "passive": rate.passive,
        "misspecification": rate.misspecification,
        "estimation": rate.estimation,
    }
    rates |= {"total": rate.total, "capped": min(rate.total, theorem.T)}
    labels = {**_TERMS, "total": "total", "capped": "at most T"}
    rows = [
        [label, *(number(terms[term]) for terms in sums.values()), number(rates.get(term, math.nan))]
        for term, label in labels.items()
    ]
    title = (
        f"Theorem 2: T = {theorem.T:,}, K = {theorem.K}, d = {theorem.comp:g}, b = {theorem.b:g}, "
        f"epsilon = {theorem.epsilon:.3g}, delta = {theorem.delta:g}"
    )
    print_table(title, ["regret from", "corrected", "as printed", "epoch by epoch", "constants 1"], rows)
    say(*theorem.sentences())
    if epochs:
        _print_epochs(theorem)


def _print_epochs(theorem: Theorem) -> None:
    rows = [
        [
            str(epoch.index),
            number(epoch.stop),
            number(epoch.gamma),
            number(epoch.unit_gamma),
            number(epoch.n_passive),
            number(epoch.slack),
            number(epoch.unit_slack),
        ]
        for epoch in theorem.epochs()
    ]
    columns = ["epoch", "until", "gamma", "unit gamma", "passive", "slack", "unit slack"]
    title = "Epochs: gamma of the policy, and slack of the constraint that is fitted after them"
    print_table(title, columns, rows, n_texts=0)
