"""The student's repository: where things lie, what is built, and the files to start from."""

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from .course import Assignment, Course
from .files.archive import unpack
from .files.disk import Repository
from .files.entry import LITTER, MOST_BYTES_EACH, Entry, Source, too_large
from .messages import message
from .problems import PrerequisiteMissing, Unusable
from .submission import NAME, LeftOut, Submission, is_test_file, take
from .untrusted import visible

BULLET = "- "
MOST_STRAYS, MOST_FOLDERS = 5, 2000
BEFORE_DEFINITION = re.compile(r"\n\n+(?=@|def |async def |class )")


@dataclass(frozen=True)
class Workspace:
    """A student's repository, on disk or in an archive."""

    root: Path
    source: Source

    @classmethod
    def at(cls, root: Path) -> "Workspace":
        """Return the repository at ``root``: a folder, or an archive of one or of tests alone.

        Raises
        ------
        Unusable
            If there is neither, or the archive can't be unpacked.
        """
        if root.is_dir():
            return cls(root.resolve(), Repository(root.resolve()))
        if root.is_file():
            return cls(root.resolve(), unpack(root))
        raise Unusable(message("no-repository", path=root))

    def has_tests(self, assignment: Assignment) -> bool:
        """Return whether there is a folder for an assignment's tests."""
        return self._test_folder(assignment) is not None

    def tests(self, assignment: Assignment, program: str) -> Submission:
        """Freeze the student's graded tests; raises `Unusable` if there is no folder for them.

        Where none lies there, those that lie elsewhere are told of as left out.
        """
        path = self.root / assignment.student_tests
        folder = self._test_folder(assignment)
        if folder is None:
            strays = ", ".join(self._strays(assignment))
            elsewhere = f"; there are tests elsewhere: {strays}" if strays else ""
            for name, why in self.source.astray[:1]:
                elsewhere += f"; {visible(name)} was left out: {why}"
            facts = {"path": path, "assignment": assignment.id, "program": program}
            raise Unusable(message("no-test-folder", **facts, elsewhere=elsewhere))
        found = take(folder, path)
        left_out = [LeftOut(visible(name), why) for name, why in self.source.astray]
        if not any(is_test_file(path) for path in found.files):
            why = f"{assignment.id}'s tests belong in {assignment.student_tests}"
            left_out += [LeftOut(visible(path), why) for path in self._strays(assignment)]
        return replace(found, left_out=(*found.left_out, *left_out))

    def _test_folder(self, assignment: Assignment) -> Entry | None:
        folder = self.source.find(assignment.student_tests)
        if folder is not None and folder.is_folder:
            return folder
        bare = self.source.bare
        if bare is None or not any(map(_is_test, bare.entries())):
            return None
        mine, *others = (
            PurePosixPath(one.student_tests).name
            for one in (assignment, *assignment.course.assignments.values())
        )
        return None if bare.name != mine and bare.name in others else bare

    def _homes(self, course: Course) -> list[Entry | None]:
        """Return the folders that an assignment's tests belong in, and that can be reached."""
        homes: list[Entry | None] = []
        for assignment in course.assignments.values():
            with suppress(Unusable):
                homes.append(self.source.find(assignment.student_tests))
        return homes

    def _strays(self, assignment: Assignment) -> list[str]:
        """Return test files that lie where no assignment's tests belong, up to a few."""
        homes = self._homes(assignment.course)
        found: list[str] = []
        waiting: list[tuple[PurePosixPath, Entry]] = [(PurePosixPath(), self.source.top)]
        for _ in range(MOST_FOLDERS):
            if not waiting or len(found) >= MOST_STRAYS:
                break
            here, folder = waiting.pop()
            entries = _readable(folder)
            if folder in homes or any(entry.name == "pyvenv.cfg" for entry in entries):
                continue
            found += [str(here / entry.name) for entry in entries if _is_test(entry)]
            waiting += [(here / one.name, one) for one in reversed(entries) if one.is_folder]
        return found[:MOST_STRAYS]

    def implementation(self, assignment: Assignment) -> bytes | None:
        """Return the student's own module, or ``None`` if it is missing, blank or the mere stub."""
        entry = self.source.find(assignment.student_module)
        if entry is None or entry.is_folder:
            return None
        path = self.root / assignment.student_module
        try:
            content = entry.read()
        except OSError as problem:
            raise Unusable(message("unreadable", path=path, why=problem.strerror)) from None
        if len(content) > MOST_BYTES_EACH:
            raise too_large(path, f"{MOST_BYTES_EACH} bytes")
        return content if content.strip() and not _is_stub(content, assignment) else None

    def require_implementation(self, assignment: Assignment, program: str) -> bytes:
        """Return the student's own module; raises `Unusable` that says what is missing."""
        content = self.implementation(assignment)
        if content is not None:
            return content
        path = self.root / assignment.student_module
        found = self.source.find(assignment.student_module)
        if found is not None and not found.is_folder:
            raise Unusable(message("stub-untouched", path=path, module=assignment.module))
        raise Unusable(message("no-module", path=path, program=program, assignment=assignment.id))

    def require_prerequisites(self, assignment: Assignment) -> None:
        """Raise `PrerequisiteMissing` that names the first module to build, if any is missing.

        What the assignment names itself comes first, then what that needs in its turn.
        """
        course = assignment.course
        closure = course.closure(assignment.id)
        indirect = [name for name in course.assignments if name in closure]
        for needed in dict.fromkeys((*assignment.settings.needs, *indirect)):
            if self.implementation(course.assignment(needed)) is None:
                raise PrerequisiteMissing(
                    message("needs", assignment=assignment.id, missing=needed)
                )

    def dependencies(self, assignment: Assignment) -> Mapping[str, bytes]:
        """Return the student's own modules that an assignment builds on, by path."""
        package = assignment.module.partition(".")[0]
        path = f"{assignment.student_module.removesuffix(assignment.module_path)}{package}"
        folder = self.source.find(path)
        is_there = folder is not None and folder.is_folder
        sources = take(folder, self.root / path).files if folder and is_there else {}
        found = {f"{package}/{name}": content for name, content in sources.items()}
        for needed in assignment.course.closure(assignment.id):
            other = assignment.course.assignment(needed)
            if (content := self.implementation(other)) is not None:
                found[other.module_path] = content
        found.pop(assignment.module_path, None)
        return found


def _readable(folder: Entry) -> list[Entry]:
    """Return what a folder holds beside litter; nothing where it can't be read."""
    try:
        return [entry for entry in folder.entries() if not LITTER.fullmatch(entry.name)]
    except OSError:
        return []


def _is_test(entry: Entry) -> bool:
    is_python = entry.name.endswith(".py") and NAME.fullmatch(entry.name) is not None
    return is_python and not entry.is_folder and not entry.objection and is_test_file(entry.name)


def _is_stub(content: bytes, assignment: Assignment) -> bool:
    if not assignment.contract_path.is_file():
        return False
    return _lines(content.decode("utf-8-sig", errors="replace")) == _lines(stub(assignment))


def _lines(text: str) -> list[str]:
    """Return what editors leave alone: lines that aren't blank, without blanks at their end."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


@dataclass(frozen=True)
class Started:
    """What `start` wrote, and what was there already."""

    written: tuple[Path, ...]
    kept: tuple[Path, ...]


def start(workspace: Workspace, assignment: Assignment) -> Started:
    """Write the stub and a starter test; nothing that exists is touched.

    Raises
    ------
    Unusable
        If the assignment has no contract.
    """
    wanted = {workspace.root / assignment.student_module: stub(assignment)}
    folder = workspace.root / assignment.student_tests
    for path in sorted(assignment.starter_path.glob("*.py")):
        wanted[folder / path.name] = path.read_text(encoding="utf-8")
    written = [path for path, text in wanted.items() if _write_new(path, text)]
    kept = [path for path in wanted if path not in written]
    written += [path for path in _packages(workspace, assignment) if _write_new(path, "")]
    return Started(tuple(written), tuple(kept))


def _write_new(path: Path, text: str) -> bool:
    """Return whether ``path`` was written; it isn't if anything is there, be it a broken link."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise Unusable(message("unstartable", path=path, why=problem.strerror)) from None
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return False
    except OSError as problem:
        raise Unusable(message("unstartable", path=path, why=problem.strerror)) from None
    return True


def _packages(workspace: Workspace, assignment: Assignment) -> Iterator[Path]:
    """Yield the ``__init__.py`` of each package that the module lies in."""
    folder = (workspace.root / assignment.student_module).parent
    for package in reversed(assignment.module.split(".")[:-1]):
        if folder.name != package or folder == workspace.root:
            return
        yield folder / "__init__.py"
        folder = folder.parent


def stub(assignment: Assignment) -> str:
    """Return the module to fill in: the contract, with bodies that raise.

    Raises
    ------
    Unusable
        If the assignment has no contract.
    """
    path = assignment.contract_path
    if not path.is_file():
        raise Unusable(message("no-contract", assignment=assignment.id, path=path))
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    functions = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    # From the end, so that line numbers stay true.
    for function in sorted(functions, key=lambda node: node.lineno, reverse=True):
        _raise_not_implemented(function, lines)
    return BEFORE_DEFINITION.sub("\n\n\n", "\n".join(lines)) + "\n"


def _raise_not_implemented(
    function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]
) -> None:
    """Put an exception in place of a body's dots, or below its docstring."""
    last, indent = function.body[-1], " " * (function.col_offset + 4)
    start, end = last.lineno - 1, last.end_lineno or last.lineno
    line = lines[start].encode()
    before, after = line[: last.col_offset].decode(), line[last.col_offset :].decode()
    head = [before.rstrip()] if before.strip() else []
    body = [] if ast.unparse(last) == "..." else [indent + after, *lines[start + 1 : end]]
    lines[start:end] = [*head, *body, f'{indent}raise NotImplementedError("{function.name}")']


def sections(contract: str) -> dict[str, list[str]]:
    """Return the lists in a contract's module docstring, by heading.

    A heading is a line of its own, followed at once by lines that begin with a dash. A line
    that is indented goes on with the item above it.
    """
    found: dict[str, list[str]] = {}
    heading = ""
    for line in (ast.get_docstring(ast.parse(contract)) or "").splitlines():
        if line.startswith(BULLET):
            found.setdefault(heading, []).append(line.removeprefix(BULLET).strip())
        elif line.startswith(" ") and heading in found:
            found[heading][-1] += f" {line.strip()}"
        else:
            heading = line.strip()
    return {name: items for name, items in found.items() if name}
