"""Help texts in plain text with groups of options: coloured help would double the time to start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from gyrfalcon.cli._errors import flushed_output, sentences


class Command(TyperCommand):
    """A command whose help has its options in groups, and examples that can be copied."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """A section for every group, in the order in which its first option stands."""
        groups: dict[str, list[Any]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                groups.setdefault(_group(param), []).append(record)
        for heading, records in groups.items():
            with formatter.section(typer.style(heading, bold=True)):
                formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """The epilog's lines as examples, one by one."""
        del ctx
        if self.epilog:
            with formatter.section(typer.style("Examples", bold=True)):
                for line in self.epilog.splitlines():
                    formatter.write(f"{'':{formatter.current_indent}}{line.strip()}\n")


CommandTable = Mapping[str, tuple[str, str]]
"""Names of commands, each with the module that has a function of this name, and a one-line summary."""


class OnDemand(Mapping[str, Any]):
    """Commands by name, each imported at its first use: the overview of all commands needs none of them."""

    def __init__(self, table: CommandTable) -> None:
        self._table = table
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _made(name, *self._table[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


class Commands(TyperGroup):
    """The group of all commands; errors of any command become sentences here."""

    commands_by_name: ClassVar[CommandTable] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        commands: Any = OnDemand(self.commands_by_name)
        self.commands = commands

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        with sentences(debug=bool(ctx.params.get("debug"))):
            return super().invoke(ctx)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line from the first argument to the last byte of output."""
        with flushed_output():
            return super().main(*args, **kwargs)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The commands first, each in one line, then the options that come before them."""
        with formatter.section(typer.style("Commands", bold=True)):
            formatter.write_dl([(name, summary) for name, (_, summary) in self.commands_by_name.items()])
        records = [param.get_help_record(ctx) for param in self.get_params(ctx)]
        with formatter.section(typer.style("Options", bold=True)):
            formatter.write_dl([record for record in records if record is not None])


def _made(name: str, module_name: str, summary: str) -> Any:
    module = import_module(module_name)
    # An application with a single command is that command.
    single = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    single.command(name, cls=Command, short_help=summary, epilog=module.EXAMPLES)(getattr(module, name))
    return typer.main.get_command(single)


def _group(param: Any) -> str:
    default = "Arguments" if param.param_type_name == "argument" else "Options"
    return getattr(param, "rich_help_panel", None) or default
