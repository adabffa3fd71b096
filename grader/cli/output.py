"""What commands print: results on standard output, complaints on standard error."""

import io
import os
import sys

import click
from rich.console import Console, Group, RenderableType

from grader.messages import Message, message
from grader.report.terminal import plain

# A log isn't folded, so that a search finds whole sentences in it.
LOG_WIDTH = 10_000


def show(*parts: RenderableType) -> None:
    """Print a result: in colour and folded at a terminal, else a line a sentence."""
    screen = Console(highlight=False, markup=False, emoji=False)
    if screen.is_terminal:
        screen.print(*parts)
        return
    log = Console(file=io.StringIO(), width=LOG_WIDTH, highlight=False, markup=False, emoji=False)
    with log.capture() as text:
        log.print(Group(*parts))
    _write("\n".join(line.rstrip() for line in text.get().splitlines()))


def _write(text: str) -> None:
    try:
        click.echo(text)
    except BrokenPipeError:
        # Nobody reads on; the exit code still says what was found.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(program: str, text: str) -> None:
    """Print why a request can't be met."""
    click.echo(f"{program}: {plain(as_typed(text, program))}", err=True)


def as_typed(text: str, program: str) -> str:
    """Return ``text`` with the commands that it names as they would be typed here."""
    return text.replace("`grade ", f"`{program} ")


def fault(problem: Exception) -> Message:
    """Return what to say of an exception that nobody expected; raises it if that is asked for."""
    if os.environ.get("GRADER_TRACEBACK"):
        raise problem
    what = f"{type(problem).__name__}: {problem}"
    return message("machine" if isinstance(problem, OSError) else "internal", what=what)
