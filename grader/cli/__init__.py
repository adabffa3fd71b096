"""The command line: it parses, calls the library, prints, and maps the result to an exit code."""

import io
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from grader.messages import message
from grader.problems import Problem

from . import build, grading, instruct, student
from .exits import Exit, exit_of_problem
from .output import complain, fault, say


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="grader", message="%(version)s")
@click.pass_context
def grade(context: click.Context) -> int:
    """Grade property tests by mutation.

    Alone, inside a student's repository, it says what is built and what is next.
    """
    if context.invoked_subcommand is None:
        return int(context.invoke(student.status))
    return Exit.PASSED


for commands in (student.COMMANDS, grading.COMMANDS, instruct.COMMANDS, build.COMMANDS):
    for command in commands:
        grade.add_command(command)


def main(arguments: Sequence[str] | None = None, program: str | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    arguments
        What was typed after the program's name; by default the process' own.
    program
        The name that was typed, which messages repeat; by default the process' own.
    """
    program = program or Path(sys.argv[0]).name
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with _terminable():
            result = grade.main(arguments, program, standalone_mode=False)
    except click.ClickException as problem:
        text = io.StringIO()
        problem.show(text)
        say(text.getvalue())
        return Exit.UNUSABLE
    except (click.Abort, KeyboardInterrupt):
        complain(program, "interrupted")
        return Exit.INTERRUPTED
    except Problem as problem:
        complain(program, problem.message.text)
        return exit_of_problem(problem)
    except PermissionError as problem:
        complain(program, message("unreadable", path=problem.filename, why=problem.strerror).text)
        return Exit.UNUSABLE
    except Exception as problem:  # noqa: BLE001 — whatever it is, a person reads a sentence
        complain(program, fault(problem).text)
        return Exit.VOID
    return int(result or 0)


@contextmanager
def _terminable() -> Iterator[None]:
    """Let a request to end (SIGTERM) do what Ctrl-C does: end, and leave nothing behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
