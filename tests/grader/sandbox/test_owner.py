"""An owner is known again after its death, and never taken for another."""

import json
import subprocess
import sys

import pytest

from grader.sandbox import owner

ASK = "from grader.sandbox import owner; print(owner.me())"


def _changed(**facts: object) -> str:
    return json.dumps(json.loads(owner.me()) | facts)


def test_a_process_that_runs_is_not_gone() -> None:
    """This one."""
    assert not owner.gone(owner.me())


def test_a_process_that_has_ended_is_gone() -> None:
    """Though its number may be another's by now."""
    done = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    assert owner.gone(done.stdout)
    assert owner.gone(_changed(began=1.0))


def test_of_another_host_only_what_is_old_is_gone() -> None:
    """Its processes can't be seen from here."""
    assert not owner.gone(_changed(host="elsewhere", process=1 << 22))
    assert owner.gone(_changed(host="elsewhere", at=1.0))


@pytest.mark.parametrize("text", ["", "1", "{}", "null", '{"host": 1}', "\ud800"])
def test_what_no_owner_wrote_is_left_alone(text: str) -> None:
    """It may be anybody's."""
    assert not owner.gone(text)
