"""Attacks by what is handed in: links, names, archives, and files that are hard to read."""

import io
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from grader.course import Assignment
from grader.files import disk
from grader.files.archive import unpack
from grader.grade import Grade, Options
from grader.grading import grade
from grader.problems import Unusable
from grader.submission import Submission, freeze, take
from grader.workspace import Workspace
from tests.grader.files.bombs import BOMBS, cost_of_reading
from tests.grader.files.packing import infos, special, tarred, zipped

from .case import EARNED, HONEST, HONEST_PATH
from .checks import told

SECRET = b"SECRET = 1\n"
MOST_SECONDS, MOST_MEMORY = 4.0, 64 << 20  # of a machine that is busy with other things too
TEST_FOLDER = "python/tests/t1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A student's test folder with one honest file, beside somebody else's secret."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "test_secret.py").write_bytes(SECRET)
    top = tmp_path / "tests"
    top.mkdir()
    (top / HONEST_PATH).write_text(HONEST)
    return top


@pytest.fixture(scope="module")
def grading(
    assignment: Assignment, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[Submission], Grade]]:
    """Return a function that grades a submission for real."""
    places = tmp_path_factory.mktemp("uploads")

    def graded(submission: Submission) -> Grade:
        options = Options(sandbox="process", jobs=1, run_dir=places / "runs", seed=7)
        return grade(assignment, submission, options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(places / "state"))
        yield graded


def reasons(submission: Submission) -> dict[str, str]:
    """Return why each file was left out."""
    return {one.path: one.why for one in submission.left_out}


def taken(path: Path) -> Submission:
    """Return what is taken from an archive of tests."""
    return take(unpack(path).top, path)


# --- U01: links ------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["U01"])
@pytest.mark.parametrize("target", ["../secret/test_secret.py", "../secret", "/etc/passwd", "."])
def test_a_link_in_a_folder_gives_nothing(number: str, target: str, folder: Path) -> None:
    """Neither to a file nor to a folder."""
    (folder / f"{number}.py").symlink_to(target)
    found = freeze(folder)
    assert set(found.files) == {HONEST_PATH}
    assert reasons(found) == {f"{number}.py": "it is a link"}


@pytest.mark.parametrize("number", ["U01"])
def test_a_hard_link_to_somebody_elses_file_gives_nothing(number: str, folder: Path) -> None:
    """What only shares its bytes with a file of the same owner is read: that saves space."""
    del number
    os.link(folder.parent / "secret" / "test_secret.py", folder / "test_link.py")
    status = (folder / "test_link.py").stat()
    assert status.st_nlink == 2
    assert disk.objection(status, status.st_uid + 1) == "it is a hard link to somebody else's file"
    assert disk.objection(status, status.st_uid) == ""


@pytest.mark.parametrize("number", ["U01"])
def test_a_folder_of_a_repository_that_is_a_link_leads_nowhere(
    number: str, folder: Path, assignment: Assignment, tmp_path: Path
) -> None:
    """It may be another student's."""
    root = tmp_path / number
    (root / "python" / "tests").mkdir(parents=True)
    (root / TEST_FOLDER).symlink_to(folder)
    with pytest.raises(Unusable, match="leads out of the repository"):
        Workspace.at(root).tests(assignment, "grade")


@pytest.mark.parametrize("number", ["U01", "U02"])
@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_a_link_in_a_tar_archive_gives_nothing(number: str, kind: bytes, tmp_path: Path) -> None:
    """Nor does what is packed to lie behind it."""
    members = [
        (special("test_link.py", kind, "/etc/passwd"), b""),
        (special("away", tarfile.SYMTYPE, "/tmp"), b""),  # noqa: S108 — nothing is written there
    ]
    found = taken(tarred(tmp_path / f"{number}.tar.gz", members))
    assert found.files == {}
    assert reasons(found) == {"test_link.py": "it is a link", "away": "it is a link"}
    behind = [*members, (tarfile.TarInfo("away/test_it.py"), b"x")]
    with pytest.raises(Unusable, match=r"holds away/test_it\.py twice"):
        taken(tarred(tmp_path / f"{number}.tar.gz", behind))


@pytest.mark.parametrize("number", ["U01"])
def test_a_link_in_a_zip_archive_gives_nothing(number: str, tmp_path: Path) -> None:
    """It is a regular file but for its mode."""
    info = zipfile.ZipInfo("test_link.py")
    info.create_system, info.external_attr = 3, 0o120777 << 16
    found = taken(zipped(tmp_path / f"{number}.zip", [(info, b"/etc/passwd")]))
    assert found.files == {}
    assert reasons(found) == {"test_link.py": "it is a link"}


# --- U02: names that lead elsewhere ----------------------------------------------------------


@pytest.mark.parametrize("number", ["U02"])
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../test_up.py", "its name leads out of the archive"),
        ("a/../../test_up.py", "its name leads out of the archive"),
        ("a/..", "its name leads out of the archive"),
        ("/etc/test_root.py", "its name begins at the root of a disk"),
        ("//host/share/test_x.py", "its name begins at the root of a disk"),
        ("C:/test_drive.py", "its name begins at the root of a disk"),
        ("C:test_drive.py", "its name begins at the root of a disk"),
        ("..\\test_up.py", "its name holds a backslash"),
        ("a\\test_b.py", "its name holds a backslash"),
    ],
)
def test_a_name_in_an_archive_leads_nowhere(
    number: str, name: str, why: str, tmp_path: Path, assignment: Assignment
) -> None:
    """It has no place, and is told of; what else there is, is taken."""
    members = [(name, SECRET), ("test_a.py", b"x")]
    archives = [
        zipped(tmp_path / f"{number}.zip", members),
        tarred(tmp_path / f"{number}.tar.gz", infos(members)),
    ]
    for archive in archives:
        found = Workspace.at(archive).tests(assignment, "grade")
        assert found.files == {"test_a.py": b"x"}
        assert reasons(found) == {name: why}
    assert {*archives} <= {*tmp_path.iterdir()}
    assert not list(tmp_path.rglob("test_*.py"))


@pytest.mark.parametrize("number", ["U02", "U05"])
def test_a_zero_byte_ends_no_name(number: str, tmp_path: Path, assignment: Assignment) -> None:
    """Neither in the middle of one nor at its beginning."""
    path = zipped(
        tmp_path / f"{number}.zip", [("test_a.py", b"x"), ("test_b.py?", b"x"), ("?", b"")]
    )
    path.write_bytes(path.read_bytes().replace(b"?", b"\0"))
    found = Workspace.at(path).tests(assignment, "grade")
    assert found.files == {"test_a.py": b"x"}
    why = "its name holds characters that can't be seen"
    assert reasons(found) == {"test_b.py\\x00": why, "\\x00": why}


# --- U03: bombs ------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["U03"])
@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb.__name__.strip("_"))
def test_a_bomb_costs_little_and_is_refused(
    number: str, bomb: Callable[[Path], None], tmp_path: Path
) -> None:
    """A few seconds, a few dozen megabytes, whatever its headers say."""
    path = tmp_path / number
    bomb(path)
    cost = cost_of_reading(path)
    assert cost["refused"]
    assert cost["seconds"] < MOST_SECONDS
    assert cost["memory"] < MOST_MEMORY


@pytest.mark.parametrize("number", ["U03"])
def test_an_archive_in_an_archive_is_never_opened(number: str, tmp_path: Path) -> None:
    """So that one that holds itself is as good as any other."""
    inner = zipped(tmp_path / f"{number}.zip", [("test_in.py", b"x")]).read_bytes()
    members = [("again.zip", inner), ("again.tar.gz", inner), ("test_a.py", b"x")]
    found = taken(zipped(tmp_path / f"{number}.zip", members))
    assert set(found.files) == {"test_a.py"}
    why = "it is no Python file: archives inside are not unpacked"
    assert reasons(found) == {"again.zip": why, "again.tar.gz": why}


# --- U04 to U07: names, numbers, kinds -------------------------------------------------------


@pytest.mark.parametrize("number", ["U04"])
@pytest.mark.parametrize(
    ("one", "other"),
    [("test_a.py", "Test_a.py"), ("part/x.py", "Part/x.py"), ("part/x.py", "PART/y.py")],
)
def test_names_that_are_one_on_some_computers_are_refused(
    number: str, one: str, other: str, tmp_path: Path
) -> None:
    """Of files and of folders, on a disk and in an archive: which is meant, nobody knows."""
    files = {one: b"1", other: b"2"}
    for path, content in files.items():
        (tmp_path / "tests" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests" / path).write_bytes(content)
    with pytest.raises(Unusable, match="are the same on some computers"):
        freeze(tmp_path / "tests")
    with pytest.raises(Unusable, match="are the same on some computers"):
        taken(zipped(tmp_path / f"{number}.zip", files.items()))


@pytest.mark.parametrize("number", ["U04"])
def test_a_letter_that_can_be_written_in_two_ways_is_in_no_name(
    number: str, tmp_path: Path
) -> None:
    """So that composed and decomposed names can't meet."""
    composed, decomposed = "test_\u00e9.py", "test_e\u0301.py"
    found = taken(zipped(tmp_path / f"{number}.zip", [(composed, b"1"), (decomposed, b"2")]))
    assert found.files == {}
    assert set(reasons(found).values()) == {"its name is unusual"}
    assert len(reasons(found)) == 2


@pytest.mark.parametrize("number", ["U04"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("pair", [("a.py", "a.py"), ("a.py", "./a.py"), ("a.py", "a.py/b.py")])
def test_an_archive_holds_a_name_once(number: str, pair: tuple[str, str], tmp_path: Path) -> None:
    """Or two readers of it see two submissions."""
    for packer in (zipped, lambda path, members: tarred(path, infos(members))):
        with pytest.raises(Unusable, match="twice"):
            taken(packer(tmp_path / number, [(name, b"x") for name in pair]))


@pytest.mark.parametrize("number", ["U05"])
@pytest.mark.parametrize(
    "name",
    [
        *("-c.py", "--help.py", "a b.py", "a;b.py", "$(id).py", "`id`.py", "a'b.py", 'a"b.py'),
        *("a\nb.py", "a\x1b[2Jb.py", "a\x85b.py", "a\u2028b.py", "a\u202eyp.b.py", "a\u200bb.py"),
        *("con:.py", "tést.py", "a\udcffb.py", "n" * 101 + ".py", "test_[a].py", "test_::x.py"),
    ],
)
def test_a_file_of_an_odd_name_is_left_out_and_shown_safely(
    number: str, name: str, folder: Path, tmp_path: Path, assignment: Assignment
) -> None:
    """On a disk and in an archive; what is shown can't move a cursor or turn letters round."""
    (folder / name).write_bytes(b"x")
    members = [(f"{TEST_FOLDER}/{one}", b"x") for one in (HONEST_PATH, name)]
    archive = tarred(tmp_path / f"{number}.tar.gz", infos(members))
    for found in (freeze(folder), Workspace.at(archive).tests(assignment, "grade")):
        [shown] = reasons(found)
        assert shown.isprintable()
        assert name not in found.files


@pytest.mark.parametrize("number", ["U06"])
def test_what_is_too_much_is_refused_as_a_whole(number: str, tmp_path: Path) -> None:
    """Count, size of one, size of all; depth leaves out."""
    large = b"#" * (512 << 10)
    for files in (
        {f"test_{n}.py": b"" for n in range(201)},
        {"test_a.py": large + b"#"},
        {f"test_{n}.py": large for n in range(9)},
        {f"note_{n}.txt": b"" for n in range(2001)},
    ):
        with pytest.raises(Unusable, match="holds over"):
            taken(zipped(tmp_path / f"{number}.zip", files.items()))
    deep = zipped(tmp_path / f"{number}.zip", [("a/" * 9 + "test_a.py", b"")])
    assert set(reasons(taken(deep)).values()) == {"it lies too deep, or its path is too long"}


@pytest.mark.parametrize("number", ["U07"])
@pytest.mark.parametrize(
    "kind", [tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, b"D", b"M", b"V"]
)
def test_what_is_no_regular_file_is_not_made(number: str, kind: bytes, tmp_path: Path) -> None:
    """Pipes, devices, and what only one tool knows."""
    members = [(special("test_it.py", kind), b""), (tarfile.TarInfo("test_a.py"), b"x")]
    found = taken(tarred(tmp_path / f"{number}.tar.gz", members))
    assert found.files == {"test_a.py": b"x"}
    assert reasons(found) == {"test_it.py": "it is no regular file"}


@pytest.mark.parametrize("number", ["U07"])
@pytest.mark.parametrize("mode", [0o010644, 0o020644, 0o060644, 0o140644])
def test_a_mode_makes_no_device(number: str, mode: int, tmp_path: Path) -> None:
    """In either format it may claim one."""
    info = zipfile.ZipInfo("test_it.py")
    info.create_system, info.external_attr = 3, mode << 16
    assert taken(zipped(tmp_path / f"{number}.zip", [(info, b"x")])).files == {}


@pytest.mark.parametrize("number", ["U08"])
@pytest.mark.parametrize("mode", [0o000, 0o4755, 0o1777])
def test_modes_say_nothing(number: str, mode: int, tmp_path: Path) -> None:
    """What is taken is bytes, which no mode makes unreadable, privileged or undeletable."""
    folder, file = special("part", tarfile.DIRTYPE), tarfile.TarInfo("part/test_a.py")
    folder.mode = file.mode = mode
    path = tarred(tmp_path / f"{number}.tar.gz", [(folder, b""), (file, b"x")])
    assert taken(path).files == {"part/test_a.py": b"x"}


# --- U10: forms of tar -----------------------------------------------------------------------


@pytest.mark.parametrize("number", ["U10"])
@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_an_extension_header_gives_no_way_out(
    number: str, form: int, tmp_path: Path, assignment: Assignment
) -> None:
    """The name that counts is the one that is judged."""
    name = "../" * 60 + "etc/test_it.py"
    with tarfile.open(tmp_path / number, "w:gz", format=form) as packed:
        packed.addfile(tarfile.TarInfo(name))
        packed.addfile(tarfile.TarInfo("test_a.py"))
    found = Workspace.at(tmp_path / number).tests(assignment, "grade")
    assert reasons(found) == {name: "its name leads out of the archive"}


@pytest.mark.parametrize("number", ["U10"])
@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ({"path": "test_b.py"}, {"test_b.py": b"x"}),
        ({"size": "0"}, "damaged"),
        ({"size": "-1"}, "damaged"),
        ({"size": "9" * 30}, "damaged"),
        ({"size": str(1 << 60)}, "too soon"),
        ({"GNU.sparse.major": "1", "GNU.sparse.realsize": str(1 << 60)}, {}),
        ({"linkpath": "/etc/passwd", "mtime": "x", "uid": "-1"}, {"test_a.py": b"x"}),
    ],
)
def test_an_extension_header_says_a_name_and_a_size_and_no_more(
    number: str, said: dict[str, str], outcome: dict[str, bytes] | str, tmp_path: Path
) -> None:
    """What can't be is damaged."""
    info = tarfile.TarInfo("test_a.py")
    info.size, info.pax_headers = 1, said
    with tarfile.open(tmp_path / number, "w:", format=tarfile.PAX_FORMAT) as packed:
        packed.addfile(info, io.BytesIO(b"x"))
    if isinstance(outcome, str):
        with pytest.raises(Unusable, match=outcome):
            taken(tmp_path / number)
    else:
        assert taken(tmp_path / number).files == outcome


@pytest.mark.parametrize("number", ["U10"])
def test_a_sparse_member_is_left_out(number: str, tmp_path: Path) -> None:
    """It costs nothing on disk, and would cost memory here."""
    info = special("test_a.py", tarfile.GNUTYPE_SPARSE)
    path = tarred(tmp_path / number, [(info, b""), (tarfile.TarInfo("test_b.py"), b"x")])
    found = taken(path)
    assert found.files == {"test_b.py": b"x"}
    assert reasons(found) == {"test_a.py": "it is a sparse file"}


@pytest.mark.parametrize("number", ["U03", "U10"])
@pytest.mark.parametrize("size", [0, 1, 1 << 20, 0xFFFFFFFF])
def test_a_size_that_a_zip_header_claims_is_not_believed(
    number: str, size: int, tmp_path: Path
) -> None:
    """It is damaged, or nothing but what is there comes out."""
    content = b"#" * 10_000
    path = zipped(tmp_path / number, [("test_a.py", content)])
    data = path.read_bytes()
    place = data.index(b"PK\x01\x02") + 24
    path.write_bytes(data[:place] + size.to_bytes(4, "little") + data[place + 4 :])
    if size < len(content):
        with pytest.raises(Unusable, match="one of its members is damaged"):
            taken(path)
    else:
        assert taken(path).files == {"test_a.py": content}


# --- U09, U13: what a folder may do meanwhile ------------------------------------------------


@pytest.mark.parametrize("number", ["U13"])
def test_a_folder_that_is_swapped_for_a_link_leads_nowhere(
    number: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the moment when it is looked at and the moment when a file in it is read."""
    (folder / "part").mkdir()
    (folder / "part" / "test_secret.py").write_bytes(b"mine")
    before = disk.OnDisk.read

    def swapping(entry: disk.OnDisk) -> bytes:
        if entry.parts == ("part", "test_secret.py"):
            (folder / "part").rename(folder.parent / number)
            (folder / "part").symlink_to(folder.parent / "secret")
        return before(entry)

    monkeypatch.setattr(disk.OnDisk, "read", swapping)
    found = freeze(folder)
    assert SECRET not in found.files.values()
    assert reasons(found) == {"part/test_secret.py": "it can't be read: Not a directory"}


@pytest.mark.parametrize("number", ["U13"])
def test_what_is_graded_is_what_was_hashed(number: str, folder: Path) -> None:
    """What becomes of the folder afterwards changes neither."""
    found = freeze(folder)
    before = found.sha256
    (folder / HONEST_PATH).write_text(number)
    assert found.files == {HONEST_PATH: HONEST.encode()}
    assert found.sha256 == before != freeze(folder).sha256


# --- U11, U12, U14, U15: contents ------------------------------------------------------------

REFUSED, SYNTAX = ("refused", "refused-encoding"), ("broken", "broken-syntax")
HARD_TO_READ: Mapping[str, tuple[bytes, set[tuple[str, str | None]]]] = {
    "U11-latin": (b"# caf\xe9\n", {REFUSED}),
    "U11-cookie": (b"# coding: latin-1\nx = '\xe9'\n", {REFUSED}),
    "U11-utf-7": (b"# -*- coding: utf-7 -*-\n+AGEAcwBzAGUAcgB0-\n", {REFUSED}),
    "U11-rot13": (b"# coding: rot13\nqrs grfg_vg(): nffreg Snyfr\n", {REFUSED}),
    "U11-utf-16": ("def test_it(): pass\n".encode("utf-16"), {REFUSED}),
    "U11-nul": (b"def test_it():\n    pass\n\0", {SYNTAX, REFUSED}),
    "U15-parentheses": (b"x = " + b"(" * 5000 + b")" * 5000, {SYNTAX, ("broken", "broken-unread")}),
    "U15-minus": (b"x = " + b"-" * 200_000 + b"1", {SYNTAX, ("broken", "broken-unread")}),
    "U15-attributes": (b"x = a" + b".b" * 200_000, {SYNTAX, ("broken", "broken-unread")}),
    "U15-sum": (b"x = " + b"1+" * 100_000 + b"1", {SYNTAX, ("broken", "broken-unread")}),
}


@pytest.fixture(scope="module")
def hard_to_read(grading: Callable[[Submission], Grade]) -> Grade:
    """Return the grade of an honest file among files that are hard to read."""
    files = {f"test_{name.replace('-', '_')}.py": text for name, (text, _) in HARD_TO_READ.items()}
    bom = {"test_bom.py": b"\xef\xbb\xbf" + HONEST.encode()}
    return grading(Submission({HONEST_PATH: HONEST.encode(), **files, **bom}))


@pytest.mark.parametrize("number", list(HARD_TO_READ))
def test_a_file_that_is_hard_to_read_costs_its_own_tests_alone(
    number: str, hard_to_read: Grade
) -> None:
    """Its source meets a parser in a sandbox, and nowhere else."""
    found = told(hard_to_read, f"test_{number.replace('-', '_')}.py")
    assert found, number
    assert found <= HARD_TO_READ[number][1]


@pytest.mark.parametrize("number", ["U11", "U15"])
def test_an_honest_file_among_them_is_graded_as_ever(number: str, hard_to_read: Grade) -> None:
    """And so is one with a byte order mark."""
    assert hard_to_read.graded, number
    assert told(hard_to_read, HONEST_PATH) == told(hard_to_read, "test_bom.py") == {("valid", None)}
    assert {one.mutant.id: one.result.value for one in hard_to_read.verdicts} == EARNED


@pytest.mark.parametrize("number", ["U12"])
def test_a_folder_named_as_a_test_file_is_a_folder(number: str, folder: Path) -> None:
    """It is never read as a file, and what it holds is found."""
    (folder / "test_x.py").mkdir()
    (folder / "test_x.py" / "test_y.py").write_text(number)
    assert set(freeze(folder).files) == {HONEST_PATH, "test_x.py/test_y.py"}


@pytest.mark.parametrize("number", ["U14"])
@pytest.mark.parametrize(
    "name",
    [
        *("test_a.ipynb", "test_a.pyx", "test_a.so", "test_a.pyd", "test_a.cpython-311.so"),
        *("evil.pth", "test_a.pyw", "test_a.PY", "a.whl", "pytest.ini", "pyproject.toml"),
        *("tox.ini", "setup.cfg", "sitecustomize", "entry_points.txt", "conftest.py.txt"),
    ],
)
def test_only_python_files_are_taken(number: str, name: str, tmp_path: Path) -> None:
    """Whatever else an import system or a test runner would load."""
    found = taken(zipped(tmp_path / f"{number}.zip", [(name, b"x"), ("test_a.py", b"x")]))
    assert set(found.files) == {"test_a.py"}
    assert reasons(found)[name].startswith("it is no Python file")


@pytest.mark.parametrize("number", ["U14"])
@pytest.mark.parametrize(
    "name", ["test_a.pyc", "__pycache__/test_a.cpython-311.pyc", "__pycache__/test_a.py", ".pth"]
)
def test_bytecode_is_dropped_without_a_word(number: str, name: str, tmp_path: Path) -> None:
    """Python leaves it behind, and would load it in place of the source."""
    found = taken(zipped(tmp_path / f"{number}.zip", [(name, b"x"), ("test_a.py", b"x")]))
    assert found == Submission({"test_a.py": b"x"})
