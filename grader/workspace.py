"""The student's repository: where things lie, what is built, and the files to start from."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .course import Assignment
from .messages import message
from .problems import PrerequisiteMissing, Unusable
from .submission import Submission, freeze

HEADING_BULLET = "- "


@dataclass(frozen=True)
class Workspace:
    """A student's repository."""

    root: Path

    @classmethod
    def at(cls, root: Path) -> "Workspace":
        """Return the repository at ``root``; raises `Unusable` if there is no such folder."""
        if not root.is_dir():
            raise Unusable(message("no-repository", path=root))
        return cls(root.resolve())

    def tests(self, assignment: Assignment, program: str) -> Submission:
        """Freeze the student's graded tests; raises `Unusable` if there is no folder for them."""
        folder = self.root / assignment.student_tests
        if not folder.is_dir():
            raise Unusable(
                message("no-test-folder", path=folder, assignment=assignment.id, program=program)
            )
        return freeze(folder)

    def implementation(self, assignment: Assignment) -> bytes | None:
        """Return the student's own module, or ``None`` if it is missing or the untouched stub."""
        path = self.root / assignment.student_module
        if not path.is_file() or path.is_symlink():
            return None
        content = path.read_bytes()
        return None if _is_stub(content, assignment) else content

    def require_implementation(self, assignment: Assignment, program: str) -> bytes:
        """Return the student's own module; raises `Unusable` that says what is missing."""
        content = self.implementation(assignment)
        if content is not None:
            return content
        path = self.root / assignment.student_module
        if path.exists():
            raise Unusable(message("stub-untouched", path=path, module=assignment.module))
        raise Unusable(message("no-module", path=path, program=program, assignment=assignment.id))

    def require_prerequisites(self, assignment: Assignment) -> None:
        """Raise `PrerequisiteMissing` that names the first module to build, if any is missing."""
        for needed in assignment.settings.needs:
            other = assignment.course.assignment(needed)
            if self.implementation(other) is None:
                raise PrerequisiteMissing(
                    message("needs", assignment=assignment.id, missing=needed)
                )

    def dependencies(self, assignment: Assignment) -> Mapping[str, bytes]:
        """Return the student's own modules that an assignment builds on, by path."""
        folder = self.root / "python"
        wanted = assignment.module.partition(".")[0]
        sources = freeze(folder / wanted).files if (folder / wanted).is_dir() else {}
        found = {f"{wanted}/{name}": content for name, content in sources.items()}
        found.pop(assignment.module_path, None)
        return found


def _is_stub(content: bytes, assignment: Assignment) -> bool:
    if not assignment.contract_path.is_file():
        return False
    return _normal(content.decode(errors="replace")) == _normal(stub(assignment))


def _normal(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


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
    starter = assignment.starter_path
    if starter.is_dir():
        folder = workspace.root / assignment.student_tests
        for path in sorted(starter.glob("*.py")):
            wanted[folder / path.name] = path.read_text(encoding="utf-8")
    written, kept = [], []
    for path, text in wanted.items():
        if path.exists():
            kept.append(path)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(path)
    _make_packages(workspace, assignment)
    return Started(tuple(written), tuple(kept))


def _make_packages(workspace: Workspace, assignment: Assignment) -> None:
    """Give the folders between the module and its root an ``__init__.py`` where one is missing."""
    top = workspace.root / assignment.student_module
    for _ in range(assignment.module.count(".")):
        top = top.parent
        package = top / "__init__.py"
        if not package.exists():
            package.write_text("", encoding="utf-8")


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
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            _raise_not_implemented(node)
    text = ast.unparse(tree)
    return text.replace("\ndef ", "\n\ndef ").replace("\nclass ", "\n\nclass ") + "\n"


def _raise_not_implemented(function: ast.FunctionDef) -> None:
    docstring = [function.body[0]] if ast.get_docstring(function) is not None else []
    body = ast.parse(f"raise NotImplementedError({function.name!r})").body
    function.body = [*docstring, *body]


def sections(contract: str) -> dict[str, list[str]]:
    """Return the lists in a contract's module docstring, by heading.

    A heading is a line of its own, followed at once by lines that begin with a dash.
    """
    found: dict[str, list[str]] = {}
    heading = ""
    for line in (ast.get_docstring(ast.parse(contract)) or "").splitlines():
        if line.startswith(HEADING_BULLET):
            found.setdefault(heading, []).append(line.removeprefix(HEADING_BULLET))
        elif line.strip():
            heading = line.strip()
    return {name: items for name, items in found.items() if name}
