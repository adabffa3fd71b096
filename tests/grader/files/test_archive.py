"""Archives of a repository or of tests: what comes out, and what is said of one that is broken."""

import gzip
import io
import tarfile
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.files.archive import Unpacked, unpack
from grader.problems import Unusable
from grader.submission import Submission, freeze, take

from .packing import pack

FILES = {
    "test_a.py": b"def test_a(): pass\n",
    "part/helper.py": b"\xff\r\n",
    "part/notes.txt": b"remember",
    ".git/hooks/pre-commit.py": b"",
    "__MACOSX/._test_a.py": b"",
}
KINDS = ["a.zip", "a.tar.gz", "a.tgz", "a.tar"]


def taken(path: Path) -> Submission:
    """Return what is taken from an archive of tests."""
    return take(unpack(path).top, path)


@pytest.mark.parametrize("name", KINDS)
def test_an_archive_is_taken_as_the_folder_that_was_packed(name: str, tmp_path: Path) -> None:
    """The same files, the same hash, and the same is left out, with the same reason."""
    for path, content in FILES.items():
        (tmp_path / "folder" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "folder" / path).write_bytes(content)
    on_disk, packed = freeze(tmp_path / "folder"), taken(pack(tmp_path / name, FILES))
    assert packed == on_disk
    assert list(packed.files) == list(on_disk.files) == ["part/helper.py", "test_a.py"]
    assert packed.sha256 == on_disk.sha256


@pytest.mark.parametrize("name", KINDS)
def test_the_order_and_the_form_of_names_do_not_matter(name: str, tmp_path: Path) -> None:
    """`tar -C folder .` begins each with a dot."""
    mixed = {f"./{path}": FILES[path] for path in reversed(FILES)}
    assert taken(pack(tmp_path / name, mixed)) == taken(pack(tmp_path / f"b{name}", FILES))


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("top", ["repo-main/", "one/two/three/", "Müller, Jo/"])
def test_what_is_packed_round_a_repository_is_looked_through(
    top: str, name: str, tmp_path: Path
) -> None:
    """As every zip tool and every forge wraps it; whatever the folder is called."""
    archive = unpack(pack(tmp_path / name, {"python/tests/t1/test_a.py": b"x"}, top))
    found = archive.find("python/tests/t1")
    assert found is not None
    assert take(found, tmp_path).files == {"test_a.py": b"x"}
    assert archive.find("python/tests/t2") is None
    assert "test_a.py" in archive.bare.inside


def test_only_python_files_are_read(tmp_path: Path) -> None:
    """The rest is known by name."""
    top = unpack(pack(tmp_path / "a.zip", FILES)).top
    assert [(one.name, one.content) for one in top.inside["part"].entries()] == [
        ("helper.py", b"\xff\r\n"),
        ("notes.txt", b""),
    ]


@pytest.mark.parametrize("long", ["d" * 90 + "/" + "e" * 95 + "/a.py", "n" * 97 + ".py"])
@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_long_names_are_read_in_each_form_of_tar(form: int, long: str, tmp_path: Path) -> None:
    """Of POSIX, of GNU, and split in two."""
    with tarfile.open(tmp_path / "a.tar", "w:", format=form) as archive:
        info = tarfile.TarInfo(long)
        info.size = 1
        archive.addfile(info, io.BytesIO(b"x"))
        archive.addfile(tarfile.TarInfo("short.py"))
    assert taken(tmp_path / "a.tar").files == {long: b"x", "short.py": b""}


def test_what_git_archive_says_of_all_members_is_passed_over(tmp_path: Path) -> None:
    """The commit, in a header of its own."""
    headers = {"comment": "0" * 40}
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz", pax_headers=headers) as archive:
        archive.addfile(tarfile.TarInfo("test_a.py"))
    assert set(taken(tmp_path / "a.tar.gz").files) == {"test_a.py"}


def test_what_follows_the_end_of_a_tar_archive_does_not_count(tmp_path: Path) -> None:
    """It is padded to a length of its own."""
    path = pack(tmp_path / "a.tar", FILES)
    expected = taken(path)
    with path.open("ab") as file:
        file.write(bytes(100_000))
    assert taken(path) == expected


@pytest.mark.parametrize("content", [b"", b"PK", b"\x7fELF", b"x" * 1000])
def test_what_is_no_archive_is_named(content: bytes, tmp_path: Path) -> None:
    """With what to make instead."""
    path = tmp_path / "a.zip"
    path.write_bytes(content)
    with pytest.raises(Unusable, match=r"a\.zip can't be unpacked: it is neither.*\.tar\.gz"):
        unpack(path)


@pytest.mark.parametrize("name", KINDS)
def test_no_archive_is_cut_short_without_a_word(name: str, tmp_path: Path) -> None:
    """Wherever the end is missing, nothing is graded by half."""
    path = pack(tmp_path / name, FILES)
    whole = path.read_bytes()
    end = whole.rstrip(b"\0") if name == "a.tar" else whole
    for length in range(1, len(end), 1 + len(end) // 50):
        path.write_bytes(whole[:length])
        with pytest.raises(Unusable):
            unpack(path)


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_no_content_is_taken_that_was_changed(name: str, tmp_path: Path) -> None:
    """Both formats carry a sum."""
    content = bytes(range(256)) * 8
    path = pack(tmp_path / name, {"test_a.py": content})
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(Unusable, match="damaged"):
        unpack(path)


@pytest.mark.parametrize("name", KINDS)
@given(st.data())
def test_a_spoiled_archive_is_read_or_refused(name: str, data: st.DataObject) -> None:
    """And nothing else ever happens."""
    with tempfile.TemporaryDirectory() as folder:
        path = pack(Path(folder) / name, FILES)
        spoiled = bytearray(path.read_bytes())
        places = st.integers(0, len(spoiled) - 1)
        for place in data.draw(st.lists(places, min_size=1, max_size=8)):
            spoiled[place] = data.draw(st.integers(0, 255))
        path.write_bytes(spoiled)
        try:
            found = unpack(path)
        except Unusable:
            return
        assert all(isinstance(name, str) for name in paths(found.top))


@given(st.binary(max_size=2000), st.sampled_from([b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b""]))
def test_noise_is_refused(noise: bytes, head: bytes) -> None:
    """Behind whatever beginning."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a"
        path.write_bytes(head + noise)
        with pytest.raises(Unusable):
            unpack(path)


def test_only_the_first_part_of_a_gzip_file_counts(tmp_path: Path) -> None:
    """What any tool packs is one."""
    path = pack(tmp_path / "a.tar.gz", FILES)
    expected = taken(path)
    with path.open("ab") as file:
        file.write(gzip.compress(b"more"))
    assert taken(path) == expected


def paths(folder: Unpacked, above: str = "") -> list[str]:
    """Return the paths of all that a folder holds."""
    found = []
    for entry in folder.entries():
        found += [above + entry.name, *paths(folder.inside[entry.name], f"{above}{entry.name}/")]
    return found
