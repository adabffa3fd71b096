"""Help: every command and every option has some."""

import importlib.metadata
from collections.abc import Iterator

import click
import pytest

from grader.cli import grade
from tests.grader.cli.conftest import call


def _commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, command in group.commands.items():
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from _commands(command, (*path, name))


COMMANDS = list(_commands(grade))


def test_the_commands_are_those_that_the_readers_of_the_documents_expect() -> None:
    """By name."""
    expected = {"start", "tests", "mutate", "check", "doctor", "status"}
    groups = {"fixtures": {"regenerate", "verify"}, "image": {"build"}}
    groups["mutants"] = {"calibrate", "dominators", "generate", "list", "show", "triage"}
    groups["mutants"] |= {"twins", "verify"}
    assert {" ".join(command) for command in COMMANDS} == {
        *expected,
        *groups,
        *(f"{group} {name}" for group, names in groups.items() for name in names),
    }


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_and_option_has_help(command: tuple[str, ...]) -> None:
    """A sentence, and a line an option."""
    ran = call(*command, "--help", program="ol")
    assert ran.code == 0
    assert ran.out.startswith(f"Usage: ol {' '.join(command)} ")

    found: click.Command = grade
    for name in command:
        assert isinstance(found, click.Group)
        found = found.commands[name]
    assert found.help
    for parameter in found.params:
        if isinstance(parameter, click.Option):
            assert parameter.help
            assert max(parameter.opts, key=len) in ran.out


@pytest.mark.parametrize("command", ["mutate", "check"])
def test_a_grading_has_the_options_that_every_grading_has(command: str) -> None:
    """The same for both."""
    ran = call(command, "-h")
    for option in (
        *("--repo", "--course", "--sandbox", "--isolation", "--jobs", "--matrix", "--reveal"),
        *("--json", "--matrix-csv", "--no-cache", "--policy", "--seed", "--run-dir"),
    ):
        assert f"  {option} " in ran.out


def test_alone_help_lists_the_commands_without_the_hidden_one() -> None:
    """Which is what the program does alone."""
    ran = call("--help")
    listed = ran.out.partition("Commands:")[2]
    assert all(f"  {path[0]} " in listed for path in COMMANDS if path[0] != "status")
    assert "status" not in listed


def test_the_version_is_the_packages() -> None:
    """And nothing else is said."""
    assert call("--version").out == f"{importlib.metadata.version('grader')}\n"
