"""Fingerprints of functions: what they don't see, and what they do."""

import ast

import pytest

from grader.worker.fingerprint import WINDOW, fingerprints

PLAIN = """
def mirrored(x, lengths):
    y = x.copy()
    for b, n in enumerate(lengths):
        y[:n, b] = x[:n, b][::-1]
    return y
"""
ALIKE = {
    "other names": """
def other(array, sizes):
    result = array.copy()
    for column, size in enumerate(sizes):
        result[:size, column] = array[:size, column][::-1]
    return result
""",
    "docstring and comments": """
def mirrored(x, lengths):
    "Return x, mirrored."
    y = x.copy()  # not in place
    for b, n in enumerate(lengths):
        y[:n, b] = x[:n, b][::-1]
    return y
""",
    "annotations": """
def mirrored(x: Array, lengths: list[int]) -> Array:
    y: Array = x.copy()
    for b, n in enumerate(lengths):
        y[:n, b] = x[:n, b][::-1]
    return y
""",
    "decorators": f"@given(st.integers())\n{PLAIN.strip()}",
    "layout": PLAIN.replace("    y = x.copy()", "\n    y = (\n        x\n        .copy())"),
}
OTHER = {
    "another constant": PLAIN.replace("[::-1]", "[::-2]"),
    "another call": PLAIN.replace(".copy()", ".flat()"),
    "another builtin": PLAIN.replace("enumerate", "zip"),
    "another statement": PLAIN.replace("    return y", "    del x\n    return y"),
}


def hashes(source: str) -> tuple[int, ...]:
    """Return those of a file's only function."""
    [found] = fingerprints(ast.parse(source))
    return found.hashes


@pytest.mark.parametrize("source", ALIKE.values(), ids=ALIKE)
def test_what_a_copier_changes_first_is_not_seen(source: str) -> None:
    """Names, texts, annotations, decorators and layout say nothing of how it works."""
    assert hashes(source) == hashes(PLAIN)


@pytest.mark.parametrize("source", OTHER.values(), ids=OTHER)
def test_other_code_is_seen_and_the_rest_stays_alike(source: str) -> None:
    """One change touches the windows that hold it and no others."""
    changed, plain = set(hashes(source)), set(hashes(PLAIN))
    assert changed != plain
    assert len(changed & plain) > len(plain) // 2


def test_what_is_put_before_does_not_change_what_comes_after() -> None:
    """Variables are numbered within a window, not through a function."""
    longer = PLAIN.replace("    y = x", "    first, second = 1, 2\n    y = x")
    assert len(set(hashes(longer)) & set(hashes(PLAIN))) >= len(hashes(PLAIN)) - WINDOW


def test_an_import_has_one_name() -> None:
    """However the file calls it."""
    one = "from toy.mod import double\ndef f(n):\n    return [double(n) + 1, double(n + 1)]"
    two = "from toy.mod import double as d\ndef f(n):\n    return [d(n) + 1, d(n + 1)]"
    three = "from toy.mod import halve as d\ndef f(n):\n    return [d(n) + 1, d(n + 1)]"
    assert hashes(one) == hashes(two) != hashes(three)


def test_functions_are_named_as_pytest_names_them_with_their_line() -> None:
    """Those of classes and branches too; one inside another is a part of it."""
    source = """\
def outer():
    def inner(): pass
class Test:
    def test_a(self): pass
    class Test:
        async def test_b(self): pass
if True:
    def test_c(): pass
try:
    def test_d(): pass
except ImportError:
    def test_e(): pass
"""
    names = [(one.name, one.line) for one in fingerprints(ast.parse(source))]
    assert names == [
        *[("outer", 1), ("Test::test_a", 4), ("Test::Test::test_b", 6)],
        *[("test_c", 8), ("test_d", 10), ("test_e", 12)],
    ]


def test_hashes_ascend_and_a_short_function_has_none() -> None:
    """The smallest are the ones that a worker tells of, where there are many."""
    assert list(hashes(PLAIN)) == sorted(set(hashes(PLAIN)))
    assert hashes("def f(): return 1") == ()


def test_depth_and_length_are_bounded() -> None:
    """An expression of 100,000 terms is read without a stack, and only in part."""
    long = f"def f(x):\n    return {'+'.join(['x'] * 900)}\n"
    assert len(hashes(long)) > 0
    wide = f"def f(x):\n    return [{','.join(f'x[{n}]' for n in range(30_000))}]\n"
    assert len(hashes(wide)) < 20_000
