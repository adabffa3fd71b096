"""What in a source is good for recognising code by its form, or for watching it at work."""

import ast
from collections.abc import Iterator

from .names import full_name, imported_names

ATTRIBUTES = frozenset(
    {"__builtins__", "__closure__", "__code__", "__file__", "__globals__", "__loader__"}
    | {"__spec__", "__subclasses__", "__wrapped__", "ag_code", "co_code", "co_consts"}
    | {"co_filename", "co_linetable", "co_lnotab", "co_names", "co_varnames", "cr_code"}
    | {"f_back", "f_code", "f_globals", "f_locals", "func_code", "gi_code", "gi_frame"}
    | {"read_bytes", "read_text", "tb_frame"}
)
MODULES = frozenset(
    {"ctypes", "dis", "gc", "importlib", "inspect", "linecache", "marshal", "tracemalloc"}
)
NAMES = frozenset(
    {"__import__", "compile", "eval", "exec", "io.open", "numpy.lib.stride_tricks.as_strided"}
    | {"open", "os.environ", "os.getenv", "os.open", "sys._current_frames", "sys._getframe"}
    | {"sys.addaudithook", "sys.modules", "sys.monitoring", "sys.setprofile", "sys.settrace"}
    | {"threading.setprofile", "threading.settrace"}
)

Place = tuple[str, int]


def readings(tree: ast.Module) -> list[Place]:
    """Return what is read, each with the lines that read it, in the order of the lines."""
    imported = imported_names(tree)
    found = {
        (what, node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute | ast.Name | ast.Constant)
        for what in _read(node, full_name(node, imported))
    }
    return sorted(found, key=lambda place: (place[1], place[0]))


def _read(node: ast.Attribute | ast.Name | ast.Constant, name: str) -> Iterator[str]:
    match node:
        case ast.Attribute(attr=word) | ast.Name(id=word) | ast.Constant(value=str(word)):
            if word in ATTRIBUTES:
                yield word
    if name in NAMES:
        yield name
    top, *more = name.split(".")
    if top in MODULES and more:
        yield f"{top}.{more[0]}"
