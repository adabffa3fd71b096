"""The command line: it parses, calls the library, prints, and maps the result to an exit code."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from grader.messages import message
from grader.problems import Problem

from . import build, instruct, student
from .exits import Exit, exit_of_problem

Command = click.Group


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


for commands in (student.COMMANDS, instruct.COMMANDS, build.COMMANDS):
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
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    program = program or Path(sys.argv[0]).name
    try:
        result = grade.main(arguments, program, standalone_mode=False)
    except click.ClickException as problem:
        problem.show()
        return Exit.UNUSABLE
    except (click.Abort, KeyboardInterrupt):
        errors.print("interrupted", markup=False)
        return Exit.INTERRUPTED
    except Problem as problem:
        errors.print(f"{program}: {problem.message.text}", markup=False)
        return exit_of_problem(problem)
    except Exception as problem:
        if os.environ.get("GRADER_TRACEBACK"):
            raise
        text = message("internal", what=f"{type(problem).__name__}: {problem}", program=program)
        errors.print(f"{program}: {text.text}", markup=False)
        return Exit.VOID
    return int(result or 0)
