"""What tests of several parts share."""

import contextlib
import os

import hypothesis
import pytest

# A busy machine is no finding.
hypothesis.settings.register_profile(
    "tests", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("tests")


@pytest.fixture(scope="session")
def worker_image() -> str:
    """Return the worker's image, built on ``GRADER_BASE_IMAGE`` where the engine lacks it."""
    from docker.errors import ImageNotFound

    from grader.image import build, image_name
    from grader.sandbox.engine import engine

    with contextlib.closing(engine()) as client:
        try:
            client.inspect_image(image_name())
        except ImageNotFound:
            return build(os.environ.get("GRADER_BASE_IMAGE", "grader-base:bookworm"))
    return image_name()
