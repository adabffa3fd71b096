"""Commands about the machine: the worker's image, and what works here."""

import click
from rich.text import Text

from grader.doctor import examine
from grader.image import DEFAULT_BASE, build
from grader.untrusted import terminal

from .exits import Exit
from .options import program
from .output import as_typed, show


@click.group("image")
def image() -> None:
    """The worker's image."""


@image.command("build")
@click.option(
    "--base-image",
    default=DEFAULT_BASE,
    show_default=True,
    help="Image with Python 3.11 to build on.",
)
def build_command(base_image: str) -> int:
    """Build the image that tests run in; its name follows from its content."""
    name = build(base_image, lambda line: show(Text(terminal(line), "dim")))
    show(f"built {name}")
    return Exit.PASSED


@click.command("doctor")
def doctor() -> int:
    """Say what works on this machine, and how to mend the rest."""
    findings = examine()
    for finding in findings:
        mark = Text("ok    ", "green") if finding.good else Text("mend  ", "red")
        text = as_typed(terminal(finding.text), program())
        show(Text.assemble(mark, f"{finding.subject}: {text}"))
    return Exit.PASSED if any(f.good for f in findings if f.is_sandbox) else Exit.VOID


COMMANDS = (image, doctor)
