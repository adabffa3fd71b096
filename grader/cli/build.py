"""Commands about the machine: the worker's image, and what works here."""

import click
from rich.text import Text

from grader.doctor import examine
from grader.image import DEFAULT_BASE, build

from .exits import Exit
from .student import console


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
    out = console()
    name = build(base_image, lambda line: out.print(Text(line, "dim")))
    out.print(f"built {name}")
    return Exit.PASSED


@click.command("doctor")
def doctor() -> int:
    """Say what works on this machine, and how to mend the rest."""
    out = console()
    findings = examine()
    for finding in findings:
        mark = Text("ok      ", "green") if finding.good else Text("missing ", "red")
        out.print(Text.assemble(mark, f"{finding.subject}: {finding.text}"))
    return Exit.PASSED if any(f.good for f in findings if f.is_sandbox) else Exit.VOID


COMMANDS = (image, doctor)
