"""What the comparison says in words: who pays how much, and whether the constraint makes the difference."""

from __future__ import annotations

from gyrfalcon.reports.numbers import decimal, with_error
from gyrfalcon_paper.exhibits.exhibit import Tables
from gyrfalcon_paper.tables import distinct, matching, only

OURS = "Epsilon-FALCON"
UNCONSTRAINED = "the same without the constraint"
SHARPER = "all data, a fifth of the slack"
GREEDIER = "and gamma three times as large"
VARIANTS = (OURS, UNCONSTRAINED, SHARPER, GREEDIER)
_FULL_NAMES = {
    UNCONSTRAINED: "Epsilon-FALCON without the constraint",
    SHARPER: "Epsilon-FALCON on all data with a fifth of the slack",
    GREEDIER: "the same with three times the gamma",
    "FALCON, last epoch": "FALCON on its last epoch",
    "FALCON, all data": "FALCON on all data",
}


def prose(tables: Tables) -> list[str]:
    """Everybody's regret in both environments, how the algorithms stand to each other, what numbers leave out."""
    size, environments = only(tables["size"]), distinct(tables["regret"], "environment")
    return [
        "The paper has no experiment with its own algorithm. Here it plays both of its examples beside "
        f"LinUCB, LinTS and SquareCB, which fit all their rows every {size['batch']} rounds, and FALCON, "
        "which fits its last epoch or all of them; all fit lines, all meet the same luck, in "
        f"{size['n_replications']:,} replications of {size['n_rounds']:,} rounds. Epsilon-FALCON is "
        "Algorithm 1 with constants from the noise, its default; two other settings leave the "
        "theorem further. In brackets are standard errors.",
        *(
            f"<b>{environment}.</b> {_account(tables, environment)} {_standing(tables, environment)}"
            for environment in environments
        ),
        " ".join(_constraint(tables, environment) for environment in environments),
        "Passive rounds come at the ends of epochs. Of the last fifth of the rounds "
        f"{size['late_passive']:.1%} are passive, against {size['epsilon']:.0%} over whole epochs: late "
        "regret of Epsilon-FALCON is to be read with that in mind.",
    ]


def _account(tables: Tables, environment: str) -> str:
    """Cumulative regret and late regret per round of every learner."""
    parts = []
    for learner in distinct(tables["regret"], "learner"):
        row = only(matching(tables["regret"], environment=environment, learner=learner))
        total = with_error(row["cumulative"], row["cumulative_standard_error"], 0)
        late = with_error(row["late"], row["late_standard_error"], 4)
        parts.append(f"{_name(learner)} {total}, {late}")
    return f"Regret in all, and per round over the last fifth: {'; '.join(parts)}."


def _standing(tables: Tables, environment: str) -> str:
    """How Epsilon-FALCON stands to the others, by differences on the same luck, and what it pays for."""
    others = [learner for learner in distinct(tables["regret"], "learner") if learner not in VARIANTS]
    rows = {
        learner: only(matching(tables["regret"], environment=environment, learner=learner))
        for learner in others
    }
    clear = {
        name: 0 if abs(row["above"]) <= 2 * row["above_standard_error"] else 1 if row["above"] > 0 else -1
        for name, row in rows.items()
    }
    said = [
        f"{much} than {_listed([name for name in others if clear[name] == sign])}"
        for sign, much in ((1, "less regret"), (-1, "more regret"))
        if sign in clear.values()
    ]
    if 0 in clear.values():
        alike = [name for name in others if clear[name] == 0]
        said.append(f"as much regret as {_listed(alike)}, within two standard errors")
    passive, own = (
        only(matching(tables["passive"], environment=environment)),
        only(matching(tables["regret"], environment=environment, learner=OURS)),
    )
    return (
        f"Epsilon-FALCON has {', and '.join(said)}. Its {passive['rounds']:,} passive rounds, at "
        f"{passive['regret_per_round']:.3f} each, are {passive['regret'] / own['cumulative']:.0%} of its "
        "regret."
    )


def _constraint(tables: Tables, environment: str) -> str:
    """Whether the constraint makes the difference, and whether it was really off."""
    off = only(matching(tables["regret"], environment=environment, learner=UNCONSTRAINED))
    on = only(matching(tables["regret"], environment=environment, learner=OURS))
    change, error = off["above"], off["above_standard_error"]
    verdict = (
        "the constraint is what helps there, not the passive rounds by themselves"
        if change > 2 * error
        else "the constraint costs more than it brings there"
        if change < -2 * error
        else "the constraint makes no difference there that could be seen"
    )
    return (
        f"In {environment}, with passive rounds but a slack so large that the multiplier was above 0 in "
        f"{off['binding']:,} of {off['fits']:,} fits, regret is {decimal(abs(change), 0)} "
        f"({decimal(error, 0)}) {'higher' if change > 0 else 'lower'} than with the constraint, whose "
        f"multiplier was above 0 in {on['binding']:,} of {on['fits']:,}: {verdict}."
    )


def _name(learner: str) -> str:
    return _FULL_NAMES.get(learner, learner)


def _listed(learners: list[str]) -> str:
    """Names with commas and an and.

    >>> _listed(["LinUCB", "LinTS", "SquareCB"])
    'LinUCB, LinTS and SquareCB'
    """
    *first, last = [_name(learner) for learner in learners]
    return f"{', '.join(first)} and {last}" if first else last


def caption(tables: Tables) -> str:
    """What the figure shows."""
    size = only(tables["size"])
    return (
        "<b>Epsilon-FALCON and others</b> on the paper's two examples: expected regret per round, the mean "
        f"of {size['n_replications']:,} replications over each doubling of the rounds, with bands of two "
        f"standard errors; at the right each learner's regret in all after {size['n_rounds']:,} rounds. Both "
        f"axes are logarithmic. Of the last stretch {size['last_passive']:.1%} is passive in Epsilon-FALCON, "
        f"against {size['epsilon']:.0%} of whole epochs."
    )
