"""Inspection of a student's source, done inside a sandbox since parsing alone can be attacked."""

import ast
import base64
import io
import tokenize
import warnings

from . import wire
from .recorder import Reporter

NEAR_MISS_CAP = 20
IMPORT_CAP = 200


def look_at(job: wire.Cell, reporter: Reporter) -> None:
    """Say of each file whether it can be read, what it imports and what is almost a test."""
    for path in job["targets"]:
        reporter.say("file", path=path)
        problem: tuple[str, str, int | None] | None = None
        imports: list[tuple[str, int]] = []
        near: list[tuple[str, int]] = []
        try:
            tree = _parse(base64.b64decode(job["files"][path]))
            imports, near = imported(tree), near_misses(tree)
        except UnicodeDecodeError as error:
            problem = ("encoding", f"byte {error.start} is not UTF-8", None)
        except LookupError as error:
            problem = ("encoding", str(error)[:200], None)
        except SyntaxError as error:
            problem = ("syntax", str(error.msg)[:200], error.lineno)
        except (ValueError, RecursionError, MemoryError) as error:
            problem = ("syntax", type(error).__name__, None)
        reporter.say("look", path=path, problem=problem, imports=imports, near_misses=near)
    reporter.say("end", exit=0)


def _parse(data: bytes) -> ast.Module:
    text = data.decode("utf-8-sig")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        raise LookupError(str(error)) from error
    if encoding not in ("utf-8", "utf-8-sig"):
        raise LookupError(f"the file declares the encoding {encoding}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def imported(tree: ast.Module) -> list[tuple[str, int]]:
    """Return each absolute name that a module imports, with its line.

    ``from a import b`` counts as ``a:b``, since only the course knows whether ``a.b`` is a
    module of its own.
    """
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found += [(f"{node.module}:{alias.name}", node.lineno) for alias in node.names]
    return sorted(set(found), key=lambda pair: pair[1])[:IMPORT_CAP]


def near_misses(tree: ast.Module) -> list[tuple[str, int]]:
    """Return functions and classes that pytest does not collect but that look like tests."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not node.name.startswith("test") and _nearly_test(node):
                found.append((node.name, node.lineno))
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("Test"):
            methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
            bases = {ast.unparse(base) for base in node.bases}
            if any(method.name.startswith("test") for method in methods) and not any(
                base.endswith("TestCase") for base in bases
            ):
                found.append((node.name, node.lineno))
    return found[:NEAR_MISS_CAP]


def _nearly_test(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    hints = ("check", "prop", "test", "Test", "tset", "tests", "_test", "should", "it_")
    decorated = any("given" in ast.unparse(decorator) for decorator in node.decorator_list)
    return decorated or node.name.startswith(hints) or node.name.endswith("_test")
