"""What commands print: results on standard output, complaints on standard error."""

import io
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import click
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment

from grader.messages import Message, message
from grader.untrusted import terminal, uncommanded, visible

# A log isn't folded, so that a search finds whole sentences in it.
LOG_WIDTH = 10_000


def show(*parts: RenderableType) -> None:
    """Print a result: in colour and folded at a terminal, else a line a sentence."""
    screen = Console(highlight=False, markup=False, emoji=False)
    if screen.is_terminal:
        screen.print(_Inert(parts))
        return
    log = Console(file=io.StringIO(), width=LOG_WIDTH, highlight=False, markup=False, emoji=False)
    with log.capture() as text:
        log.print(_Inert(parts))
    _write("\n".join(line.rstrip() for line in text.get().split("\n")).removesuffix("\n"))


@dataclass(frozen=True)
class _Inert:
    """Parts of a result as they are laid out, without a letter that a terminal would obey.

    What a student wrote was made visible by who put it into a sentence. This is the second look, at
    the finished lines: wherever they were folded, none is a command for who runs a job.
    """

    parts: Sequence[RenderableType]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in console.render_lines(Group(*self.parts), options, pad=False):
            begun = False
            for text, style, _ in line:
                shown = visible(text)
                yield Segment(shown if begun else uncommanded(shown), style)
                begun |= bool(text.strip())
            yield Segment.line()


def _write(text: str) -> None:
    try:
        click.echo(text)
    except BrokenPipeError:
        # Nobody reads on; the exit code still says what was found.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(program: str, text: str) -> None:
    """Print why a request can't be met."""
    click.echo(f"{program}: {terminal(as_typed(text, program))}", err=True)


def say(text: str) -> None:
    """Print lines on standard error that may repeat what was typed."""
    lines = (uncommanded(visible(line)) for line in text.rstrip("\n").split("\n"))
    click.echo("\n".join(lines), err=True)


def as_typed(text: str, program: str) -> str:
    """Return ``text`` with the commands that it names as they would be typed here."""
    return text.replace("`grade ", f"`{program} ")


def fault(problem: Exception) -> Message:
    """Return what to say of an exception that nobody expected; raises it if that is asked for."""
    if os.environ.get("GRADER_TRACEBACK"):
        raise problem
    what = f"{type(problem).__name__}: {problem}"
    return message("machine" if isinstance(problem, OSError) else "internal", what=what)
