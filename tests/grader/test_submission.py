"""Freezing a submission: what is taken, what is left out and why, and what is too much."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader import submission
from grader.files.disk import OnDisk
from grader.problems import Unusable
from grader.submission import Submission, freeze


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A student's test folder with one test file."""
    top = tmp_path / "tests"
    top.mkdir()
    (top / "test_a.py").write_bytes(b"def test_a(): pass\n")
    return top


def reasons(folder: Path) -> dict[str, str]:
    """Return the reason for each file that was left out."""
    return {one.path: one.why for one in freeze(folder).left_out}


class TestTaking:
    """What belongs to a submission."""

    def test_python_files_are_taken_as_bytes_by_their_path(self, folder: Path) -> None:
        """Whatever the bytes are: nothing is decoded or parsed here."""
        (folder / "part").mkdir()
        (folder / "part" / "helper.py").write_bytes(b"\xff\r\n")
        assert freeze(folder).files == {
            "part/helper.py": b"\xff\r\n",
            "test_a.py": b"def test_a(): pass\n",
        }
        assert freeze(folder).left_out == ()

    def test_a_folder_without_files_is_an_empty_submission(self, tmp_path: Path) -> None:
        """The grade says so later, in its own words."""
        assert freeze(tmp_path) == Submission({})

    @pytest.mark.parametrize(
        "name",
        [
            "__pycache__/test_a.cpython-311.pyc",
            "__pycache__/test_b.py",
            ".pytest_cache/README.md",
            ".hypothesis/unicode_data/x.gz",
            ".git/hooks/pre-commit.py",
            ".idea/x.xml",
            ".ipynb_checkpoints/test_a-checkpoint.py",
            "__MACOSX/._test_a.py",
            ".DS_Store",
            "Thumbs.db",
            "test_a.pyc",
            "test_a.py~",
            ".test_a.py.swp",
        ],
    )
    def test_litter_is_ignored_without_a_word(self, folder: Path, name: str) -> None:
        """What tools leave behind is nobody's mistake."""
        before = freeze(folder)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")
        assert freeze(folder) == before

    def test_the_order_on_disk_does_not_matter(self, tmp_path: Path) -> None:
        """Two computers list the same folder differently."""
        names = ["b.py", "a.py", "c.py"]
        found = []
        for order in (names, names[::-1]):
            top = tmp_path / order[0]
            top.mkdir()
            for name in order:
                (top / name).write_bytes(name.encode())
            found.append(freeze(top))
        assert list(found[0].files) == list(found[1].files) == sorted(names)


class TestLeavingOut:
    """Everything else is left out with a reason, and hides nothing."""

    @pytest.mark.parametrize("name", ["notes.txt", "extension.so", "pytest.ini", "x.PY"])
    def test_what_is_no_python_file(self, folder: Path, name: str) -> None:
        """Configuration of pytest is grader's business."""
        (folder / name).write_bytes(b"")
        assert reasons(folder) == {name: "it is no Python file"}

    @pytest.mark.parametrize("name", ["data.json", "data.npz", "table.csv"])
    def test_what_holds_data(self, folder: Path, name: str) -> None:
        """The student is told what to do instead."""
        (folder / name).write_bytes(b"")
        assert reasons(folder) == {name: "it is no Python file: write its data into one"}
        assert set(freeze(folder).files) == {"test_a.py"}

    @pytest.mark.parametrize("target", ["test_a.py", "/etc/passwd", "..", "nowhere"])
    def test_links_are_not_followed(self, folder: Path, target: str) -> None:
        """Neither to files nor to folders, inside or outside."""
        (folder / "test_link.py").symlink_to(target)
        assert reasons(folder) == {"test_link.py": "it is a link"}

    def test_a_fifo_is_not_waited_for(self, folder: Path) -> None:
        """Nor is it opened."""
        os.mkfifo(folder / "test_fifo.py")
        assert reasons(folder) == {"test_fifo.py": "it is no regular file"}

    def test_a_socket_is_no_file(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whatever else may stand in a folder."""
        monkeypatch.chdir(folder)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("test_socket.py")
            assert reasons(folder) == {"test_socket.py": "it is no regular file"}

    @pytest.mark.parametrize(
        ("name", "shown"),
        [
            ("-c.py", "-c.py"),
            ("2.py", "2.py"),
            ("a b.py", "a b.py"),
            ("tést.py", "tést.py"),
            ("a\nb.py", "a\\nb.py"),
            ("a\x1b[2Jb.py", "a\\x1b[2Jb.py"),
            ("a\u202eb.py", "a\\u202eb.py"),
            ("a;rm.py", "a;rm.py"),
            ("a" * 101 + ".py", "a" * 101 + ".py"),
        ],
    )
    def test_odd_names_are_shown_safely(self, folder: Path, name: str, shown: str) -> None:
        """A name reaches terminals, command lines and JSON."""
        (folder / name).write_bytes(b"")
        assert reasons(folder) == {shown: "its name is unusual"}

    def test_a_name_that_is_no_text_is_shown_all_the_same(self, folder: Path) -> None:
        """Or a report could not be encoded."""
        (folder / os.fsdecode(b"test_\xff.py")).write_bytes(b"")
        (shown,) = reasons(folder)
        assert shown.encode() == b"test_\\udcff.py"

    def test_a_folder_with_an_odd_name_is_left_out_whole(self, folder: Path) -> None:
        """One line for all that is in it."""
        (folder / "my tests").mkdir()
        (folder / "my tests" / "test_b.py").write_bytes(b"")
        assert reasons(folder) == {"my tests": "its name is unusual"}

    def test_a_folder_named_like_a_test_file_is_a_folder(self, folder: Path) -> None:
        """It is never read as a file."""
        (folder / "test_x.py").mkdir()
        assert freeze(folder).left_out == ()

    def test_depth_has_a_limit(self, folder: Path) -> None:
        """A file at the limit is taken, one below it isn't."""
        deepest = folder.joinpath(*"abcdefgh")
        (deepest / "i").mkdir(parents=True)
        (deepest / "test_in.py").write_bytes(b"")
        (deepest / "i" / "test_out.py").write_bytes(b"")
        assert "a/b/c/d/e/f/g/h/test_in.py" in freeze(folder).files
        assert set(reasons(folder)) == {"a/b/c/d/e/f/g/h/i/test_out.py"}

    def test_the_length_of_a_path_has_a_limit(self, folder: Path) -> None:
        """Ids of tests begin with it."""
        far = folder / ("d" * 97) / ("e" * 97)
        far.mkdir(parents=True)
        (far / "a.py").write_bytes(b"")
        (far / "ab.py").write_bytes(b"")
        (taken,) = set(freeze(folder).files) - {"test_a.py"}
        assert len(taken) == 200
        assert [len(path) for path in reasons(folder)] == [201]

    def test_what_vanishes_or_is_swapped_meanwhile_is_left_out(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A folder may change while it is read."""
        listed = [OnDisk(folder, (name,), False) for name in ("gone.py", "link.py", "fifo.py")]
        (folder / "link.py").symlink_to("test_a.py")
        os.mkfifo(folder / "fifo.py")
        monkeypatch.setattr(OnDisk, "entries", lambda _: listed)
        assert reasons(folder) == {
            "gone.py": "it can't be read: No such file or directory",
            "link.py": "it can't be read: Too many levels of symbolic links",
            "fifo.py": "it can't be read: it is no regular file",
        }

    def test_a_folder_that_can_not_be_read_is_left_out(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Permissions are simulated, since tests may run as root."""
        locked, before = {"locked"}, os.open

        def refuse(path: str | Path, *arguments: int, dir_fd: int | None = None) -> int:
            if Path(path).name in locked:
                raise PermissionError(13, "Permission denied")
            return before(path, *arguments, dir_fd=dir_fd)

        (folder / "locked").mkdir()
        monkeypatch.setattr(os, "open", refuse)
        assert reasons(folder) == {"locked": "the folder can't be read"}
        locked.add(folder.name)
        with pytest.raises(Unusable, match="Permission denied"):
            freeze(folder)


class TestCaps:
    """What is too much is refused as a whole, so that nothing is graded by half."""

    def test_a_file_at_its_limit_is_read_and_one_byte_more_is_refused(self, folder: Path) -> None:
        """By name and limit."""
        path = folder / "test_a.py"
        path.write_bytes(b"#" * submission.MOST_BYTES_EACH)
        assert len(freeze(folder).files[path.name]) == submission.MOST_BYTES_EACH
        path.write_bytes(b"#" * (submission.MOST_BYTES_EACH + 1))
        with pytest.raises(Unusable, match=r"test_a\.py holds over 524288 bytes"):
            freeze(folder)

    def test_a_sparse_file_of_any_size_is_not_read_to_its_end(self, folder: Path) -> None:
        """It costs nothing on disk, and would cost memory here."""
        os.truncate(folder / "test_a.py", 1 << 40)
        with pytest.raises(Unusable, match="holds over"):
            freeze(folder)

    def test_all_files_together_have_a_limit(self, folder: Path) -> None:
        """Eight files of the largest size fit beside a small one's bytes, nine don't."""
        (folder / "test_a.py").write_bytes(b"")
        for number in range(8):
            (folder / f"big_{number}.py").write_bytes(b"#" * submission.MOST_BYTES_EACH)
        assert len(freeze(folder).files) == 9
        (folder / "test_a.py").write_bytes(b"#")
        with pytest.raises(Unusable, match="tests holds over 4194304 bytes"):
            freeze(folder)

    @pytest.mark.parametrize(
        ("suffix", "most"), [(".py", submission.MOST_FILES - 1), (".txt", submission.MOST_LEFT_OUT)]
    )
    def test_the_number_of_files_has_a_limit(self, folder: Path, suffix: str, most: int) -> None:
        """Those that are left out are counted too, since each is reported."""
        for number in range(most):
            (folder / f"f{number}{suffix}").touch()
        freeze(folder)
        (folder / f"one_more{suffix}").touch()
        with pytest.raises(Unusable, match="holds over"):
            freeze(folder)


class TestHash:
    """The hash that stands for a submission."""

    def test_it_is_known_for_one_submission(self) -> None:
        """Cached outcomes are found by it, across versions and machines."""
        known = "b302ce020563914a7e1e211a018f8b0449a6361a60b115af50fcd832a8bae8d2"
        assert Submission({"test_a.py": b"pass\n"}).sha256 == known

    def test_it_ignores_what_was_left_out(self, folder: Path) -> None:
        """It decides nothing."""
        before = freeze(folder).sha256
        (folder / "notes.txt").write_bytes(b"")
        assert freeze(folder).sha256 == before

    @given(
        st.dictionaries(st.text("ab:1"), st.binary(max_size=3), max_size=3),
        st.dictionaries(st.text("ab:1"), st.binary(max_size=3), max_size=3),
    )
    def test_it_is_equal_for_equal_files_only(
        self, one: dict[str, bytes], other: dict[str, bytes]
    ) -> None:
        """However paths and contents join up."""
        assert (Submission(one).sha256 == Submission(other).sha256) == (one == other)
