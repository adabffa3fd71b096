"""Inspection of a student's source, done inside a sandbox since parsing alone can be attacked."""

import ast
import codecs
import io
import tokenize
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import TypeVar

from .fingerprint import MOST_HASHES, fingerprints
from .lint import Remark, remarks
from .readings import readings
from .reporter import NAME_CAP, TEXT_CAP, Reporter

NEAR_MISS_CAP, READING_CAP = 20, 40
ENTRIES_A_FACT = 10  # more would not fit into one line
MOST_FUNCTIONS = 300  # of all files together
OLDEST = (3, 11)  # what later versions of Python understand is refused everywhere alike
HINTS = ("check", "prop", "test", "Test", "TEST", "tset", "tets", "tes_", "_test", "should", "it_")
HELPERS = ("fixture", "composite", "rule(", "invariant(")

Place = tuple[str, int]
T = TypeVar("T")
Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Found:
    """What was found in a file's source."""

    imports: list[Place] = field(default_factory=list)
    near_misses: list[Place] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    readings: list[Place] = field(default_factory=list)


def look_at(sources: Mapping[str, bytes], reporter: Reporter) -> None:
    """Say of each file whether it can be read, what it imports, and what it does by habit.

    Long lists are said in several facts about the same file.
    """
    modules = {part.removesuffix(".py") for path in sources for part in PurePosixPath(path).parts}
    room = MOST_FUNCTIONS
    for path, data in sources.items():
        reporter.say("file", path=path)
        problem: tuple[str, str, int | None] | None = None
        tree, found = ast.Module([], []), Found()
        try:
            tree = _parse(data)
            found = _find(tree, modules, collected=_is_collected(path))
        except UnicodeDecodeError as error:
            problem = ("encoding", f"byte {error.start} is not UTF-8", None)
        except LookupError as error:
            problem = ("encoding", str(error)[:TEXT_CAP], None)
        except SyntaxError as error:
            problem = ("syntax", str(error.msg)[:TEXT_CAP], error.lineno)
        except (ValueError, RecursionError, MemoryError) as error:
            problem = ("syntax", type(error).__name__, None)
        _say(path, problem, found, reporter)
        room -= _say_fingerprints(path, tree, room, reporter)
    reporter.say("end", exit=0)


def _find(tree: ast.Module, modules: Collection[str], *, collected: bool) -> Found:
    return Found(
        imported(tree),
        near_misses(tree, collected=collected),
        [(rule, _cut(name), line) for rule, name, line in _lenient(remarks, tree, modules)],
        [(_cut(name), line) for name, line in _lenient(readings, tree)[:READING_CAP]],
    )


def _lenient(look: Callable[..., Iterable[T]], *of: object) -> list[T]:
    """Return what a look finds: nothing where a source is too odd, since no test depends on it."""
    try:
        return list(look(*of))
    except (ValueError, RecursionError, MemoryError):
        return []


def _say(
    path: str, problem: tuple[str, str, int | None] | None, found: Found, reporter: Reporter
) -> None:
    longest = max(len(found.imports), len(found.remarks), len(found.readings), 1)
    for start in range(0, longest, ENTRIES_A_FACT):
        part = slice(start, start + ENTRIES_A_FACT)
        reporter.say(
            "look",
            path=path,
            problem=None if start else problem,
            imports=found.imports[part],
            near_misses=() if start else found.near_misses,
            remarks=found.remarks[part],
            readings=found.readings[part],
        )


def _say_fingerprints(path: str, tree: ast.Module, most: int, reporter: Reporter) -> int:
    """Say the fingerprints of a file's functions, at most so many; returns how many it were."""
    found = _lenient(lambda: islice(fingerprints(tree), most))
    for name, line, hashes in found:
        facts = {"name": _cut(name), "line": line, "hashes": hashes[:MOST_HASHES]}
        reporter.say("fingerprint", path=path, **facts)
    return len(found)


def _cut(name: str, most: int = NAME_CAP) -> str:
    """Return a name that is short in bytes too."""
    return name.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def _parse(data: bytes) -> ast.Module:
    text = data.decode("utf-8-sig")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        raise LookupError(str(error)) from error
    if codecs.lookup(encoding).name not in ("utf-8", "utf-8-sig", "ascii"):
        raise LookupError(f"the file declares the encoding {encoding}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, feature_version=OLDEST)


def imported(tree: ast.Module) -> list[Place]:
    """Return each absolute name that a module imports, with the line that does so first.

    ``from a import b`` counts as ``a:b``, since only the course knows whether ``a.b`` is a
    module of its own.
    """
    found: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [f"{node.module}:{alias.name}" for alias in node.names]
        else:
            continue
        for name in (_cut(full, 2 * NAME_CAP) for full in names):
            found[name] = min(node.lineno, found.get(name, node.lineno))
    return sorted(found.items(), key=lambda pair: (pair[1], pair[0]))


def near_misses(tree: ast.Module, *, collected: bool = True) -> list[Place]:
    """Return functions and classes that pytest does not collect but that look like tests.

    What the file itself uses, as a helper or a base class, is not among them. Of a file that is
    not ``collected``, for its name, real tests are.
    """
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    found = [
        (_cut(f"{prefix}{node.name}"), node.lineno)
        for prefix, node in _definitions(tree)
        if node.name not in used
        if _nearly(node) or (not collected and _really(node))
    ]
    return found[:NEAR_MISS_CAP]


def _is_collected(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith("test_") or name.endswith("_test.py")


def _definitions(tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    """Yield functions and classes, and the methods of classes that pytest collects."""
    for node in tree.body:
        if isinstance(node, Definition):
            yield "", node
        if isinstance(node, ast.ClassDef) and _collects(node):
            yield from ((f"{node.name}.", part) for part in node.body if isinstance(part, Function))


def _nearly(node: Definition) -> bool:
    if isinstance(node, ast.ClassDef):
        return _has_tests(node) and not _collects(node)
    if node.name.startswith("test") or _is_helper(node):
        return False
    hinted = node.name.startswith(HINTS) or node.name.endswith("_test")
    return hinted or any("given" in ast.unparse(one) for one in node.decorator_list)


def _really(node: Definition) -> bool:
    """Return whether pytest finds a test in ``node``, in a file of the right name."""
    if isinstance(node, ast.ClassDef):
        return _collects(node) and _has_tests(node)
    return node.name.startswith("test") and not _is_helper(node)


def _is_helper(node: Function) -> bool:
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any(word in decorator for decorator in decorators for word in HELPERS)


def _collects(node: ast.ClassDef) -> bool:
    """Return whether pytest looks for tests in a class."""
    if any(ast.unparse(base).endswith("TestCase") for base in node.bases):
        return True
    made = any(isinstance(part, ast.FunctionDef) and part.name == "__init__" for part in node.body)
    return node.name.startswith("Test") and not made


def _has_tests(node: ast.ClassDef) -> bool:
    methods = [part for part in node.body if isinstance(part, Function)]
    return any(method.name.startswith("test") for method in methods)
