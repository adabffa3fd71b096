"""What a source names that is good for recognising code by its form."""

import ast

import pytest

from grader.worker.readings import readings


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("f.__code__", ["__code__"]),
        ("f.__code__.co_code", ["__code__", "co_code"]),
        ("getattr(f, '__code__')", ["__code__"]),
        ("generator.gi_code", ["gi_code"]),
        ("f.__globals__", ["__globals__"]),
        ("f.__closure__", ["__closure__"]),
        ("f.__wrapped__", ["__wrapped__"]),
        ("mod.__file__", ["__file__"]),
        ("print(__file__)", ["__file__"]),
        ("import inspect\ninspect.getsource(f)", ["inspect.getsource"]),
        ("import inspect as i\ni.getsource(f)", ["inspect.getsource"]),
        ("from inspect import getsource as g\ng(f)", ["inspect.getsource"]),
        ("open('x')", ["open"]),
        ("import sys\nsys._getframe()", ["sys._getframe"]),
        ("import sys\nsys.settrace(None)", ["sys.settrace"]),
        ("import sys\nsys.modules['x']", ["sys.modules"]),
        ("import gc\ngc.get_objects()", ["gc.get_objects"]),
        ("import tracemalloc\ntracemalloc.start()", ["tracemalloc.start"]),
        ("import os\nos.environ['x']", ["os.environ"]),
        ("import os\nos.getenv('x')", ["os.getenv"]),
        ("import ctypes\nctypes.string_at(1)", ["ctypes.string_at"]),
        ("import marshal\nmarshal.dumps(1)", ["marshal.dumps"]),
        ("import dis\ndis.dis(f)", ["dis.dis"]),
        ("__import__('x')", ["__import__"]),
        ("import importlib\nimportlib.import_module('x')", ["importlib.import_module"]),
        ("exec('x')", ["exec"]),
        ("import pathlib\npathlib.Path('x').read_text()", ["read_text"]),
        ("import numpy as np\nnp.lib.stride_tricks.as_strided(x)",
         ["numpy.lib.stride_tricks.as_strided"]),
    ],
)  # fmt: skip
def test_what_reads_form_is_found(source: str, what: list[str]) -> None:
    """Attributes, calls, and names that stand in texts, whatever an import is called."""
    assert [name for name, _ in readings(ast.parse(source))] == what


@pytest.mark.parametrize(
    "source",
    [
        "import inspect",
        "class A:\n    def open(self): pass\nA().open()",
        "x = 'the __code__ of honour'",
        "import os\nos.sep",
        "f.__name__, f.__doc__",
        "code = gc = inspect = 3",
    ],
)
def test_what_only_sounds_like_it_is_not(source: str) -> None:
    """An import alone reads nothing, and neither does a method of that name."""
    assert readings(ast.parse(source)) == []


def test_each_line_is_told_once_in_order() -> None:
    """A line may name several things."""
    source = "f.__code__, g.__code__, open\nf.__code__\n"
    assert readings(ast.parse(source)) == [("__code__", 1), ("open", 1), ("__code__", 2)]
