"""`gyrfalcon learners`: the learners and environments, and their settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gyrfalcon.cli._output import AsJson, counted, print_json, print_table, say

if TYPE_CHECKING:
    from gyrfalcon.cli._describe import Description

EXAMPLES = """\
gyrfalcon learners
gyrfalcon learners EpsilonFalcon
gyrfalcon learners --environments
gyrfalcon learners XorEnvironment --json
"""


def learners(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="Name of a learner or an environment whose settings are shown.",
            show_default=False,
        ),
    ] = None,
    environments: Annotated[
        bool, typer.Option("--environments", help="List environments instead of learners.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the learners and environments, or the settings of one.

    Their names are what `gyrfalcon simulate` and sweep files take; capitals, spaces and hyphens in them do
    not matter. Settings are given as --set epsilon=0.1, and parts of them as --set model_class.ridge=1.
    """
    if name is not None:
        _show(_found(name), as_json=as_json)
    else:
        _list(_described(environments=environments), environments=environments, as_json=as_json)


def _described(*, environments: bool) -> list[Description]:
    from gyrfalcon.cli._describe import describe
    from gyrfalcon.sweeps.registry import ENVIRONMENTS, LEARNERS

    makers = ENVIRONMENTS if environments else LEARNERS
    return [describe(name, maker) for name, maker in makers.items()]


def _found(name: str) -> Description:
    from gyrfalcon.core.inputs.messages import suggestion
    from gyrfalcon.environments.data.named import dataset_names
    from gyrfalcon.sweeps.registry import plain_name

    known = {one.name: one for one in _described(environments=False) + _described(environments=True)}
    names = [*known, *dataset_names()]
    right = {plain_name(one): one for one in reversed(names)}.get(plain_name(name))
    if right is None:
        raise ValueError(f"there is no learner or environment called {name!r}; {suggestion(name, names)}")
    return known.get(right) or _data_set(right)


def _data_set(name: str) -> Description:
    """The settings of a named data set: those of `Classification` but for its rows."""
    from dataclasses import replace

    from gyrfalcon.cli._describe import describe
    from gyrfalcon.environments.data.classification import Classification

    description = describe(name, Classification)
    others = tuple(one for one in description.settings if one.name not in {"X", "y", "features"})
    return replace(description, settings=others)


def _list(known: list[Description], *, environments: bool, as_json: bool) -> None:
    from gyrfalcon.environments.data.named import dataset_names

    sets = dataset_names() if environments else ()
    kind = "environment" if environments else "learner"
    if as_json:
        lines = [{"name": one.name, "summary": one.summary} for one in known]
        print_json({f"{kind}s": lines, **({"data_sets": sets} if environments else {})})
        return
    print_table(f"{kind.capitalize()}s", [kind, "summary"], [[one.name, one.summary] for one in known], 2)
    if sets:
        some = [name for name in ("digits", "iris", "wine", "letter", "satimage") if name in sets]
        say(
            f"{counted(len(sets), 'data set')} can be played as well, among them {', '.join(some)}; "
            "with --json all are listed."
        )
    say(f"gyrfalcon learners NAME shows the settings of one, such as {known[0].name}.")


def _show(description: Description, *, as_json: bool) -> None:
    if as_json:
        from dataclasses import asdict

        print_json(asdict(description))
        return
    say(description.summary, *description.paragraphs)
    rows = [
        [setting.name, "required" if setting.default is None else setting.default, setting.meaning]
        for setting in description.settings
    ]
    print_table(f"Settings of {description.name}", ["setting", "default", "meaning"], rows, n_texts=3)
