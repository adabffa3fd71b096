"""One pytest session under grader's own configuration, the same for every cell."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase

PROFILE = "grader"
CONFIGURATION = """\
[pytest]
markers =
    property(name): what the test checks, by the name that the kill matrix gives it
"""
# Shrinking and explaining find nothing that a verdict needs. A slow machine is no finding either.
PHASES = (Phase.explicit, Phase.generate, Phase.target)
SHRINKING = (*PHASES, Phase.shrink)
TOLERATED = (HealthCheck.too_slow,)


def load_profile(*, shrink: bool = False) -> None:
    """Make grader's settings Hypothesis' defaults.

    ``derandomize`` is refused by name: it would seed from the test's source, so that renaming
    a test changed its luck, and ``CI`` in the environment alone turns it on.
    """
    hypothesis.settings.register_profile(
        PROFILE,
        derandomize=False,
        deadline=None,
        database=None,
        phases=SHRINKING if shrink else PHASES,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=TOLERATED,
    )
    hypothesis.settings.load_profile(PROFILE)


def enforce(
    settings: hypothesis.settings, most_examples: int, *, shrink: bool
) -> hypothesis.settings:
    """Return a student's settings with grader's where they decide a verdict."""
    chosen = [phase for phase in PHASES if phase in settings.phases]
    return hypothesis.settings(
        settings,
        derandomize=False,
        deadline=None,
        database=None,
        phases=[*chosen, Phase.shrink] if shrink and chosen else chosen,
        print_blob=False,
        report_multiple_bugs=False,
        max_examples=min(settings.max_examples, most_examples),
        suppress_health_check={*settings.suppress_health_check, *TOLERATED},
    )


def run_pytest(root: Path, targets: Sequence[str], draw: int, plugins: Sequence[object]) -> int:
    """Run the files ``targets`` below ``root`` once and return pytest's exit code."""
    configuration = root / ".grader.ini"
    configuration.write_text(CONFIGURATION)
    arguments = [
        f"-c{configuration}",
        f"--rootdir={root}",
        f"--confcutdir={root}",
        "--import-mode=append",
        "--continue-on-collection-errors",
        "--capture=no",
        "--tb=no",
        "--quiet",
        "-pno:cacheprovider",
        "-phypothesispytest",
        f"--hypothesis-seed={draw}",
        "--",
        *(str(root / target) for target in targets),
    ]
    return int(pytest.main(arguments, plugins=list(plugins)))


@contextlib.contextmanager
def private_folders(root: Path) -> Iterator[None]:
    """Point everything that writes somewhere by default at a folder below ``root``."""
    places = {
        "HOME": root / "home",
        "TMPDIR": root / "tmp",
        "HYPOTHESIS_STORAGE_DIRECTORY": root / "tmp" / "hypothesis",
    }
    before = dict(os.environ)
    for variable, folder in places.items():
        folder.mkdir(parents=True, exist_ok=True)
        os.environ[variable] = str(folder)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
