"""Inspection of a student's source, done inside a sandbox since parsing alone can be attacked."""

import ast
import codecs
import io
import tokenize
import warnings
from collections.abc import Mapping

from .reporter import NAME_CAP, TEXT_CAP, Reporter

NEAR_MISS_CAP = 20
IMPORTS_A_LINE = 20
HINTS = ("check", "prop", "test", "Test", "tset", "_test", "should", "it_")
HELPERS = ("fixture", "composite")

Place = tuple[str, int]


def look_at(sources: Mapping[str, bytes], reporter: Reporter) -> None:
    """Say of each file whether it can be read, what it imports and what is almost a test.

    A long list of imports is said in several facts about the same file.
    """
    for path, data in sources.items():
        reporter.say("file", path=path)
        problem: tuple[str, str, int | None] | None = None
        imports: list[Place] = []
        near: list[Place] = []
        try:
            tree = _parse(data)
            imports, near = imported(tree), near_misses(tree)
        except UnicodeDecodeError as error:
            problem = ("encoding", f"byte {error.start} is not UTF-8", None)
        except LookupError as error:
            problem = ("encoding", str(error)[:TEXT_CAP], None)
        except SyntaxError as error:
            problem = ("syntax", str(error.msg)[:TEXT_CAP], error.lineno)
        except (ValueError, RecursionError, MemoryError) as error:
            problem = ("syntax", type(error).__name__, None)
        said, rest = imports[:IMPORTS_A_LINE], imports[IMPORTS_A_LINE:]
        reporter.say("look", path=path, problem=problem, imports=said, near_misses=near)
        while rest:
            said, rest = rest[:IMPORTS_A_LINE], rest[IMPORTS_A_LINE:]
            reporter.say("look", path=path, problem=None, imports=said, near_misses=())
    reporter.say("end", exit=0)


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
        return ast.parse(text)


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
        for name in (full[: 2 * NAME_CAP] for full in names):
            found[name] = min(node.lineno, found.get(name, node.lineno))
    return sorted(found.items(), key=lambda pair: (pair[1], pair[0]))


def near_misses(tree: ast.Module) -> list[Place]:
    """Return functions and classes that pytest does not collect but that look like tests.

    What the file itself uses, as a helper or a base class, is not among them.
    """
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    found = [
        (node.name[:NAME_CAP], node.lineno)
        for node in tree.body
        if (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _nearly_test(node))
        or (isinstance(node, ast.ClassDef) and _nearly_test_class(node))
        if node.name not in used
    ]
    return found[:NEAR_MISS_CAP]


def _nearly_test(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    if node.name.startswith("test") or any(
        word in decorator for decorator in decorators for word in HELPERS
    ):
        return False
    hinted = node.name.startswith(HINTS) or node.name.endswith("_test")
    return hinted or any("given" in decorator for decorator in decorators)


def _nearly_test_class(node: ast.ClassDef) -> bool:
    methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    if any(ast.unparse(base).endswith("TestCase") for base in node.bases):
        return False
    if not any(name.startswith("test") for name in methods):
        return False
    return not node.name.startswith("Test") or "__init__" in methods
