"""An owner is known again after its death, and never taken for another."""

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from grader.sandbox import owner

ASK = "from grader.sandbox import owner; print(owner.me())"


def _changed(text: str = "", **facts: object) -> str:
    return json.dumps(json.loads(text or owner.me()) | facts)


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


def test_a_process_that_nobody_waited_for_is_gone() -> None:
    """It does nothing more, though the kernel still lists it."""
    with subprocess.Popen([sys.executable, "-c", ASK], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        theirs = child.stdout.read()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE
        assert owner.gone(theirs)


def test_setting_the_clock_makes_no_owner_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a running grader's containers would be removed whenever the host's clock is set."""
    before = json.loads(owner.me())
    monkeypatch.setattr("psutil._pslinux.boot_time", lambda: 1.0)
    assert psutil.Process().create_time() < before["at"] - 3600
    assert json.loads(owner.me())["began"] == before["began"]
    assert not owner.gone(json.dumps(before))


def test_hosts_of_one_name_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machines of a test service often have the same, and share an engine."""
    here = json.loads(owner.me())["host"]
    monkeypatch.setattr("platform.node", lambda: "another")
    assert json.loads(owner.me())["host"] == here
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    assert boot in here


def test_one_that_is_hidden_from_us_is_not_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host may hide other users' processes, but not that they exist."""
    mine = owner.me()
    monkeypatch.setattr(owner, "_look", lambda process: Path("/proc/0/stat").read_text())
    assert not owner.gone(mine)
    assert owner.gone(_changed(mine, process=(1 << 22) - 1))
    assert owner.gone(_changed(mine, at=1.0))
