"""Likeness to the course's own functions: copies are found, honest suites are not."""

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.course import Assignment, load_course
from grader.outcome import Fingerprint
from grader.resemblance import Model, Models, models
from grader.worker.fingerprint import MOST_HASHES, fingerprints

ROOT = Path(__file__).parents[2]
HONEST = [
    path
    for path in sorted(ROOT.glob("examples/*/python/tests/*/*.py"))
    if "syntax-error" not in path.parts
]
ASSIGNMENT: Assignment = load_course().assignment("L3.4")
COURSE: Models = models(ASSIGNMENT)
GOLD, TESTS = ASSIGNMENT.gold_path / "test_gold.py", ASSIGNMENT.tests_path / "test_bi.py"
REFERENCE = ASSIGNMENT.course.root / "reference" / ASSIGNMENT.module_path


def said(source: str) -> list[Fingerprint]:
    """Return what a worker would say of a file."""
    return [
        Fingerprint(path="test_mine.py", name=name, line=line, hashes=hashes[:MOST_HASHES])
        for name, line, hashes in fingerprints(ast.parse(source))
    ]


def alike(source: str) -> dict[str, str]:
    """Return a file's functions that are like one of the course's, with that one."""
    return {one.mine.name: one.model.place for one in COURSE.resemblances(said(source))}


class Renamed(ast.NodeTransformer):
    """Gives a file's own names others, as a student would who hides a copy."""

    def __init__(self, tree: ast.Module) -> None:
        self.own = {
            node.id if isinstance(node, ast.Name) else node.arg
            for node in ast.walk(tree)
            if isinstance(node, ast.arg)
            or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        }

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(f"my_{node.id}" if node.id in self.own else node.id, node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(f"my_{node.arg}", None)


class OtherNumbers(ast.NodeTransformer):
    """Changes every number."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return ast.Constant(node.value + 1)
        return node


def renamed(path: Path, *more: Callable[[], ast.NodeTransformer]) -> str:
    """Return a file with its own names changed, and what else is to be changed."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree = Renamed(tree).visit(tree)
    for change in more:
        tree = change().visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree))


def long_ones(path: Path) -> set[str]:
    """Return the names of functions that are long enough to be told apart."""
    text = path.read_text(encoding="utf-8")
    return {one.name for one in said(text) if len(set(one.hashes) - COURSE.given) >= 30}


@pytest.mark.parametrize("path", [GOLD, TESTS, REFERENCE], ids=["gold", "tests", "reference"])
def test_a_copy_is_found_whatever_its_variables_are_called(path: Path) -> None:
    """Of the gold suite, of the course's tests, and of the reference as an oracle."""
    found = alike(renamed(path))
    assert found.keys() == long_ones(path)
    assert {place.partition("::")[2] for place in found.values()} == found.keys()
    assert len(found) >= 3


def test_most_copies_are_found_with_every_number_changed() -> None:
    """Even 0 and 1, which is more than a copier can do and keep the tests right."""
    found = alike(renamed(GOLD, OtherNumbers))
    assert len(found) >= 0.7 * len(long_ones(GOLD))


@pytest.mark.parametrize("path", HONEST, ids=lambda path: f"{path.parts[-5]}/{path.name}")
def test_an_honest_function_is_like_none_of_the_courses(path: Path) -> None:
    """The same properties of the same module, written by another hand."""
    assert alike(path.read_text(encoding="utf-8")) == {}


def test_what_every_student_is_given_is_no_copy() -> None:
    """Neither as it stands, nor where the course's own suite began with the same lines."""
    starter = (ASSIGNMENT.starter_path / "test_bi.py").read_text(encoding="utf-8")
    assert alike(starter) == {}
    mine = said(starter)
    same = tuple(Model(f"x::{one.name}", frozenset(one.hashes)) for one in mine)
    assert list(Models(same).resemblances(mine))
    assert list(Models(same, COURSE.given).resemblances(mine)) == []


@pytest.mark.parametrize("lines", [20, 100, 200])
def test_a_copy_inside_a_longer_function_is_found(lines: int) -> None:
    """It is the share of the shorter one that counts, even where only a sample is told."""
    tree = ast.parse(REFERENCE.read_text(encoding="utf-8"))
    [whole] = [one for one in tree.body if getattr(one, "name", "") == "bidirectional"]
    oracle = "".join(f"    {line}\n" for line in ast.unparse(whole).splitlines())
    filler = "".join(f"    a{n} = x[{n}].sum() * y[{n}]\n" for n in range(lines))
    kept: list[ast.stmt] = [one for one in tree.body if not isinstance(one, ast.FunctionDef)]
    head = ast.unparse(ast.Module(kept, []))
    mine = f"{head}\ndef test_all(x):\n{filler}{oracle}    assert bidirectional(x)\n"
    found = [one for one in COURSE.resemblances(said(mine)) if one.mine.name == "test_all"]
    assert [one.model.place.partition("::")[2] for one in found] == ["bidirectional"]


def test_of_a_very_long_function_the_sample_is_compared_with_a_sample() -> None:
    """What a worker leaves out of the one is left out of the other too."""
    many = tuple(range(0, 4000, 2))
    mine = Fingerprint(path="p", name="f", line=1, hashes=many[:MOST_HASHES])
    model = Model("x::f", frozenset(many))
    [found] = Models((model,)).resemblances([mine])
    assert found.share == 1
    half = Model("x::g", frozenset(range(0, 4000, 4)) | frozenset(range(1, 4000, 4)))
    [found] = Models((half,)).resemblances([mine])
    assert found.share == pytest.approx(0.5, abs=0.01)


def test_the_likest_one_is_named() -> None:
    """Several of the course's functions may be alike themselves."""
    near = Model("x::near", frozenset(range(60)))
    same = Model("x::same", frozenset(range(100)))
    mine = Fingerprint(path="p", name="f", line=1, hashes=tuple(range(1, 101)))
    [found] = Models((near, same)).resemblances([mine])
    assert (found.model, found.share) == (same, 0.99)


def test_short_functions_are_not_compared() -> None:
    """There is one obvious way to write them."""
    model = Model("x::f", frozenset(range(29)))
    mine = Fingerprint(path="p", name="f", line=1, hashes=tuple(range(29)))
    assert list(Models((model,)).resemblances([mine])) == []
