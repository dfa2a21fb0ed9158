"""`gyrfalcon simulate`: independent replications of one learner in one environment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gyrfalcon.cli._output import counted, number, print_json, print_table, say, with_error
from gyrfalcon.cli._parsing import whole
from gyrfalcon.cli._progress import progress

if TYPE_CHECKING:
    from gyrfalcon.simulation.trace import Summary, Trace

DEFAULT = "AdaptiveFalcon"
EXAMPLES = """\
gyrfalcon simulate StepExample
gyrfalcon simulate EpsilonFalcon StepExample
gyrfalcon simulate LinUCB BumpEnvironment --set alpha=0.3
gyrfalcon simulate Falcon BumpEnvironment --environment-set radius=0.2
gyrfalcon simulate Greedy XorEnvironment --set model_class.basis.name=Splines
gyrfalcon simulate LinTS digits --rounds 5000 --out trace.parquet --epochs
gyrfalcon simulate LinUCB StepExample --replications 3 --keep-log decisions
"""


def simulate(
    learner: Annotated[
        str | None,
        typer.Argument(
            metavar="LEARNER",
            help=f"Name of a learner, as listed by `gyrfalcon learners`; without one, {DEFAULT}.",
            show_default=False,
        ),
    ] = None,
    environment: Annotated[
        str | None,
        typer.Argument(
            metavar="ENVIRONMENT",
            help="Name of an environment, or of a data set such as digits: a single name is this.",
            show_default=False,
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(parser=whole, metavar="N", help="Rounds per replication.")] = 10_000,
    replications: Annotated[
        int, typer.Option(parser=whole, metavar="R", help="Number of independent replications.")
    ] = 10,
    seed: Annotated[int, typer.Option(parser=whole, metavar="S", help="Random seed.")] = 0,
    learner_settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting of the learner; may be repeated.",
            show_default=False,
        ),
    ] = None,
    environment_settings: Annotated[
        list[str] | None,
        typer.Option(
            "--environment-set",
            metavar="KEY=VALUE",
            help="A setting of the environment; may be repeated.",
            show_default=False,
        ),
    ] = None,
    checkpoints: Annotated[
        str | None,
        typer.Option(
            metavar="ROUNDS",
            help="Rounds to record: how many, a list such as 100,1000, or every.",
            show_default="about 100, evenly spaced on a log scale",
            rich_help_panel="Output",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the trace, one row per replication and checkpoint, as .parquet, .csv or .json.",
            show_default=False,
            rich_help_panel="Output",
        ),
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Plot regret per round as .png, .svg or .pdf.",
            show_default=False,
            rich_help_panel="Output",
        ),
    ] = None,
    keep_log: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Log every decision, with its distribution and reward, and the policies that decided.",
            show_default=False,
            rich_help_panel="Output",
        ),
    ] = None,
    epochs: Annotated[
        bool,
        typer.Option(
            "--epochs", help="Show epochs and fits of the first replication.", rich_help_panel="Output"
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.", rich_help_panel="Output")] = False,
) -> None:
    """Simulate a learner in an environment, and print its regret.

    Regret is expected regret: what the best action would have earned on average, less what the chosen one
    earns on average. Standard errors are over replications. The same settings and seed give the same numbers.
    """
    from gyrfalcon.cli._traces import check_files, save_figure, save_trace

    check_files(out, figure)
    names = _names(learner, environment)
    chosen = _built(*names, learner_settings or [], environment_settings or [])
    trace = _played(*chosen, rounds, replications, seed, checkpoints, keep_log)
    files = {}
    if out is not None:
        save_trace(out, trace)
        files["trace"] = str(out)
    if figure is not None:
        save_figure(figure, trace, _title(*chosen))
        files["figure"] = str(figure)
    if keep_log is not None:
        files["log"] = str(keep_log)
    _report(_title(*chosen), trace, seed, files, epochs=epochs, as_json=as_json)


def _names(first: str | None, second: str | None) -> tuple[str, str]:
    """The learner and the environment; a single name is that of the environment."""
    if first is None:
        raise ValueError("there is no ENVIRONMENT; name one, as in `gyrfalcon simulate StepExample`.")
    return (DEFAULT, first) if second is None else (first, second)


def _built(
    learner: str, environment: str, settings: list[str], environment_settings: list[str]
) -> tuple[Any, Any]:
    from gyrfalcon.cli._parsing import completed, typed_settings
    from gyrfalcon.sweeps.build import build_environment, build_learner
    from gyrfalcon.sweeps.registry import environment_maker, learner_maker

    name, maker = learner_maker(learner, "LEARNER")
    given = completed(typed_settings(settings, "--set"), maker)
    environment, environment_maker = environment_maker(environment, "ENVIRONMENT")
    environment_given = completed(
        typed_settings(environment_settings, "--environment-set"), environment_maker
    )
    for option, chosen, names in (
        ("--set", name, given),
        ("--environment-set", environment, environment_given),
    ):
        if "name" in names:
            raise ValueError(f"{option} name={names['name']}: {chosen} has no such setting; name it instead.")
    return (
        build_learner({"name": name, **given}, "LEARNER"),
        build_environment({"name": environment, **environment_given}, "ENVIRONMENT"),
    )


def _played(
    learner: Any,
    environment: Any,
    rounds: int,
    replications: int,
    seed: int,
    checkpoints: str | None,
    keep_log: Path | None,
) -> Trace:
    from gyrfalcon.cli._traces import typed_checkpoints
    from gyrfalcon.simulation.replications import simulate as play

    looks = typed_checkpoints(checkpoints, rounds)
    with progress("Simulating", rounds * replications, "rounds") as tracker:
        return play(
            learner,
            environment,
            rounds,
            replications,
            seed,
            checkpoints=looks,
            keep_log=keep_log,
            on_rounds=tracker.advance,
        )


def _title(learner: Any, environment: Any) -> str:
    from gyrfalcon.sweeps.content_key import label_of

    return f"{label_of(learner)} in {label_of(environment)}"


def _report(
    title: str, trace: Trace, seed: int, files: dict[str, str], *, epochs: bool, as_json: bool
) -> None:
    from gyrfalcon.cli._traces import epoch_rows, summaries

    numbers = summaries(trace)
    if as_json:
        size = {"rounds": trace.n_rounds, "replications": trace.n_replications, "seed": seed}
        means = {name: _mean_and_error(summary) for name, summary in numbers.items()}
        played = {"epochs": epoch_rows(trace)} if epochs else {}
        print_json({"simulation": title, **size, **means, "files": files, **played})
        return
    rows = [[name.replace("_", " "), with_error(summary, _digits(name))] for name, summary in numbers.items()]
    print_table(
        f"{title}: {trace.n_rounds:,} rounds, {counted(trace.n_replications, 'replication')}, seed {seed}",
        ["", "mean (standard error)"],
        rows,
    )
    if epochs:
        _print_epochs(trace)
    for kind, path in files.items():
        typer.echo(f"{kind.capitalize()}: {path}")


def _mean_and_error(summary: Summary) -> dict[str, float]:
    return {"mean": summary.mean, "standard_error": summary.standard_error}


def _digits(name: str) -> int:
    return 1 if name == "cumulative_regret" else 4


def _print_epochs(trace: Trace) -> None:
    from gyrfalcon.cli._traces import epoch_notes, epoch_rows, last_details

    columns = ["epoch", "until", "active", "passive", "gamma", "slack", "excess", "multiplier"]
    rows = [[number(row[column]) for column in columns] for row in epoch_rows(trace)]
    print_table("Epochs of the first replication that contain a checkpoint, and their fits", columns, rows, 0)
    for text in epoch_notes(trace):
        typer.echo(f"Note: {text}")
    if details := last_details(trace):
        say("In the last of them:", *details)
