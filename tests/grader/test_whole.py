"""A file that is written whole or not at all."""

import errno
import os
import tempfile
from pathlib import Path

import pytest

from grader.whole import write_whole


def test_the_text_is_written_as_it_is(tmp_path: Path) -> None:
    """Line ends too."""
    write_whole(tmp_path / "a", "one\r\ntwo\nthree é")
    assert (tmp_path / "a").read_bytes() == "one\r\ntwo\nthree é".encode()


def test_what_fails_leaves_the_old_text_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it is that fails."""
    path = tmp_path / "a"
    path.write_text("old", encoding="utf-8")

    def full(descriptor: int) -> None:
        del descriptor
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("rights", [0o600, 0o644, 0o664])
def test_the_rights_of_a_file_stay(tmp_path: Path, rights: int) -> None:
    """Who could read it still can, and nobody else."""
    path = tmp_path / "a"
    path.touch()
    path.chmod(rights)
    write_whole(path, "new")
    assert path.stat().st_mode & 0o777 == rights


def test_a_new_file_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    """And not those of a temporary one."""
    (tmp_path / "plain").write_text("x", encoding="utf-8")
    write_whole(tmp_path / "a", "x")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """What it leads to is replaced."""
    (tmp_path / "a").write_text("old", encoding="utf-8")
    (tmp_path / "link").symlink_to("a")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("why", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_a_file_in_a_folder_that_takes_no_other_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: int
) -> None:
    """A grade is not lost for it; a file that isn't there can't be made."""

    def closed(**how: object) -> None:
        raise OSError(why, os.strerror(why), how["dir"])

    (tmp_path / "a").write_text("old", encoding="utf-8")
    monkeypatch.setattr(tempfile, "mkstemp", closed)
    write_whole(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text(encoding="utf-8") == "new"
    with pytest.raises(OSError, match=os.strerror(why)):
        write_whole(tmp_path / "b", "new")


def test_what_is_no_regular_file_is_written_to(tmp_path: Path) -> None:
    """Such as a pipe, or a terminal."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(path, "text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
