"""`gyrfalcon audit`: the decisions of a log, computed again from their stored policies."""

from __future__ import annotations

from typing import Annotated

import typer

from gyrfalcon.cli._output import AsJson

EXAMPLES = """\
gyrfalcon audit decisions
gyrfalcon audit decisions --seed 7 --json
"""


def audit(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="Folder of Bandit(log=...) or simulate(keep_log=...).")
    ],
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="Seed of the bandit, if the log does not have it.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compute every decision of a log again, and say what differs.

    The probabilities of all actions are computed from the policy whose content hash a decision names, and
    the action is drawn again from seed and event id, or from the random streams of a simulation; both must
    agree bit for bit. Missing or altered policies, events decided twice, distributions that do not sum to 1
    and rewards out of range are named as well. The exit code is 1 if anything is wrong.
    """
    from gyrfalcon.bandit.audit import audit_decision_log

    report = audit_decision_log(folder, seed)
    typer.echo(report.to_json() if as_json else str(report))
    if not report.passed:
        raise typer.Exit(1)
