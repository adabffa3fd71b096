"""An owner is known again after its death, and never taken for another."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from grader.sandbox import owner

ASK = "from grader.sandbox import owner; print(owner.me())"


def test_a_process_that_runs_is_not_gone() -> None:
    """This one."""
    assert not owner.gone(str(owner.me()))


def test_a_process_that_has_ended_is_gone() -> None:
    """Though its number may be another's by now."""
    done = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    assert owner.gone(done.stdout.strip())
    assert owner.gone(str(owner.me()._replace(began=1)))


def test_of_another_host_only_what_is_old_is_gone() -> None:
    """Its processes can't be seen from here."""
    elsewhere = owner.me()._replace(host="0" * 12, process=1 << 22)
    assert not owner.gone(str(elsewhere))
    assert owner.gone(str(elsewhere._replace(at=1)))


@pytest.mark.parametrize(
    "text",
    ["", "1", "0-0-0-0", "x" * 12 + "-1-1-1", "0" * 12 + "-1-1-1-1", "\ud800", "0" * 12 + "-1-٣-1"],
)
def test_what_no_owner_wrote_is_left_alone(text: str) -> None:
    """It may be anybody's."""
    assert not owner.gone(text)


def test_a_process_that_nobody_waited_for_is_gone() -> None:
    """It does nothing more, though the kernel still lists it."""
    with subprocess.Popen([sys.executable, "-c", ASK], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        theirs = child.stdout.read().strip()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE
        assert owner.gone(theirs)


def test_setting_the_clock_makes_no_owner_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a running grader's containers would be removed whenever the host's clock is set."""
    before = owner.me()
    monkeypatch.setattr("psutil._pslinux.boot_time", lambda: 1.0)
    assert psutil.Process().create_time() < before.at - 3600
    assert owner.me().began == before.began
    assert not owner.gone(str(before))


def test_hosts_of_one_name_are_told_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Machines of a test service often have the same, and share an engine."""
    here = owner.me().host
    (tmp_path / "boot").write_text("another start, or machine\n", encoding="ascii")
    monkeypatch.setattr(owner, "BOOT", tmp_path / "boot")
    assert owner.me().host != here


def test_hosts_that_do_not_name_their_start_are_told_apart_by_their_hardware(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Some systems have no such name; two hosts may then be called the same."""
    monkeypatch.setattr(owner, "BOOT", tmp_path / "missing")
    here = owner.me().host
    assert owner.me().host == here
    monkeypatch.setattr("uuid.getnode", lambda: 1)
    assert owner.me().host != here


def test_one_that_is_hidden_from_us_is_not_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host may hide other users' processes, but not that they exist."""
    mine = owner.me()
    monkeypatch.setattr(owner, "_look", lambda process: Path("/proc/0/stat").read_text())
    assert not mine.is_gone
    assert mine._replace(process=(1 << 22) - 1).is_gone
    assert mine._replace(at=1).is_gone
