"""What a worker does with a suite doesn't depend on where it runs: here a process will do."""

from collections.abc import Callable

import pytest

from grader.outcome import Outcome


@pytest.fixture(scope="session")
def run(process_run: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """Run toy suites in a worker that is a plain process."""
    return process_run
