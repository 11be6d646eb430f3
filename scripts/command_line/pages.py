"""Pages of help: the list of commands, and for each command its use, examples with their output, and options.

The examples of a command are in `examples/NAME.txt`: command lines after ``$ ``, each with its output, in which a line of
``...`` stands for lines that are left out. A test runs them.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from pencilmap.scripts.command_line.tables import echo, wrapped

WIDTH = 80
MOST_LINES = 60
EXAMPLES = Path(__file__).parent / "examples"


class Page(click.Command):
    """A command whose help has examples and its usual options; `--help-all` has all options.

    Parameters
    ----------
    usual : str
        Names of the options that most users need, such as ``"machine nodes fft"``.

    Notes
    -----
    If the page shows the usual options only, it shows the first line of the help of each; `--help-all` shows all lines.
    """

    def __init__(self, *given: Any, usual: str = "", **more: Any) -> None:
        super().__init__(*given, **more)
        self.usual = usual.split()

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        every = click.Option(["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all,
                             help="Show every option.")
        return [*super().get_params(ctx), every]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write(self, ctx, formatter, all_options=False)


def examples(name: str) -> str:
    """Return the examples of a command; "" if it has none."""
    path = EXAMPLES / f"{name}.txt"
    return path.read_text("utf-8") if path.exists() else ""


def _show_all(ctx, param, value):
    if value and not ctx.resilient_parsing:
        formatter = click.HelpFormatter(width=WIDTH)
        _write(ctx.command, ctx, formatter, all_options=True)
        echo(formatter.getvalue().rstrip("\n"))
        ctx.exit()


def _write(command, ctx, formatter, all_options):
    formatter.write(f"{_usage(command, ctx)}\n\n")
    _paragraphs(formatter, command.help or "")
    shown = "" if all_options else examples(_name(ctx))
    if shown:
        formatter.write("\n" + "".join(f"{line}\n" for text in shown.splitlines() for line in _example(text)))
    options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    usual = options if all_options or not command.usual else [
        next(p for p in options if p.name == name or f"--{name}" in p.opts) for name in command.usual]
    formatter.write("\nOptions:\n" + "".join(_option(p, ctx, usual is options) for p in usual))
    rest = len(options) - len(usual)
    more = [f"{rest} more options: {ctx.command_path} --help-all"] if rest else []
    topics = _topics(usual)
    more += [f"Values: pencilmap help {', '.join(topics)}"] if topics else []
    if more:
        formatter.write("\n" + "\n".join(part for line in more for part in _wrapped(line, WIDTH)) + "\n")


def _name(ctx):
    return ctx.command_path.removeprefix("pencilmap ").replace(" ", "-")


def _usage(command, ctx):
    words = [ctx.command_path, "[OPTIONS]", *(p.make_metavar(ctx) for p in command.params if isinstance(p, click.Argument))]
    return "Usage: " + " ".join(words)


def _paragraphs(formatter, text):
    parts = [" ".join(part.split()) for part in text.split("\n\n")]
    formatter.write("\n\n".join("\n".join(_wrapped(part, WIDTH)) for part in parts) + "\n")


def _wrapped(text, width, indent=""):
    return wrapped(f"{indent}{text}", width, indent)


def _example(line):
    """Return a line of output, or a command in lines that can be pasted."""
    if not line.startswith("$ "):
        return [line]
    first, *rest = wrapped(line, WIDTH - 2, "    ")
    return [f"{part} \\" for part in [first, *rest][:-1]] + [rest[-1] if rest else first]


def _option(option, ctx, is_whole):
    """Return the lines of an option: its names, then its meaning, on the same line if there is room.

    Without `is_whole`, the meaning is the first line of the help.
    """
    record = option.get_help_record(ctx)
    head, column = f"  {record[0] if record else ''}", 28
    default = option.get_default(ctx, call=False) if option.show_default else None
    first, *others = (option.help or "").split("\n")
    meaning = " ".join([first + ("" if default is None else f" [{default}]"), *(others if is_whole else [])])
    lines = _wrapped(meaning, WIDTH, " " * column)
    if len(head) < column - 1 and lines:
        return "\n".join([head.ljust(column) + lines[0][column:], *lines[1:]]) + "\n"
    return "\n".join([head, *lines]) + "\n"


def _topics(options: Iterable[click.Option]) -> list[str]:
    from pencilmap.scripts.command_line.topics import TOPIC_OF_OPTION

    return list(dict.fromkeys(TOPIC_OF_OPTION[p.name] for p in options if p.name in TOPIC_OF_OPTION))


def write_list(ctx: click.Context, formatter: click.HelpFormatter, groups: Mapping[str, Mapping[str, str]],
               ending: str) -> None:
    """Write the list of commands under their headings, each with its summary on one line."""
    formatter.write(f"Usage: {ctx.command_path} COMMAND [OPTIONS]\n\n")
    _paragraphs(formatter, ctx.command.help or "")
    width = max(len(name) for commands in groups.values() for name in commands) + 2
    for heading, commands in groups.items():
        formatter.write(f"\n{heading}:\n")
        formatter.write("".join(f"  {name:{width}}{summary}\n" for name, summary in commands.items()))
    if ending:
        formatter.write(f"\n{ending}\n")
